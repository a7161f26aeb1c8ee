// Package serve holds the commands serve and health: they open or make the index that package server answers
// from, set the server's limits, and work with systemd.
package main

import "github.com/spf13/cobra"

// commandsOfserve returns the room's commands.
func commandsOfserve(g *globals) []*cobra.Command {
	return []*cobra.Command{newServe(g), newHealth(g)}
}
