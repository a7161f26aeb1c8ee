// Package dedup holds the command dedup: which documents of a corpus are near-duplicates, of each
// other or of another corpus, and which of them to keep.
//
//	dedup.go, flags.go               the command and its flags
//	against.go, sources.go           --against; sources and their rights
//	folders.go, tables.go, report.go the output folders, their tables and the report
//	clusters.go, summary.go          clusters for people; what is said in the end
//	filter.go                        --write-kept -: a filter between pipes
//	decided.go                       the command filter: copies by a table of decisions
//	shingles.go                      the command shingles: texts that a join in parts compares
package dedup

import (
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
)

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newDedup(g), newShingles(g), newFilter(g)}
}
