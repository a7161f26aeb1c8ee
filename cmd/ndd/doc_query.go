// Package query holds the commands that ask an index, or fingerprint files that have none: query for few
// fingerprints or documents, batch for millions.
//
//	query.go                    one after another, from arguments or standard input
//	batch.go, shard.go          a file of queries, and a part of one with a record of its success
//	answer.go                   batch against an index
//	scanned.go, scannedtwo.go   batch --scan: against fingerprint files, read once
//	alike.go                    --verify: the texts of what was found are compared
package main

import "github.com/spf13/cobra"

// commandsOfquery returns the room's commands.
func commandsOfquery(g *globals) []*cobra.Command {
	return []*cobra.Command{newQuery(g), newBatch(g)}
}
