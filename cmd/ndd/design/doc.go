// Package design holds the commands that answer how large and how fast an index will be: design compares the
// tables for n fingerprints, plan-cluster the machines for more of them than one can hold. Flags and Choice are
// the flags by which design and build choose tables, so that both give the same answer to the same question.
package design

import (
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
)

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newDesign(g), newPlanCluster(g)}
}
