// Package index holds the commands that make and keep an index: build makes one of fingerprint files or adds to
// it, merge makes one segment of it, backup copies it while it is in use, export writes its documents for other
// programs and other indexes. It has the flags of every command that opens an index: how it is verified and loaded
// (OpenFlags), where its tables lie (SpreadFlags), and what becomes of documents that are added (TTL,
// --on-conflict).
package index

import (
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
)

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newBuild(g), newMerge(g), newBackup(g), newExport(g)}
}
