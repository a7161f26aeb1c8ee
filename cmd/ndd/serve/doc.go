// Package serve holds the commands serve and health: they open or make the index that package server answers
// from, set the server's limits, and work with systemd.
package serve

import (
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
)

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newServe(g), newHealth(g)}
}
