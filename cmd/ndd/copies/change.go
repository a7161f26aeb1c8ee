package copies

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/engine/copies"
	"ndd/engine/corpus/document"
	"ndd/engine/result"
)

func newCopiesMerge(g *cli.Globals) *cobra.Command {
	var memory string
	cmd := &cobra.Command{
		Use:   "merge INDEX",
		Short: "Merge an index into one segment, without deleted documents",
		Long: `Merge the segments of an index that 'ndd copies build' made and added to into one, as
a build of the documents that are not deleted makes it. While it merges, the disk has
the index twice.

The index may be searched and served meanwhile; a server goes on with the old segments
until SIGHUP. If the command is interrupted, the index is as it was before.`,
		Example: `  ndd copies merge library`,
		Args:    cli.OneArg("INDEX"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o := copies.Options{Threads: g.Threads}
			if _, err := room(g, memory, &o); err != nil {
				return err
			}
			segments, deleted, err := copies.Merge(cmd.Context(), args[0], o)
			if err != nil {
				return err
			}
			g.Log.Info(fmt.Sprintf("%s: %s merged; %s dropped", args[0], cli.Number(segments, "segment"),
				cli.Number(deleted, "deleted document")))
			return nil
		},
	}
	registerMemory(cmd, &memory)
	return cmd
}

func newCopiesDelete(g *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:   "delete INDEX ID...",
		Short: "Delete documents from an index by their IDs",
		Long: `Delete documents from an index that 'ndd copies build' made. They are not found any
more by commands that begin later, and by a server after SIGHUP; 'ndd copies merge'
gives their room back. The ID - stands for IDs on standard input, one a line.

The exit status is 4 if no document has one of the IDs; the others are deleted.`,
		Example: `  ndd copies delete library https://example.org/old
  ndd copies delete library - <gone.txt`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return cli.Usagef("expected INDEX and at least one ID, got %s", cli.Number(len(args), "argument"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return deleteCopies(cmd.Context(), g, args[0], args[1:])
		},
	}
}

// missingNamed is how many IDs are named that no document has.
const missingNamed = 10

func deleteCopies(ctx context.Context, g *cli.Globals, dir string, ids []string) error {
	if i := slices.Index(ids, document.Stdin); i >= 0 {
		read, err := readLines(ctx, g)
		if err != nil {
			return err
		}
		ids = slices.Replace(slices.Clone(ids), i, i+1, read...)
	}
	o := copies.Options{Threads: g.Threads}
	o.Room.Disk = g.Disk
	deleted, missing, err := copies.Delete(ctx, dir, ids, o)
	if err != nil {
		return err
	}
	g.Log.Info(fmt.Sprintf("%s: %s", dir, cli.Number(deleted, "document")+" deleted"))
	for _, id := range missing[:min(len(missing), missingNamed)] {
		g.Log.Warn(fmt.Sprintf("%s: no document has the ID %s", dir, result.Escape(id)))
	}
	if more := len(missing) - missingNamed; more > 0 {
		g.Log.Warn(fmt.Sprintf("%s: no document has %s more", dir, cli.Number(more, "ID")))
	}
	if len(missing) > 0 {
		return cli.ErrPartly
	}
	return nil
}

// readLines returns the lines of standard input that are not empty.
func readLines(ctx context.Context, g *cli.Globals) ([]string, error) {
	data, err := io.ReadAll(document.Patient(ctx, g.Stdin))
	if err != nil {
		return nil, fmt.Errorf("standard input: %w", err)
	}
	lines := strings.Split(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" }), nil
}
