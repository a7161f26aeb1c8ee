// Package inspect holds the commands that look at indexes and files: check verifies every checksum,
// info summarises an index or a file.
package inspect

import (
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
)

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newCheck(g), newInfo(g),
		cli.FormerCommand("inspect", "'ndd info --sections' says what is in a file"),
		cli.FormerCommand("stats", "'ndd info' summarises, --sections and --plot say all")}
}
