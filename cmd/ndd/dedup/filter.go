package dedup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/rewrite"
	"example.org/ndd/engine/corpus/rewrite/droplist"
)

func newFilter(g *cli.Files) *cobra.Command {
	d := &filterCmd{g: g}
	cmd := &cobra.Command{
		Use:   "filter [flags] --dropped DIR|TABLE --write-kept DIR INPUT...",
		Short: "Copy files without the documents that dedup or a table drops",
		Long: `Copy the inputs to a new folder without the dropped documents.

--dropped is the folder of 'ndd dedup -o' or 'ndd passages --decisions', or a table with
the columns file and row, or id. ndd reads only the decisions about the given inputs. The
rest of each file stays the same byte for byte, with the same compression. Give the same
--text and --id as to that command: another ID or content is an error. Rows without a
document are counted and named, and the exit status is 4.`,
		Example: `  ndd filter --dropped result --write-kept clean crawl/
  ndd filter --dropped result --shard 0/4 --write-kept clean-0 crawl/
  ndd filter --dropped ids.tsv --id url --write-kept clean crawl-*.jsonl.zst`,
		Annotations: cli.HelpOf("Guide: ndd help corpus. Tables and copies: ndd help formats", "Documents: dropped=DIR|TABLE"),
		Args:        cli.SomeArgs("INPUT"),
		RunE:        func(cmd *cobra.Command, args []string) error { return d.run(cmd.Context(), args) },
	}
	d.docs.RegisterScanning(cmd)
	d.shard.Register(cmd)
	g.RegisterForce(cmd)
	f := cmd.Flags()
	f.StringVar(&d.dropped, "dropped", "", "documents to leave out: folder of dedup -o, or a table")
	f.StringVar(&d.writeKept, "write-kept", "", "folder to create with the copies")
	return cmd
}

// filterCmd is the command filter.
type filterCmd struct {
	g         *cli.Files
	docs      cli.DocumentFlags
	shard     cli.ShareFlag
	dropped   string
	writeKept string
}

func (d *filterCmd) run(ctx context.Context, inputs []string) error {
	// Check the flags and the inputs.
	if d.dropped == "" || d.writeKept == "" {
		return cli.Usagef("filter needs --dropped DIR|TABLE and --write-kept DIR")
	}
	if i := slices.IndexFunc(append([]string{d.dropped}, inputs...), input.ReadOnce); i >= 0 || d.writeKept == "-" {
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
	// Create the folder of the copies, and read the decisions.
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
	// Copy the files without the dropped documents.
	var leftover droplist.Leftover
	report, err := to.Fill(ctx, "copying", config.Document, func(ctx context.Context, to *rewrite.Target) (
		report rewrite.Report, err error) {
		report, leftover, err = decisions.Copy(ctx, inputs, config.Document, d.g.Threads, to)
		return report, err
	})
	if err != nil {
		return err
	}
	if err := outputs.Commit(); err != nil {
		return err
	}
	return d.say(decisions, report, leftover)
}

// say reports the copies and returns [cli.ErrPartly] where something is missing.
func (d *filterCmd) say(decisions *droplist.List, report rewrite.Report, leftover droplist.Leftover) error {
	d.g.ReportCopies(report)
	did := "dropped " + cli.Number(int(leftover.Dropped), "document")
	if leftover.Cut > 0 {
		for _, file := range report.Uncut {
			leftover.Cut -= int64(file.Documents)
		}
		did = "removed text from " + cli.Number(int(leftover.Cut), "document")
	}
	d.g.Log.Info(fmt.Sprintf("%s; %s has %s", did, d.dropped, humanize.Comma(decisions.Rows)))
	cli.LogCount(d.g.Log.Warn, int(leftover.Repeated), "document", " dropped with the ID of another one that is: "+
		"the columns file and row would tell them apart")
	if leftover.Unmatched > 0 {
		msg := fmt.Sprintf("%s of %s not found among the documents", cli.Number(int(leftover.Unmatched), "row"), d.dropped)
		if len(leftover.Named) > 0 {
			msg += ", such as " + strings.Join(leftover.Named, ", ")
		}
		d.g.Log.Warn(msg)
	}
	if leftover.Unmatched > 0 || len(report.Lost)+len(report.Uncut) > 0 {
		return cli.ErrPartly
	}
	return nil
}
