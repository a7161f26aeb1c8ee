// Package query holds the commands that ask an index, or fingerprint files that have none: query
// for few fingerprints or documents, batch for millions.
//
//	query.go                    one after another, from arguments or standard input
//	batch.go                    a file of queries, or a part of one
//	answer.go                   batch against an index
//	scanned.go                  batch --scan: against fingerprint files, read once
//	alike.go                    --verify: compares the texts of hits
package query

import (
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
)

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newQuery(g), newBatch(g)}
}
