package inspect

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/engine/copies"
	"ndd/engine/corpus/ndf"
	"ndd/engine/index/distribution"
	"ndd/engine/index/live"
	"ndd/engine/index/segment"
	"ndd/engine/storage/store"
	"ndd/engine/storage/wal"
)

func newInspect(g *cli.Globals) *cobra.Command {
	var format cli.ReportFormat
	cmd := &cobra.Command{
		Use:   "inspect FILE...",
		Short: "Describe a file: header, sections, distribution",
		Long: `Describe fingerprint files (.ndf, .bin), files of an index, or all files of an
index: the header, the sections and their sizes, the metadata, and how the
fingerprints are distributed. With --format json, one object per file.

Only headers, footers and small sections are verified; 'ndd check' verifies all.`,
		Example: `  ndd inspect pages.ndf
  ndd inspect index`,
		Args: cli.SomeArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := format.Check(g); err != nil {
				return err
			}
			show := describeText(g.Stdout)
			var rows []cli.CellRow
			switch {
			case format.IsJSON():
				show = describeJSON(g.Stdout)
			case format.IsTable():
				show = func(d *description) error { rows = append(rows, d.rows()...); return nil }
			}
			for _, path := range args {
				if err := inspectPath(cmd.Context(), g, path, show); err != nil {
					return err
				}
			}
			if format.IsTable() {
				return format.Table(g, sectionColumns, rows)
			}
			return nil
		},
	}
	format.Register(cmd, "text", "sections")
	return cmd
}

var sectionColumns = cli.ColumnsOf("path kind section? offset:i? bytes:i documents:i?")

// rows returns the sections of a file, or a row of it as a whole.
func (d *description) rows() (rows []cli.CellRow) {
	for _, s := range d.Sections {
		rows = append(rows, cli.CellRow{d.Path, d.Kind, s.Name, s.Offset, s.Bytes, d.Documents})
	}
	if len(rows) == 0 {
		rows = append(rows, cli.CellRow{d.Path, d.Kind, nil, nil, d.Bytes, d.Documents})
	}
	return rows
}

// A description is what inspect says of one file.
type description struct {
	Path          string         `json:"path"`
	Kind          string         `json:"kind"`
	FormatVersion int            `json:"format_version,omitempty"` // 0 for raw fingerprints, as for what follows
	Identity      string         `json:"identity,omitempty"`
	Generation    uint64         `json:"generation,omitempty"`
	Bytes         uint64         `json:"bytes"`
	Sections      []sectionInfo  `json:"sections,omitempty"`
	Metadata      map[string]any `json:"metadata,omitempty"` // sections that are JSON
	Documents     uint64         `json:"documents,omitempty"`
	Fingerprints  uint64         `json:"fingerprints,omitempty"` // distinct ones of a segment
	K             int            `json:"k,omitempty"`
	Design        string         `json:"design,omitempty"`
	Layout        string         `json:"layout,omitempty"`
	Tables        []tableInfo    `json:"tables,omitempty"`
	Distribution  []string       `json:"distribution,omitempty"`
	Log           *logInfo       `json:"log,omitempty"`
	Beside        *besideInfo    `json:"beside,omitempty"`
}

// logInfo is what inspect says of a file of a write-ahead log.
type logInfo struct {
	Of         string `json:"of"` // identity of the log, which is in the manifest
	Number     uint64 `json:"number"`
	First      uint64 `json:"first_record"`
	Records    uint64 `json:"records"`
	Complete   bool   `json:"complete"` // the log was closed behind it
	Unfinished int64  `json:"unfinished_bytes,omitempty"`
}

type sectionInfo struct {
	Name   string `json:"name"`
	Offset uint64 `json:"offset"`
	Bytes  int    `json:"bytes"`
}

type tableInfo struct {
	Mask    string `json:"mask"`
	Leading int    `json:"leading"`
	Radius  int    `json:"radius"`
}

// inspectPath describes the file at path, or all files of the index there.
func inspectPath(ctx context.Context, g *cli.Globals, path string, show func(*description) error) error {
	folder, _, err := cli.KindOf(path)
	if err != nil {
		return err
	}
	if folder {
		return inspectIndex(ctx, g, path, show)
	}
	d := &description{Path: path}
	if cli.IsRead(path) {
		if err := d.prints(ctx, g); err != nil {
			return err
		}
		return show(d)
	}
	kind, ok, err := store.Sniff(path)
	switch {
	case err != nil:
		return err
	case wal.IsLog(path):
		err = d.log()
	case !ok, kind == store.KindFingerprints:
		err = d.prints(ctx, g)
	default:
		err = d.part(ctx, kind)
	}
	if err != nil {
		return err
	}
	return show(d)
}

// inspectIndex describes the manifest, the segments that it names with what stands beside them, and the
// log.
func inspectIndex(ctx context.Context, g *cli.Globals, dir string, show func(*description) error) error {
	if copies.IsIndex(dir) {
		return inspectCopies(ctx, g, dir, show)
	}
	path, err := live.ManifestPath(dir)
	if err != nil {
		return err
	}
	if err := inspectPath(ctx, g, path, show); err != nil {
		return err
	}
	m, err := live.ReadManifest(dir)
	if err != nil {
		return err
	}
	parts, err := m.SegmentPaths(dir)
	if err != nil {
		return err
	}
	for i, part := range parts {
		if err := inspectPath(ctx, g, part, show); err != nil {
			return err
		}
		if b := m.Segments[i].Beside; b != nil {
			if err := inspectPath(ctx, g, filepath.Join(dir, b.File), show); err != nil {
				return err
			}
		}
	}
	if m.Live == nil {
		return nil
	}
	logs, err := wal.Paths(dir, wal.Mark{File: m.Live.From})
	if err != nil {
		return err
	}
	for _, path := range logs {
		if err := inspectPath(ctx, g, path, show); err != nil {
			return err
		}
	}
	return nil
}

// inspectCopies describes the manifest and the postings of an index to find copies.
func inspectCopies(ctx context.Context, g *cli.Globals, dir string, show func(*description) error) error {
	m, err := copies.ReadManifest(dir)
	if err != nil {
		return err
	}
	for _, path := range m.Paths(dir) {
		if err := inspectPath(ctx, g, path, show); err != nil {
			return err
		}
	}
	return nil
}

// log describes a file of a write-ahead log.
func (d *description) log() error {
	f, err := wal.CheckFile(d.Path, nil)
	if err != nil {
		return err
	}
	d.Kind, d.FormatVersion, d.Bytes = "write-ahead log", wal.Version, uint64(f.Bytes+f.Torn)
	d.Identity = fmt.Sprintf("%x", f.Identity)
	d.Log = &logInfo{Of: fmt.Sprintf("%x", f.Log), Number: f.Number, First: uint64(f.First), Records: f.Records, Complete: f.Clean, Unfinished: f.Torn}
	return nil
}

// prints describes a fingerprint file.
func (d *description) prints(ctx context.Context, g *cli.Globals) (err error) {
	defer store.CatchFault(&err)()
	f, err := g.OpenPrintFile(d.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	d.Kind, d.Bytes, d.Documents = "raw fingerprints", 8*f.Len(), f.Len()
	if s := f.Store(); s != nil {
		if err := d.container(s); err != nil {
			return err
		}
	}
	c, err := countPrints(ctx, f)
	d.Distribution = c.Words()
	return err
}

// part describes a file of an index.
func (d *description) part(ctx context.Context, kind store.Kind) (err error) {
	defer store.CatchFault(&err)()
	f, err := store.Open(d.Path, kind)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := d.container(f); err != nil {
		return err
	}
	if kind == store.KindPostings {
		documents, stats, err := copies.CheckSegment(ctx, d.Path, 1)
		d.Documents, d.Distribution = documents, DescribeLists(stats)
		return err
	}
	if kind == store.KindDocuments {
		return d.beside(f)
	}
	if kind != store.KindSegment {
		return nil
	}
	s, err := segment.Open(f)
	if err != nil {
		return fmt.Errorf("%s: %w", d.Path, err)
	}
	defer s.Close()
	design := s.Design()
	d.Documents, d.Fingerprints = s.Documents()/segmentPrints(d.Path), s.Fingerprints()
	d.K, d.Design, d.Layout = design.K, design.Name, string(s.Layout())
	for _, t := range design.Tables {
		d.Tables = append(d.Tables, tableInfo{fmt.Sprintf("%016x", t.Mask), t.Leading(), t.Radius})
	}
	c, err := countSegment(ctx, s)
	if err != nil {
		return fmt.Errorf("%s: %w", d.Path, err)
	}
	d.Distribution = c.Words()
	return nil
}

// segmentPrints returns how many fingerprints a document of an index's segment has, each of which is a row of it: what the manifest
// beside it says, and 1 where there is none.
func segmentPrints(path string) uint64 {
	m, err := live.ReadManifest(filepath.Dir(path))
	if err != nil {
		return 1
	}
	return uint64(m.Recipe.PrintsEach())
}

// countSegment counts the bits of a segment's fingerprints, until ctx ends.
func countSegment(ctx context.Context, s *segment.Segment) (*distribution.Counts, error) {
	c := new(distribution.Counts)
	err := s.Walk(func(fingerprints []uint64) bool {
		c.Add(fingerprints)
		return ctx.Err() == nil
	})
	return c, cmp.Or(err, ctx.Err())
}

// countPrints counts the bits of a file's fingerprints, until ctx ends.
func countPrints(ctx context.Context, f *ndf.File) (*distribution.Counts, error) {
	c := new(distribution.Counts)
	for chunk := range f.Chunks {
		for part := range slices.Chunk(chunk, 1<<20) {
			if err := ctx.Err(); err != nil {
				return c, err
			}
			c.Add(part)
		}
	}
	return c, nil
}

// container describes what every file of ndd has. Metadata is copied: it outlives the file.
func (d *description) container(f *store.File) error {
	if err := f.VerifySmall(); err != nil {
		return err
	}
	id := f.Identity()
	d.Kind, d.FormatVersion, d.Bytes = f.Kind().String(), store.Version, f.Bytes()
	d.Identity, d.Generation = fmt.Sprintf("%x", id.ID), id.Generation
	for _, s := range f.Sections() {
		d.Sections = append(d.Sections, sectionInfo{s.Name, uint64(s.Offset), len(s.Data)})
		var text bytes.Buffer // the content of the sections that are JSON; a segment's is said in words
		if (s.Name == "recipe" || s.Name == "manifest") && json.Compact(&text, s.Data) == nil {
			if d.Metadata == nil {
				d.Metadata = map[string]any{}
			}
			d.Metadata[s.Name] = json.RawMessage(text.Bytes())
		}
	}
	return nil
}

// describeJSON returns what writes descriptions as an object per line.
func describeJSON(w io.Writer) func(*description) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return func(d *description) error { return e.Encode(d) }
}

// describeText returns what writes descriptions for a person, with an empty line between two.
func describeText(w io.Writer) func(*description) error {
	first := true
	return func(d *description) error {
		if !first {
			fmt.Fprintln(w)
		}
		first = false
		return d.text(w)
	}
}

func (d *description) text(w io.Writer) error {
	if d.FormatVersion == 0 {
		fmt.Fprintf(w, "%s: raw fingerprints without a header or checksums, %s\n", d.Path, humanize.IBytes(d.Bytes))
	} else {
		fmt.Fprintf(w, "%s: %s, format version %d, %s (%s bytes)\n", d.Path, d.Kind, d.FormatVersion,
			humanize.IBytes(d.Bytes), humanize.Comma(int64(d.Bytes)))
		if d.Log != nil {
			return d.Log.text(w, d.Identity)
		}
		fmt.Fprintf(w, "identity: %s, generation %d\n", d.Identity, d.Generation)
		if err := d.sections(w); err != nil {
			return err
		}
	}
	switch {
	case d.Design != "":
		fmt.Fprintf(w, "documents: %s, with %s\n", humanize.Comma(int64(d.Documents)), cli.Number(d.Fingerprints, "distinct fingerprint"))
		fmt.Fprintf(w, "design: %s, for distances up to %d: %s, %s\n", d.Design, d.K, cli.Number(len(d.Tables), "table"), d.Layout)
		for i, t := range d.Tables {
			fmt.Fprintf(w, "  table %d: mask %s, %d leading bits, radius %d\n", i, t.Mask, t.Leading, t.Radius)
		}
	case d.Distribution != nil:
		fmt.Fprintf(w, "documents: %s\n", humanize.Comma(int64(d.Documents)))
	case d.Beside != nil:
		return d.Beside.text(w, d.Documents)
	}
	return inWords(w, d.Distribution)
}

// text writes what is to be said of a file of a log.
func (l *logInfo) text(w io.Writer, identity string) error {
	end := "not closed"
	if l.Complete {
		end = "closed"
	}
	if l.Unfinished > 0 {
		end = fmt.Sprintf("%d bytes at its end are unfinished and were never acknowledged", l.Unfinished)
	}
	_, err := fmt.Fprintf(w, "identity: %s, file %d of log %s\nrecords: %s, from record %d on; %s\n",
		identity, l.Number, l.Of, humanize.Comma(int64(l.Records)), l.First, end)
	return err
}

// sections writes the table of sections, and the metadata.
func (d *description) sections(w io.Writer) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "section\toffset\tbytes\tpart\t")
	for _, s := range d.Sections {
		fmt.Fprintf(tab, "%s\t%#x\t%d\t%.1f %%\t\n", s.Name, s.Offset, s.Bytes, 100*float64(s.Bytes)/float64(d.Bytes))
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	for _, s := range d.Sections {
		if text, ok := d.Metadata[s.Name]; ok {
			fmt.Fprintf(w, "%s: %s\n", s.Name, text)
		}
	}
	return nil
}

func inWords(w io.Writer, words []string) (err error) {
	for _, line := range words {
		_, err = fmt.Fprintln(w, line)
	}
	return err
}
