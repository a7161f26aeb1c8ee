// Package inspect holds the commands that look at files and say what is in them: check verifies every checksum,
// inspect tells sections and sizes, stats how the fingerprints are distributed.
package inspect

import (
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
)

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newCheck(g), newInspect(g), newStats(g)}
}
