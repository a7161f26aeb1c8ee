// Package corpus holds the commands about documents and their fingerprints: fingerprint makes files
// of them, compare shows how two are alike, and eval measures how well they find labelled pairs.
//
//	documents -> fingerprint -> .ndf, of which build makes an index and dedup clusters
package corpus

import (
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
)

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newFingerprint(g), newCompare(g), newEval(g)}
}
