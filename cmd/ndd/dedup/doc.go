// Package dedup holds the command dedup: which documents of a corpus are near-duplicates, of each
// other or of another corpus, and which of them to keep.
//
//	dedup.go, flags.go               the command and its flags
//	filter.go                        --write-kept -: a filter between pipes
//	clusters.go                      clusters for people
//	decided.go                       the command filter: copies by a table of decisions
//	folders.go                       -o: the folder of tables (tables.go, kept.go) and the report (report.go)
package dedup

import (
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
)

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newDedup(g), newShingles(g), newFilter(g)}
}
