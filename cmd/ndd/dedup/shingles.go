package dedup

import (
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/engine/corpus/document"
	"ndd/engine/near/dedup"
	"ndd/engine/result"
	"ndd/engine/storage/object"
	"ndd/engine/storage/store"
)

var memberColumns = cli.ColumnsOf("file row:i? text_bytes:i")

func newShingles(g *cli.Files) *cobra.Command {
	var docs cli.DocumentFlags
	var shard cli.ShareFlag
	var members, out string
	cmd := &cobra.Command{
		Use:   "shingles --members TABLE -o FILE [--shard I/N] INPUT...",
		Short: "Write the shingles of the documents that a join in parts compares",
		Long: `Read the documents in TABLE, which 'ndd dedup --members' writes, and write the
shingles of their texts to a file, 8 bytes for each distinct one. 'ndd dedup' compares
documents by these files, given beside the fingerprint files, as it does by their texts:
files made by 'ndd fingerprint --shard' get the same result as the inputs themselves.

--shard i/N reads a share of the files. The inputs and the flags for documents are those
of 'ndd fingerprint'. A document that is not what it was is an error. 'ndd help corpus'
shows the steps.`,
		Example: `  ndd dedup --members members.parquet parts/*.ndf
  ndd shingles --members members.parquet --shard 0/4 -o sets/0.sets crawl/
  ndd dedup -o result sets/*.sets parts/*.ndf`,
		Args: cli.SomeArgs("INPUT"),
		RunE: func(cmd *cobra.Command, inputs []string) error {
			ctx := cmd.Context()
			if members == "" || out == "" || object.Is(out) {
				return cli.Usagef("shingles needs --members TABLE and -o FILE, a file on disk")
			}
			config, err := docs.Config(g, nil)
			if err != nil {
				return err
			}
			if err := g.CheckOutput(out); err != nil {
				return err
			}
			if err := cli.ReadOnce(inputs); err != nil {
				return err
			}
			if config.Document.Share, err = shard.Share(ctx, g, inputs); err != nil {
				return err
			}
			table, err := dedup.ReadMembers(ctx, members, inputs, config.Document.Share)
			if err != nil {
				return err
			}
			if err := g.Disk.MakeParents(out); err != nil {
				return err
			}
			config.Document.Meter = &document.Meter{}
			bar := g.Progress.NewInputBar(ctx, "reading", inputs, config.Document)
			err = table.WriteSets(ctx, out, inputs, config, store.Options{Disk: g.Disk})
			bar.End()
			if err == nil {
				g.Log.Info(fmt.Sprintf("shingles of %s", cli.Number(table.Len(), "document")))
			}
			return err
		},
	}
	docs.Register(cmd)
	shard.Register(cmd)
	g.RegisterForce(cmd)
	cmd.Flags().StringVar(&members, "members", "", "table of the documents to read, of 'ndd dedup --members'")
	cmd.Flags().StringVarP(&out, "output", "o", "", "file to write")
	return cmd
}

// withoutSets returns the inputs without the files of 'ndd shingles', and these.
func withoutSets(inputs []string) (others, sets []string) {
	for _, path := range inputs {
		if kind, ok, err := store.Sniff(path); !cli.IsStream(path) && err == nil && ok && kind == store.KindShingles {
			sets = append(sets, path)
		} else {
			others = append(others, path)
		}
	}
	return others, sets
}

// inParts reports whether texts are compared in parts.
func (d *deduping) inParts() bool { return d.members != "" || len(d.sets) > 0 }

// compareInParts checks --members and files of shingles, and makes the comparison of texts go by them.
func (d *deduping) compareInParts(v *dedup.Verify) error {
	if !d.inParts() {
		return nil
	}
	switch {
	case !d.prints:
		return cli.Usagef("--members and files of 'ndd shingles' apply to fingerprint files; of documents the texts are read")
	case d.members != "" && len(d.sets) > 0:
		return cli.Usagef("--members comes first, and then 'ndd shingles', whose files are given without it")
	case v == nil:
		return cli.Usagef("--members and files of 'ndd shingles' are for texts that are compared: give --verify, too")
	case len(d.against) > 0:
		return cli.Usagef("--members and files of 'ndd shingles' cannot go with --against")
	}
	if v.Sets = d.sets; d.members == "" {
		return nil
	}
	if err := d.g.Refuse("cannot go with --members, which writes a table alone", "output", "report", "dry-run",
		"max-drop"); err != nil {
		return err
	}
	format, err := result.FormatOf(d.members)
	if err != nil {
		return cli.Usagef("--members %w", err)
	}
	if err := d.g.CheckOutput(d.members, memberColumns...); err != nil {
		return err
	}
	v.Members = func(members iter.Seq[dedup.Member]) error {
		n := 0
		err := d.g.WriteTable(d.members, format, memberColumns, func(t *result.TableWriter) error {
			for m := range members {
				n++
				if err := place(t, m.Place).Integer(m.TextBytes).End(); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			d.g.Log.Info(fmt.Sprintf("texts of %s are needed: 'ndd shingles' reads them", cli.Number(n, "document")))
		}
		return err
	}
	return nil
}
