// Package copies holds the command copies, which finds documents that share passages, and those of its index:
// copies build, merge and delete.
//
//	copies.go, flags.go   the search among inputs, and what it is asked for
//	index.go, change.go   an index: made, searched (--against), changed
//	table.go              pairs as a table
//	explain.go, page.go   --explain: two documents, and what they share, as a page
package copies

import (
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
)

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newCopies(g)}
}
