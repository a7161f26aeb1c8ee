// Package design holds the commands that answer how large and how fast an index will be: design compares the
// tables for n fingerprints, plan-cluster the machines for more of them than one can hold. Flags and Choice are
// the flags by which design and build choose tables, so that both give the same answer to the same question.
package main

import "github.com/spf13/cobra"

// commandsOfdesign returns the room's commands.
func commandsOfdesign(g *globals) []*cobra.Command {
	return []*cobra.Command{newDesign(g), newPlanCluster(g)}
}
