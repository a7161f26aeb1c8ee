package index

import (
	"context"
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/index/live"
)

func newMerge(g *cli.Files) *cobra.Command {
	return &cobra.Command{
		Use:   "merge [flags] INDEX",
		Short: "Merge an index into one segment, without deleted documents",
		Long: `Merge all segments of an index, and its log, into one segment without deleted documents.

Queries are fastest then, and the index is smallest. The index must not be served: a
server merges by itself. A merge needs disk space for a second index.`,
		Annotations: cli.HelpOf("Guide: ndd help indexes"),
		Example:     `  ndd merge index`,
		Args:        cli.OneArg("INDEX"),
		RunE:        func(cmd *cobra.Command, args []string) error { return mergeIndex(cmd.Context(), g, args[0]) },
	}
}

func mergeIndex(ctx context.Context, g *cli.Files, dir string) (err error) {
	x, err := openToWrite(ctx, g, dir, live.OpenOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	before := x.Stats()
	if err := live.Unwrap(x).Merge(ctx, g.Threads); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	after := x.Stats()
	g.Log.Info(fmt.Sprintf("%s: %s merged into %s of %s; %s dropped", dir, cli.Number(uint64(before.Segments), "segment"),
		cli.Number(uint64(after.Segments), "segment"), cli.Number(after.Documents, "document"),
		GoneText(before.Deleted, before.Expired)))
	return nil
}

// GoneText returns the numbers of deleted and expired documents as text.
func GoneText(deleted, expired uint64) string {
	switch {
	case expired == 0:
		return cli.Number(deleted, "deleted document")
	case deleted == 0:
		return cli.Number(expired, "expired document")
	}
	return humanize.Comma(int64(deleted)) + " deleted and " + cli.Number(expired, "expired document")
}
