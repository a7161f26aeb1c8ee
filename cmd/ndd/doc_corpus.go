// Package corpus holds the commands about documents and their fingerprints: fingerprint makes files of them,
// compare tells how two are alike, and eval how well they find labelled pairs.
//
//	documents -> fingerprint -> .ndf, of which build makes an index and dedup clusters
package main

import "github.com/spf13/cobra"

// commandsOfcorpus returns the room's commands.
func commandsOfcorpus(g *globals) []*cobra.Command {
	return []*cobra.Command{newFingerprint(g), newCompare(g), newEval(g)}
}
