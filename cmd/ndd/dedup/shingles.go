package dedup

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/engine/corpus/input"
	"ndd/engine/near/members"
	"ndd/engine/result"
	"ndd/engine/storage/object"
	"ndd/engine/storage/store"
)

var memberColumns = cli.ColumnsOf("file row:i? text_bytes:i")

func newShingles(g *cli.Files) *cobra.Command {
	c := &shinglesCmd{g: g}
	cmd := &cobra.Command{
		Use:   "shingles [flags] INPUT...",
		Short: "Write the shingles of the documents that a join in parts compares",
		Long: `Write the shingles of the texts of the documents in a table of 'ndd dedup --members'.

The file has 8 bytes for each distinct shingle. 'ndd dedup' takes it with the fingerprint
files and compares documents by it as it does by their texts. Give the inputs and flags of
'ndd fingerprint'. A document that has changed since then is an error.`,
		Example: `  ndd dedup --members members.parquet parts/*.ndf
  ndd shingles --members members.parquet --shard 0/4 -o sets/0.sets crawl/
  ndd dedup -o result sets/*.sets parts/*.ndf`,
		Annotations: cli.HelpOf("Guide: ndd help corpus", "Documents: members=TABLE"),
		Args:        cli.SomeArgs("INPUT"),
		RunE:        func(cmd *cobra.Command, inputs []string) error { return c.run(cmd.Context(), inputs) },
	}
	c.docs.Register(cmd)
	c.shard.Register(cmd)
	g.RegisterForce(cmd)
	cmd.Flags().StringVar(&c.members, "members", "", "table of the documents to read, of 'ndd dedup --members'")
	cmd.Flags().StringVarP(&c.out, "output", "o", "", "file to write")
	return cmd
}

// shinglesCmd is the command shingles.
type shinglesCmd struct {
	g            *cli.Files
	docs         cli.DocumentFlags
	shard        cli.ShareFlag
	members, out string
}

func (c *shinglesCmd) run(ctx context.Context, inputs []string) error {
	if c.members == "" || c.out == "" || object.Is(c.out) {
		return cli.Usagef("shingles needs --members TABLE and -o FILE, a file on disk")
	}
	config, err := c.docs.Config(c.g, nil)
	if err != nil {
		return err
	}
	if err := c.g.CheckOutput(c.out); err != nil {
		return err
	}
	if err := cli.ReadOnce(inputs); err != nil {
		return err
	}
	if config.Document.Share, err = c.shard.Share(ctx, c.g, inputs); err != nil {
		return err
	}
	table, err := members.Read(ctx, c.members, inputs, config.Document.Share)
	if err != nil {
		return err
	}
	if err := c.g.Disk.MakeParents(c.out); err != nil {
		return err
	}
	config.Document.Meter = &input.Meter{}
	bar := c.g.Progress.NewInputBar(ctx, "reading", inputs, config.Document)
	err = table.WriteSets(ctx, c.out, inputs, config, store.Options{Disk: c.g.Disk})
	bar.End()
	if err == nil {
		c.g.Log.Info(fmt.Sprintf("shingles of %s", cli.Number(table.Len(), "document")))
	}
	return err
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

// errMembersWritten ends a search whose result is the table of members.
var errMembersWritten = errors.New("the table of members is written")

// writeMembers writes the table of the documents whose texts are needed.
func writeMembers(g *cli.Files, path string, format result.Format, list iter.Seq[members.Member]) error {
	n := 0
	err := g.WriteTable(path, format, memberColumns, func(t *result.TableWriter) error {
		for m := range list {
			n++
			if err := place(t, m.Place).Integer(m.TextBytes).End(); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		g.Log.Info(fmt.Sprintf("texts of %s are needed: 'ndd shingles' reads them", cli.Number(n, "document")))
	}
	return err
}
