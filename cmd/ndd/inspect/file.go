package inspect

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/copies"
	"example.org/ndd/engine/index/distribution"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/storage/store"
)

// A file is a report on one file. Bits are bits per distinct fingerprint, or per document in a file of documents.
type file struct {
	Path string `json:"path"`
	Kind string `json:"kind"`
	// FormatVersion is 0 for raw fingerprints, which have none of the fields below.
	FormatVersion int            `json:"format_version,omitempty"`
	Identity      string         `json:"identity,omitempty"`
	Generation    uint64         `json:"generation,omitempty"`
	Bytes         uint64         `json:"bytes"`
	Sections      []part         `json:"sections,omitempty"`
	Metadata      map[string]any `json:"metadata,omitempty"` // sections that are JSON
	Documents     uint64         `json:"documents,omitempty"`
	segmentInfo

	method      string // method of a signature file
	sketchBytes uint64
	hashBytes   uint64
}

// A segmentInfo describes the tables of a segment.
type segmentInfo struct {
	Fingerprints uint64      `json:"fingerprints,omitempty"` // distinct ones
	Design       string      `json:"design,omitempty"`
	Bound        float64     `json:"bound_bits,omitempty"`
	Tables       []tableInfo `json:"tables,omitempty"`

	k      int
	layout string
	noDocs bool // the segment stores no documents
}

// A part describes a section of a file, or a part of a table.
type part struct {
	Name   string  `json:"name"`
	Offset uint64  `json:"offset,omitempty"`
	Bytes  uint64  `json:"bytes"`
	Bits   float64 `json:"bits"`
}

type tableInfo struct {
	Mask    string  `json:"mask"`
	Leading int     `json:"leading"`
	Radius  int     `json:"radius"`
	Bits    float64 `json:"bits"`
	Parts   []part  `json:"parts"`
}

// describe returns the report on the file at path. If count is not nil, it reads everything and calls count with all
// fingerprints.
func describe(ctx context.Context, g *cli.Files, path string, count func([]uint64)) (f *file, err error) {
	f = &file{Path: path}
	if cli.IsStream(path) {
		return f, f.describeFingerprints(ctx, g, count)
	}
	kind, ok, err := store.Sniff(path)
	switch {
	case err != nil:
		return nil, err
	case !ok, g.Raw, kind == store.KindFingerprints, kind == store.KindLog: // a log is refused
		return f, f.describeFingerprints(ctx, g, count)
	}
	return f, f.describePart(ctx, g, kind, count)
}

func (f *file) describeFingerprints(ctx context.Context, g *cli.Files, count func([]uint64)) error {
	p, err := g.OpenFingerprints(f.Path)
	if err != nil {
		return err
	}
	defer p.Close()
	f.Kind, f.Bytes, f.Documents = "raw fingerprints", 8*p.Len(), p.Len()
	if s := p.Store(); s != nil {
		if err := f.describeSections(s, p.Len()); err != nil {
			return err
		}
	}
	if count == nil {
		return nil
	}
	return cli.EachChunk(ctx, p, count)
}

func (f *file) describePart(ctx context.Context, g *cli.Files, kind store.Kind, count func([]uint64)) error {
	s, err := store.Open(f.Path, kind)
	if err != nil {
		return err
	}
	defer s.Close()
	switch {
	case kind == store.KindSegment:
		return f.describeSegment(ctx, s, count)
	case kind == store.KindSignatures:
		signatures, err := copies.Open(ctx, f.Path, g.Threads)
		if err != nil {
			return err
		}
		defer signatures.Close()
		f.Documents, f.method = signatures.Documents(), string(signatures.Recipe().Method)
	}
	return f.describeSections(s, 0)
}

func (f *file) describeSegment(ctx context.Context, s *store.File, count func([]uint64)) error {
	if err := s.VerifySmall(); err != nil {
		return err
	}
	g, err := segment.Open(s)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	defer g.Close()
	d := g.Design()
	f.Documents, f.Fingerprints, f.noDocs = g.Documents(), g.Fingerprints(), !g.KeepsDocs()
	f.k, f.Design, f.layout, f.Bound = d.K, d.Name, string(g.Layout()), distribution.Bound(g.Fingerprints())
	for i, t := range g.Tables() {
		info := tableInfo{Mask: fmt.Sprintf("%016x", d.Tables[i].Mask), Leading: d.Tables[i].Leading(),
			Radius: d.Tables[i].Radius,
			Bits:   bitsEach(table.Bytes(t), g.Fingerprints())}
		for _, p := range t.Parts() {
			info.Parts = append(info.Parts, part{Name: p.Name, Bytes: p.Bytes, Bits: bitsEach(p.Bytes, g.Fingerprints())})
		}
		f.Tables = append(f.Tables, info)
	}
	if count != nil {
		err := g.Walk(func(fingerprints []uint64) bool {
			count(fingerprints)
			return ctx.Err() == nil
		})
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	return f.describeSections(s, g.Fingerprints())
}

// describeSections describes the sections of a file with a number of fingerprints. It copies the metadata, which is
// used after the file is closed.
func (f *file) describeSections(s *store.File, fingerprints uint64) error {
	if err := s.VerifySmall(); err != nil {
		return err
	}
	id := s.Identity()
	f.Kind, f.FormatVersion, f.Bytes = s.Kind().String(), store.Version, s.Bytes()
	f.Identity, f.Generation = fmt.Sprintf("%x", id.ID), id.Generation
	unnamed := s.Bytes()
	for _, section := range s.Sections() {
		n := uint64(len(section.Data))
		unnamed -= n
		if strings.HasPrefix(section.Name, "sketches") {
			f.sketchBytes += n
		}
		if s.Kind() == store.KindFingerprints && strings.Contains(section.Name, "hashes") {
			f.hashBytes += n
		}
		f.Sections = append(f.Sections, part{section.Name, uint64(section.Offset), n, bitsEach(n, fingerprints)})
		var text bytes.Buffer
		if (section.Name == "recipe" || section.Name == "manifest") && json.Compact(&text, section.Data) == nil {
			f.Metadata = map[string]any{section.Name: json.RawMessage(text.Bytes())}
		}
	}
	f.Sections = append(f.Sections, part{Name: "header, padding, checksums", Bytes: unnamed,
		Bits: bitsEach(unnamed, fingerprints)})
	return nil
}

func bitsEach(bytes, n uint64) float64 {
	if n == 0 {
		return 0
	}
	return float64(bytes) * 8 / float64(n)
}

// text writes the report as text. design is the index's: a segment with other tables names its own design.
func (f *file) text(w io.Writer, design string) error {
	// Write the head.
	if f.FormatVersion == 0 {
		_, err := fmt.Fprintf(w, "\n%s: raw fingerprints without a header or checksums\n", f.Path)
		return err
	}
	fmt.Fprintf(w, "\n%s: %s, format version %d, %s", f.Path, f.Kind, f.FormatVersion, humanize.IBytes(f.Bytes))
	if f.Design != "" && f.Design != design {
		fmt.Fprintf(w, ", a small segment with tables of its own, %s", f.Design)
	}
	fmt.Fprintf(w, "\nidentity: %s, generation %d\n", f.Identity, f.Generation)
	// Write the sections.
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(p part) {
		fmt.Fprintf(tab, "%s\t%#x\t%s\t%.1f %%\t%.3f\t\n", p.Name, p.Offset, humanize.Comma(int64(p.Bytes)),
			100*float64(p.Bytes)/float64(f.Bytes), p.Bits)
	}
	if len(f.Sections) > 0 {
		fmt.Fprintln(tab, "section\toffset\tbytes\tpart\tbits per fingerprint\t")
	}
	for _, p := range f.Sections {
		line(p)
	}
	// Write the tables with their parts.
	for i, t := range f.Tables {
		if err := tab.Flush(); err != nil {
			return err
		}
		fmt.Fprintf(w, "table %d: mask %s, %d leading bits, radius %d: %.3f bits per fingerprint, %+.3f against the "+
			"bound of %.3f\n",
			i, t.Mask, t.Leading, t.Radius, t.Bits, t.Bits-f.Bound, f.Bound)
		for _, p := range t.Parts {
			line(p)
		}
	}
	// Write the metadata.
	err := tab.Flush()
	for name, text := range f.Metadata {
		_, err = fmt.Fprintf(w, "%s: %s\n", name, text)
	}
	return err
}
