// Package copies holds the command copies, which finds documents that share passages, and those of its index:
// copies build, merge and delete.
//
//	copies.go, copies_flags.go           the search among inputs, and what it is asked for
//	copies_index.go, copies_change.go    an index: made, searched (--against), changed
//	copies_table.go                      pairs as a table
//	explain.go, copies_page.go           --explain: two documents, and what they share, as a page
package main

import "github.com/spf13/cobra"

// commandsOfcopies returns the room's commands.
func commandsOfcopies(g *globals) []*cobra.Command {
	return []*cobra.Command{newCopies(g)}
}
