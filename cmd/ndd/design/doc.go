// Package design holds the command design, which compares the tables of an index for n fingerprints
// by size and speed. Flags and Choice are the flags by which design and build choose tables, so
// that both give the same answer to the same question.
package design

import (
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
)

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newDesign(g)}
}
