package index

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/engine"
	"ndd/engine/index/live"
	"ndd/engine/memory"
)

func newMerge(g *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:   "merge INDEX",
		Short: "Merge an index into one segment, without deleted documents",
		Long: `Merge all segments of an index, and what its log has, into one segment, as 'ndd
build' makes of the documents that are not deleted. Queries are fastest then, and
the index smallest. While it merges, the disk has the index twice.

The index must not be served meanwhile: a server merges in the background by itself.
Memory is taken as by building as many documents; --verbose says how much, before.
If the command is interrupted, the index is as it was before.`,
		Example: `  ndd merge index`,
		Args:    cli.OneArg("INDEX"),
		RunE:    func(cmd *cobra.Command, args []string) error { return mergeIndex(cmd.Context(), g, args[0]) },
	}
}

func mergeIndex(ctx context.Context, g *cli.Globals, dir string) (err error) {
	x, err := openToWrite(ctx, g, dir, engine.OpenOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	before := x.Stats()
	if err := x.Live().Merge(ctx, g.Threads); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	after := x.Stats()
	g.Log.Info(fmt.Sprintf("%s: %s merged into %s of %s; %s dropped", dir, cli.Number(uint64(before.Segments), "segment"),
		cli.Number(uint64(after.Segments), "segment"), cli.Number(after.Documents, "document"),
		GoneText(before.Deleted, before.Expired)))
	return nil
}

// openToWrite opens the index in folder dir to change it, after every checksum was verified.
func openToWrite(ctx context.Context, g *cli.Globals, dir string, how engine.OpenOptions) (*engine.Index, error) {
	var o OpenFlags
	how.Write, how.Disk, how.Budget = true, g.Disk, memory.ForProgram(g.Machine.Limit(0))
	how.Planned = SayPlanned(g, how.Budget)
	x, err := o.Open(ctx, g, dir, how)
	if err != nil {
		return nil, err
	}
	g.Log.Debug(fmt.Sprintf("%s: %v", dir, x.Live().Recovery()))
	return x, nil
}

// SayPlanned returns a function that says what memory making a segment takes, before that takes any.
func SayPlanned(g *cli.Globals, b *memory.Budget) func(docs, bytes uint64) {
	return func(docs, bytes uint64) {
		g.Log.Debug(fmt.Sprintf("making a segment of %s uses at most %s of memory beside mapped files; %s are available (%s)",
			cli.Number(docs, "document"), humanize.IBytes(b.Total(bytes)), humanize.IBytes(b.Limit().Bytes), b.Limit().Source))
	}
}

func newBackup(g *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:   "backup INDEX DIR",
		Short: "Copy an index as it is now, also while it is served",
		Long: `Make DIR an index that has all that was acknowledged by INDEX before the command
began. INDEX may be served and written to meanwhile.

The files of an index are never changed, so on the same file system DIR has hard
links of them, which takes no time and no room; only the log is copied. DIR keeps
all of it when INDEX is changed or removed later. On another file system, files
are copied. 'ndd check DIR' verifies the backup.

DIR must not exist, and there is no --force: a backup that fails must not have cost
the one before it. Give each a name of its own, and remove the oldest when the new
one is complete.`,
		Example: `  ndd backup index /backups/index-monday
  ndd serve -i /backups/index-monday`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return cli.Usagef("expected two arguments, INDEX and DIR, got %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if within(args[1], args[0]) {
				return cli.Usagef("%s: is in the index itself: name a folder beside it", args[1])
			}
			r, err := live.Backup(cmd.Context(), g.Disk, args[0], args[1])
			if err != nil {
				return err
			}
			g.Log.Info(fmt.Sprintf("%s: %s, %s linked and %s copied; %s in the log", args[1],
				cli.Number(uint64(r.Files), "file"),
				humanize.IBytes(r.Linked), humanize.IBytes(r.Copied), cli.Number(r.Log.Records, "record")))
			return nil
		},
	}
}

// within reports whether a path is below a folder.
func within(path, folder string) bool {
	at, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	of, err := os.Stat(folder)
	for err == nil && at != filepath.Dir(at) {
		at = filepath.Dir(at)
		if info, err := os.Stat(at); err == nil && os.SameFile(info, of) {
			return true
		}
	}
	return false
}

// GoneText counts documents that are gone.
func GoneText(deleted, expired uint64) string {
	switch {
	case expired == 0:
		return cli.Number(deleted, "deleted document")
	case deleted == 0:
		return cli.Number(expired, "expired document")
	}
	return humanize.Comma(int64(deleted)) + " deleted and " + cli.Number(expired, "expired document")
}
