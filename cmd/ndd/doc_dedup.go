// Package dedup holds the command dedup: which documents of a corpus are near-duplicates, of each other or of
// another corpus, and which of them to keep.
//
//	dedup.go, dedup_flags.go, quality.go   what is asked for
//	clusters.go                            clusters for people, and as JSON
//	folders.go                             -o: the folder of tables (clustertables.go, kept.go) and the report (report.go)
package main

import "github.com/spf13/cobra"

// commandsOfdedup returns the room's commands.
func commandsOfdedup(g *globals) []*cobra.Command {
	return []*cobra.Command{newDedup(g)}
}
