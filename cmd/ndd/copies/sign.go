package copies

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/engine/copies"
	"ndd/engine/corpus/ingest"
	"ndd/engine/memory"
	"ndd/engine/storage/idlist"
	"ndd/engine/storage/store"
)

// fileEnding is the ending of signature files.
const fileEnding = ".sigs"

func newCopiesSign(g *cli.Files) *cobra.Command {
	f := signatureFlags{file: cli.NewMethodFile()}
	var out string
	cmd := &cobra.Command{
		Use:   "sign -o FILE.sigs INPUT...",
		Short: "Write the signatures of documents to a file, to compare others with",
		Long: `Write the signatures of documents to a file: 'ndd copies --against FILE.sigs' finds the
documents in it that others are copies of. The file is never changed. Sign further
documents into further files, and name all of them: --against may be given more than
once. A file takes 8 bytes a signature, one to two kilobytes for a page of news.

Documents with too few signatures are in the file, and are in no pair.`,
		Example: `  ndd copies sign -o library.sigs library.jsonl.zst
  ndd copies sign -o more.sigs more.jsonl.zst
  ndd copies --against library.sigs --against more.sigs new.jsonl`,
		Args: cli.SomeArgs("INPUT"),
		RunE: func(cmd *cobra.Command, args []string) error { return sign(cmd.Context(), g, args, out, &f) },
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
	o, config, err := f.optionsOf(g, nil)
	if err != nil {
		return err
	}
	budget, err := room(g, f.memory, &o)
	if err != nil {
		return err
	}
	if err := g.Disk.MakeParents(path); err != nil {
		return err
	}
	w, err := copies.Create(path, o, store.Options{Disk: g.Disk})
	if err != nil {
		return err
	}
	defer w.Abort()
	documents, without := 0, 0
	partly := signAll(ctx, g, inputs, config, o, f, func(s *signed) error {
		compared, err := w.Add(s.id, s.sets)
		if documents++; !compared {
			without++
		}
		return err
	}, checkMemory(budget, "signing", w.NeedBytes))
	if partly != nil && !errors.Is(partly, cli.ErrPartly) {
		return partly
	}
	if err := w.Commit(); err != nil {
		return err
	}
	g.Log.Info(fmt.Sprintf("%s: %s", out, cli.Number(documents, "document")))
	cli.SaySome(g.Log.Warn, without, "document", " had too few signatures to be compared")
	return partly
}

// optionsOf returns the options by which documents are signed: those of signature files, from which the flags must not
// differ, or those of the flags if there are no files.
func (f *signatureFlags) optionsOf(g *cli.Files, known []*copies.File) (o copies.Options, c ingest.Config, err error) {
	if c, err = f.config(g); err != nil {
		return o, c, err
	}
	if len(known) > 0 {
		if o, err = known[0].Recipe().Options(); err != nil {
			return o, c, fmt.Errorf("%s: %w", known[0].Path(), err)
		}
	}
	if o, err = f.options(g, o); err != nil {
		return o, c, err
	}
	if _, err := copies.NewSigner(context.Background(), o); err != nil {
		return o, c, cli.Usagef("%w", err)
	}
	for _, k := range known {
		if err := o.Recipe().Compatible("the documents", *k.Recipe(), k.Path()); err != nil {
			return o, c, err
		}
	}
	return o, c, nil
}

// checkMemory returns a function that checks, from time to time, that documents fit.
func checkMemory(b *memory.Budget, doing string, need func() uint64) func(documents int, idBytes uint64) error {
	return func(documents int, idBytes uint64) error {
		if documents%1000 > 0 {
			return nil
		}
		return b.Check(fmt.Sprintf("%s %s and more", doing, cli.Number(documents, "document")), need()+idBytes)
	}
}

// A library is the open signature files of --against, whose documents have the first numbers of a detector.
type library struct {
	files []*copies.File
	names []*idlist.Cursor
}

func openLibrary(ctx context.Context, g *cli.Files, paths []string) (l *library, err error) {
	l = new(library)
	for _, path := range paths {
		f, err := copies.Open(ctx, path, g.Threads)
		if err != nil {
			return nil, errors.Join(err, l.close())
		}
		l.files, l.names = append(l.files, f), append(l.names, f.Names())
	}
	return l, nil
}

func (l *library) close() (err error) {
	for _, f := range l.files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// documents returns the number of documents of all files.
func (l *library) documents() (n uint64) {
	for _, f := range l.files {
		n += f.Documents()
	}
	return n
}

// addTo adds all documents to a detector, as known ones.
func (l *library) addTo(d *copies.Detector, check func(documents int, idBytes uint64) error) error {
	if len(l.files) == 0 {
		return nil
	}
	for _, f := range l.files {
		if err := d.AddFile(f); err != nil {
			return err
		}
	}
	d.Known()
	return check(0, 0)
}

// id returns the ID of a document of the library.
func (l *library) id(doc uint64) (string, error) {
	i := 0
	for ; doc >= l.files[i].Documents(); i++ {
		doc -= l.files[i].Documents()
	}
	return l.names[i].ID(doc)
}
