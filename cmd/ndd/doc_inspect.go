// Package inspect holds the commands that look at files and say what is in them: check verifies every checksum,
// inspect tells sections and sizes, stats how the fingerprints are distributed.
package main

import "github.com/spf13/cobra"

// commandsOfinspect returns the room's commands.
func commandsOfinspect(g *globals) []*cobra.Command {
	return []*cobra.Command{newCheck(g), newInspect(g), newStats(g)}
}
