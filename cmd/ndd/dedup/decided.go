package dedup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/engine/corpus/document"
	"ndd/engine/corpus/rewrite"
	"ndd/engine/corpus/rewrite/droplist"
)

func newFilter(g *cli.Files) *cobra.Command {
	d := &deciding{g: g}
	cmd := &cobra.Command{
		Use:   "filter --dropped TABLE --write-kept DIR [--shard I/N] INPUT...",
		Short: "Copy files without the documents that a table drops",
		Long: `Copy the inputs to a new folder without the documents in TABLE, as ndd dedup
--write-kept copies them: lines, records and rows that stay are byte for byte the same,
with the same compression.

TABLE is dropped.tsv, .jsonl or .parquet of ndd dedup -o, or any table with the columns
file and row, or the column id (.gz and .zst are read, too). Rows are lines, records or
rows of the file, from 1, and empty where a file is one document. Files are given under
the names that they have in the table. If it has ids, too, the document in each row must
have the id of the row: give --id and --text as then. Another id ends the command with
status 3. With ids alone, every document with one of them goes.
Where there is a column kept, rows that have it set stay. Rows of TABLE that no document
has are counted and named, and the exit status is 4.

--shard i/N copies a share of the files, so that N processes share the work; each writes
its own folder, or all write below one prefix on S3. A file has the same name in them
that it has without --shard. Whether an id is that of no document cannot be known then.

Memory: 17 bytes for each row of TABLE in a share, some 40 for each id.`,
		Example: `  ndd filter --dropped result/dropped.tsv --write-kept clean crawl/
  ndd filter --dropped dropped.parquet --shard 0/4 --write-kept clean-0 crawl/
  ndd filter --dropped ids.tsv --id url --write-kept clean crawl-*.jsonl.zst`,
		Args: cli.SomeArgs("INPUT"),
		RunE: func(cmd *cobra.Command, args []string) error { return d.run(cmd.Context(), args) },
	}
	d.docs.RegisterScanning(cmd)
	d.shard.Register(cmd)
	g.RegisterForce(cmd)
	f := cmd.Flags()
	f.StringVar(&d.dropped, "dropped", "", "table of the documents to leave out: .tsv, .jsonl or .parquet, with the columns "+
		"file and row, or id")
	f.StringVar(&d.writeKept, "write-kept", "", "folder to create with copies of the inputs, without these documents")
	return cmd
}

type deciding struct {
	g         *cli.Files
	docs      cli.DocumentFlags
	shard     cli.ShareFlag
	dropped   string
	writeKept string
}

func (d *deciding) run(ctx context.Context, inputs []string) error {
	if d.dropped == "" || d.writeKept == "" {
		return cli.Usagef("filter needs --dropped TABLE and --write-kept DIR")
	}
	if i := slices.IndexFunc(append([]string{d.dropped}, inputs...), document.ReadOnce); i >= 0 || d.writeKept == "-" {
		return cli.Usagef("filter reads its files twice and writes a folder: it takes no pipes")
	}
	config, err := d.docs.Config(d.g, nil)
	if err != nil {
		return err
	}
	if err := cli.ReadOnce(inputs); err != nil {
		return err
	}
	if config.Document.Share, err = d.shard.Share(ctx, d.g, inputs); err != nil {
		return err
	}
	outputs := d.g.NewOutputs(false)
	defer outputs.Abort()
	to, err := outputs.Copies(ctx, inputs, d.writeKept)
	if err != nil {
		return err
	}
	decisions, err := droplist.Read(ctx, d.dropped, inputs, config.Document.Share)
	if errors.Is(err, droplist.ErrColumns) {
		return cli.Usagef("--dropped %w", err)
	}
	if err != nil {
		return err
	}
	var left droplist.Leftover
	report, err := to.Fill(ctx, "copying", config.Document, func(ctx context.Context, to *rewrite.Target) (
		report rewrite.Report, err error) {
		report, left, err = decisions.Copy(ctx, inputs, config.Document, d.g.Threads, to)
		return report, err
	})
	if err != nil {
		return err
	}
	if err := outputs.Commit(); err != nil {
		return err
	}
	return d.say(decisions, report, left)
}

// say reports the copies and returns [cli.ErrPartly] where something is missing.
func (d *deciding) say(decisions *droplist.List, report rewrite.Report, left droplist.Leftover) error {
	d.g.SayCopied(report)
	d.g.Log.Info(fmt.Sprintf("dropped %s; %s has %s", cli.Number(int(left.Dropped), "document"), d.dropped,
		humanize.Comma(decisions.Rows)))
	cli.SaySome(d.g.Log.Warn, int(left.Repeated), "document", " dropped with the ID of another one that is: "+
		"the columns file and row would tell them apart")
	if left.Unmatched > 0 {
		more := ""
		if int(left.Unmatched) > len(left.Named) {
			more = ", ..."
		}
		d.g.Log.Warn(fmt.Sprintf("%s of %s not found among the documents: %s%s",
			cli.Number(int(left.Unmatched), "row"), d.dropped,
			strings.Join(left.Named, ", "), more))
	}
	if left.Unmatched > 0 || len(report.Lost) > 0 {
		return cli.ErrPartly
	}
	return nil
}
