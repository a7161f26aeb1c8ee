package index

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/engine"
	"ndd/engine/corpus/ndf"
	"ndd/engine/index/live"
	"ndd/engine/result"
)

func newExport(g *cli.Globals) *cobra.Command {
	var e exporting
	cmd := &cobra.Command{
		Use:   "export INDEX [-o FILE]",
		Short: "Write the documents of an index: fingerprints and IDs",
		Long: `Write the fingerprint and the ID of each document of an index, in the order in
which they came. With -o, as a fingerprint file with the index's recipe (ndf), of
which 'ndd build' makes an index with another k, other tables, or fewer documents;
without, as lines such as 'ndd fingerprint' prints: fingerprint, tab, ID (tsv). Two
fingerprints of a document have a comma between them.

Deleted and expired documents are left out, and counted. Lengths of texts are
written to a fingerprint file where the index has them. Where it keeps no IDs
(--ids rows) the documents' numbers are in their place. Where it keeps no
documents (--ids none) its distinct fingerprints are listed, as tsv or jsonl.
Times to live are not written: what is built of a file does not expire.

The index may be served and written to meanwhile: what is written is what it had
when the command began. Memory is 9 bytes for each document of the largest segment,
or else half of what is left, for which the segment is read several times.`,
		Example: `  ndd export index -o all.ndf && ndd build -o index4 -k 4 all.ndf
  ndd export index | cut -f 2 | sort >ids`,
		Args: cli.OneArg("INDEX"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := e.check(args[0]); err != nil {
				return err
			}
			return e.run(cmd.Context(), g, args[0])
		},
	}
	cmd.Flags().StringVarP(&e.out, "output", "o", "", "file to write; standard output without")
	cmd.Flags().StringVar(&e.format, "format", "", "output format: ndf (with -o), tsv (without) or jsonl")
	cmd.Flags().Var(&e.open.verify, "checksums", "how to verify the index: full, or fast, which does not verify large sections")
	g.RegisterForce(cmd)
	return cmd
}

// exporting is what an export writes, and where.
type exporting struct {
	out    string
	format string
	open   OpenFlags
}

// fileFormat is the format of fingerprint files.
const fileFormat = "ndf"

// check completes the flags, or says what is wrong with them.
func (e *exporting) check(dir string) error {
	formats := append([]string{fileFormat}, result.FormatNames(result.TSV, result.JSON)...)
	named := e.format != ""
	if !named {
		if e.format = fileFormat; cli.IsStdout(e.out) {
			e.format = result.TSV.String()
		}
	}
	if e.format == "json" {
		e.format = result.JSON.String() // as everywhere
	}
	ending := strings.TrimPrefix(filepath.Ext(e.out), ".")
	switch {
	case !slices.Contains(formats, e.format):
		return cli.Usagef("--format %q: must be ndf, tsv or jsonl", e.format)
	case e.format == fileFormat && cli.IsStdout(e.out):
		return cli.Usagef("--format ndf: a fingerprint file cannot be written to standard output: give -o FILE")
	case !named && ending != fileFormat && slices.Contains(formats, ending):
		return cli.Usagef("-o %s: --format %s writes that; without --format a fingerprint file is written, .ndf", e.out, ending)
	case !cli.IsStdout(e.out) && within(e.out, dir):
		return cli.Usagef("%s: is in the index itself: name a file beside it", e.out)
	}
	return nil
}

// run exports the index in folder dir.
func (e *exporting) run(ctx context.Context, g *cli.Globals, dir string) error {
	check := g.CheckOutput
	if e.format == fileFormat {
		check = g.CheckPrintOutput
	}
	if err := check(e.out); err != nil {
		return err
	}
	x, err := e.open.Open(ctx, g, dir, engine.OpenOptions{})
	if err != nil {
		return err
	}
	defer x.Close()
	view, err := x.Live().View()
	if err != nil {
		return err
	}
	defer view.Release()
	from := source{g: g, dir: dir, x: x, view: view}
	from.bar = g.NewBar("exporting", int64(x.Stats().Documents), cli.CountUnit)
	err = from.write(ctx, e.out, e.format)
	from.bar.End()
	if err != nil {
		return err
	}
	from.say(e.out)
	return nil
}

// A source is an index that is exported.
type source struct {
	g    *cli.Globals
	dir  string
	x    *engine.Index
	view live.View
	bar  *cli.Bar
	did  live.Listed
	bare uint64 // fingerprints that were written, of an index without documents
}

// write writes all that the index has.
func (s *source) write(ctx context.Context, out, format string) error {
	switch {
	case format == fileFormat:
		return s.toFile(ctx, out)
	case s.keepsDocs():
		return s.toTable(ctx, out, format)
	}
	return s.printsAlone(ctx, out, format)
}

// keepsDocs reports whether the index knows which documents have its fingerprints.
func (s *source) keepsDocs() bool {
	for _, p := range s.x.Live().Parts() {
		if p.Segment != nil && !p.Segment.KeepsDocs() {
			return false
		}
	}
	return true
}

// each calls yield with each document, whose ID is its number where it has none.
func (s *source) each(ctx context.Context, yield func(live.Doc) error) (err error) {
	written := int64(0)
	s.did, err = s.view.Documents(ctx, func(doc live.DocID, d live.Doc) error {
		d.ID = cmp.Or(d.ID, strconv.FormatUint(uint64(doc), 10))
		written++
		s.bar.Set(written)
		return yield(d)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", s.dir, err)
	}
	return nil
}

// toFile writes a fingerprint file.
func (s *source) toFile(ctx context.Context, out string) error {
	if !s.keepsDocs() {
		return fmt.Errorf("%s: keeps no documents (--ids none), of which a fingerprint file is: --format tsv lists its fingerprints, for 'ndd build --ids none'", s.dir)
	}
	recipe := s.x.Recipe()
	if recipe == nil {
		return fmt.Errorf("%s: was built of fingerprints without a recipe, which a fingerprint file has: --format tsv writes lines, which 'ndd build' reads, too", s.dir)
	}
	return s.g.WritePrints(out, *recipe, func(w *ndf.Writer) error {
		return s.each(ctx, func(d live.Doc) error {
			return w.Append(ndf.Document{ID: d.ID, Fingerprint: d.Fingerprint, Second: d.Second, TextBytes: int(d.TextBytes)})
		})
	})
}

// say tells how many documents were written, and what was left out.
func (s *source) say(out string) {
	to := ""
	if !cli.IsStdout(out) {
		to = " to " + out
	}
	if s.bare > 0 {
		s.g.Log.Info(fmt.Sprintf("%s: %s written%s; it keeps no documents", s.dir, cli.Number(s.bare, "distinct fingerprint"), to))
		return
	}
	said := fmt.Sprintf("%s: %s written%s", s.dir, cli.Number(s.did.Documents, "document"), to)
	if s.did.Deleted+s.did.Expired > 0 {
		said += "; " + GoneText(s.did.Deleted, s.did.Expired) + " left out"
	}
	s.g.Log.Info(said)
	if n := s.did.Expiring; n > 0 {
		s.g.Log.Info(fmt.Sprintf("%s: %s will expire in the index; when is not written", s.dir, cli.Number(n, "document")))
	}
	if !s.x.Live().Config().IDs && s.did.Documents > 0 {
		s.g.Log.Info(s.dir + ": keeps no IDs: the documents' numbers are written in their place; 'ndd build --ids rows' does not keep them")
	}
}
