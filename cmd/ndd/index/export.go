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

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine"
	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/search"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/result"
)

func newExport(g *cli.Files) *cobra.Command {
	var e exportRun
	cmd := &cobra.Command{
		Use:   "export [flags] INDEX",
		Short: "Write the documents of an index: fingerprints and IDs",
		Long: `Write the fingerprint and the ID of each document of an index.

The extension of -o selects the format. From .ndf, 'ndd build' makes an index with another
k or other tables; .bin has fingerprints alone; .tsv and .jsonl are lines. The index may
be served meanwhile.`,
		Annotations: cli.HelpOf("Guide: ndd help indexes", "Resources: checksums=HOW"),
		Example: `  ndd export index -o all.ndf && ndd build -o index4 -k 4 all.ndf
  ndd export index | cut -f 2 | sort >ids`,
		Args: cli.OneArg("INDEX"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := e.check(); err != nil {
				return err
			}
			return e.run(cmd.Context(), g, args[0])
		},
	}
	cmd.Flags().StringVarP(&e.out, "output", "o", "", "file to write (default: standard output)")
	e.open.RegisterChecksums(cmd)
	g.RegisterForce(cmd)
	return cmd
}

// An exportRun is one run of the command export.
type exportRun struct {
	out    string
	format string
	open   OpenFlags
}

// exportFormats are the formats of the output: fingerprint files and lines.
var exportFormats = []string{"ndf", "bin", result.TSV.String(), result.JSON.String()}

// isFile reports whether the output is a fingerprint file rather than lines.
func (e *exportRun) isFile() bool { return slices.Contains(ndf.Endings, "."+e.format) }

// check sets the format: lines on standard output, and otherwise what the ending says.
func (e *exportRun) check() error {
	e.format = result.TSV.String()
	if cli.IsStdout(e.out) {
		return nil
	}
	e.format = strings.TrimPrefix(filepath.Ext(e.out), ".")
	if !slices.Contains(exportFormats, e.format) {
		return cli.Usagef("-o %s: the ending must say the format: .ndf, .bin, .tsv or .jsonl", e.out)
	}
	return nil
}

func (e *exportRun) run(ctx context.Context, g *cli.Files, dir string) error {
	// Claim the output.
	var err error
	if e.isFile() {
		err = g.CheckFingerprintOutput(e.out)
	} else {
		err = g.CheckOutput(e.out)
	}
	if err != nil {
		return err
	}
	// Open a snapshot of the index.
	x, err := e.open.Open(ctx, g, dir, live.OpenOptions{})
	if err != nil {
		return err
	}
	defer x.Close()
	view, err := live.Unwrap(x).View()
	if err != nil {
		return err
	}
	defer view.Release()
	// Write the documents, and report their number.
	from := exportSource{g: g, dir: dir, x: x, view: view}
	from.bar = g.Progress.NewBar("exporting", int64(x.Stats().Documents), cli.CountUnit)
	if e.isFile() {
		err = from.toFile(ctx, e.out)
	} else {
		err = from.toLines(ctx, e.out, e.format)
	}
	from.bar.End()
	if err != nil {
		return err
	}
	from.report(e.out)
	return nil
}

// A exportSource is an index that is exported.
type exportSource struct {
	g         *cli.Files
	dir       string
	x         *engine.Index
	view      version.View
	bar       *cli.Bar
	counts    search.ListCounts
	bareCount uint64 // number of fingerprints written, for an index without documents
}

// toLines writes lines to standard output, or to a file that appears when it is complete. The lines are JSON, or tsv as
// 'ndd fingerprint' prints and 'ndd build' reads it.
func (s *exportSource) toLines(ctx context.Context, out, format string) error {
	f, columns, docs := result.TSV, cli.ColumnsOf("fingerprint id"), s.keepsDocs()
	if format == result.JSON.String() {
		f = result.JSON
	}
	if !docs {
		columns = columns[:1]
	}
	return s.g.WriteOutput(out, func(w *cli.Output) (err error) {
		t := result.NewTableWriter(w, f, columns...)
		if t.WithoutHeader(); docs {
			err = s.eachDocument(ctx, func(d rows.Doc) error { return t.Text(d.Fingerprint.String()).Text(d.ID).End() })
		} else {
			err = s.eachFingerprint(ctx, func(p simhash.Fingerprint) error { return t.Text(p.String()).End() })
		}
		return cmp.Or(err, t.Close())
	})
}

// keepsDocs reports whether the index stores documents, and not only fingerprints.
func (s *exportSource) keepsDocs() bool {
	for _, g := range s.view.Version.Segments {
		if !g.KeepsDocs() {
			return false
		}
	}
	return true
}

// eachDocument calls yield with each document. A document without an ID gets its number as its ID.
func (s *exportSource) eachDocument(ctx context.Context, yield func(rows.Doc) error) (err error) {
	n := int64(0)
	s.counts, err = search.Documents(ctx, s.view, live.Unwrap(s.x).Config().Budget, 0, func(doc rows.DocID, d rows.Doc) error {
		d.ID = cmp.Or(d.ID, strconv.FormatUint(uint64(doc), 10))
		n++
		s.bar.Set(n)
		return yield(d)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", s.dir, err)
	}
	return nil
}

// eachFingerprint calls yield with the distinct fingerprints of an index without documents.
func (s *exportSource) eachFingerprint(ctx context.Context, yield func(simhash.Fingerprint) error) (failed error) {
	err := s.view.Walk(ctx, func(fingerprints []uint64) bool {
		for _, f := range fingerprints {
			if failed = yield(simhash.Fingerprint(f)); failed != nil {
				return false
			}
		}
		s.bareCount += uint64(len(fingerprints))
		s.bar.Set(int64(s.bareCount))
		return true
	})
	return cmp.Or(failed, err)
}

func (s *exportSource) toFile(ctx context.Context, out string) error {
	recipe := s.x.Recipe()
	if !ndf.IsBare(out) {
		switch {
		case !s.keepsDocs():
			return fmt.Errorf("%s: keeps no documents (--ids none), which an .ndf file has: -o FILE.tsv lists its "+
				"fingerprints, for 'ndd build --ids none'", s.dir)
		case recipe == nil:
			return fmt.Errorf("%s: has no recipe, which an .ndf file has: -o FILE.tsv writes lines, which 'ndd build' "+
				"reads, too", s.dir)
		}
	}
	return s.g.WriteFingerprints(out, *cmp.Or(recipe, &simhash.Recipe{}), func(w *ndf.Writer) error {
		if !s.keepsDocs() {
			return s.eachFingerprint(ctx, func(f simhash.Fingerprint) error { return w.Append(ndf.Document{Fingerprint: f}) })
		}
		if s.haveSketches() {
			w.KeepSketches()
		}
		return s.eachDocument(ctx, func(d rows.Doc) error {
			return w.Append(ndf.Document{ID: d.ID, Fingerprint: d.Fingerprint, Sketch: d.Sketch})
		})
	})
}

// haveSketches reports whether all documents have sketches. It warns if only some have them: the file has none then.
func (s *exportSource) haveSketches() bool {
	bare := 0
	for _, g := range s.view.Version.Segments {
		if g.Sketches == nil {
			bare++
		}
	}
	if !live.Unwrap(s.x).Config().Sketches || bare == 0 {
		return live.Unwrap(s.x).Config().Sketches
	}
	s.g.Log.Warn(fmt.Sprintf("%s: %s of %d without sketches, so the file has none: make their fingerprints again to keep the others",
		s.dir, cli.Number(bare, "segment"), len(s.view.Version.Segments)))
	return false
}

// report logs the numbers of documents that were written and left out.
func (s *exportSource) report(out string) {
	to := ""
	if !cli.IsStdout(out) {
		to = " to " + out
	}
	if s.bareCount > 0 {
		s.g.Log.Info(fmt.Sprintf("%s: %s written%s; it keeps no documents", s.dir,
			cli.Number(s.bareCount, "distinct fingerprint"), to))
		return
	}
	message := fmt.Sprintf("%s: %s written%s", s.dir, cli.Number(s.counts.Documents, "document"), to)
	if s.counts.Deleted+s.counts.Expired > 0 {
		message += "; " + GoneText(s.counts.Deleted, s.counts.Expired) + " left out"
	}
	s.g.Log.Info(message)
	if n := s.counts.Expiring; n > 0 {
		s.g.Log.Info(fmt.Sprintf("%s: %s will expire in the index; when is not written", s.dir, cli.Number(n, "document")))
	}
	if !live.Unwrap(s.x).Config().IDs && s.counts.Documents > 0 {
		s.g.Log.Info(s.dir + ": keeps no IDs: the documents' numbers are written in their place; 'ndd build --ids rows' " +
			"does not keep them")
	}
}
