package copies

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/copies"
	"example.org/ndd/engine/storage/store"
)

// fileEnding is the ending of signature files.
const fileEnding = ".sigs"

func newCopiesSign(g *cli.Files) *cobra.Command {
	f := signatureFlags{file: cli.NewMethodFile()}
	var out string
	cmd := &cobra.Command{
		Use:   "sign -o FILE.sigs INPUT...",
		Short: "Write the signatures of documents to a file, to compare others with",
		Long: `Write the signatures of documents to a file, to compare other documents with them by
'ndd copies --against'. The file is never changed: sign further documents into further
files. A page of news takes one or two kilobytes.

Documents with too few signatures are in the file, but in no pair.`,
		Example: `  ndd copies sign -o library.sigs library.jsonl.zst
  ndd copies sign -o more.sigs more.jsonl.zst
  ndd copies --against library.sigs --against more.sigs new.jsonl`,
		Annotations: cli.HelpOf("Guide: ndd help signatures", "Signatures: method=NAME method-file=FILE"),
		Args:        cli.SomeArgs("INPUT"),
		RunE:        func(cmd *cobra.Command, args []string) error { return sign(cmd.Context(), g, args, out, &f) },
	}
	f.register(cmd, g)
	cmd.Flags().StringVarP(&out, "output", "o", "", "signature file to write; its name ends in "+fileEnding)
	return cmd
}

func sign(ctx context.Context, g *cli.Files, inputs []string, out string, f *signatureFlags) error {
	if out == "" {
		return cli.Usagef("give -o FILE%s for the signature file", fileEnding)
	}
	if filepath.Ext(out) != fileEnding {
		return cli.Usagef("-o %q: the name of a signature file must end in %s", out, fileEnding)
	}
	// Check and claim the output.
	path, stream, err := cli.Destination(out)
	if err != nil {
		return err
	}
	if stream {
		return fmt.Errorf("%s: a signature file cannot be written to a pipe or a device", out)
	}
	if err := g.CheckOutput(out); err != nil {
		return err
	}
	// Set the options, and create the file.
	s, err := newSignRun(g, f, nil)
	if err != nil {
		return err
	}
	if err := s.limitMemory(); err != nil {
		return err
	}
	if err := g.Disk.MakeParents(path); err != nil {
		return err
	}
	w, err := copies.Create(path, s.options, store.Options{Disk: g.Disk})
	if err != nil {
		return err
	}
	defer w.Abort()
	// Write the signatures of all documents.
	documents, unsigned := 0, 0
	partly := s.run(ctx, inputs, "signing", 0, func(id string, sets copies.Sets) error {
		compared, err := w.Add(id, sets)
		if documents++; !compared {
			unsigned++
		}
		return err
	})
	if failed(partly) {
		return partly
	}
	if err := w.Commit(); err != nil {
		return err
	}
	g.Log.Info(fmt.Sprintf("%s: %s", out, cli.Number(documents, "document")))
	s.warnNone(unsigned)
	return partly
}
