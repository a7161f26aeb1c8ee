package inspect

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/engine"
	"ndd/engine/index/distribution"
	"ndd/engine/index/live"
	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/plot"
	"ndd/engine/storage/store"
)

func newStats(g *cli.Globals) *cobra.Command {
	var verify live.Verify
	var format cli.ReportFormat
	var plots string
	cmd := &cobra.Command{
		Use:   "stats INDEX|FILE [--plot DIR]",
		Short: "Report sizes, bits per fingerprint, and distributions",
		Long: `Report the sizes of an index, of one of its segments, or of a fingerprint file: by
section, by table, and by part of a table, in bits per distinct fingerprint beside
the entropy bound, 64 - log2 n + 1.44, below which no table of n uniform
fingerprints can be; and how the fingerprints are distributed: how often each bit
is set (figure 2a of the paper), and how many fingerprints are in each of 128
intervals (figure 2b). All fingerprints are read. --plot draws both figures as SVG.`,
		Example: `  ndd stats index
  ndd stats --checksums fast --format json index
  ndd stats --plot figures pages.ndf`,
		Args: cli.OneArg("INDEX or FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := format.Check(g); err != nil {
				return err
			}
			s, err := statisticsOf(cmd.Context(), g, args[0], verify)
			if err != nil {
				return err
			}
			if plots != "" {
				if err := s.plot(g, plots); err != nil {
					return err
				}
			}
			switch {
			case format.IsJSON():
				return format.JSON(g, s)
			case format.IsTable():
				return format.Table(g, partColumns, s.rows())
			}
			return s.text(g.Stdout)
		},
	}
	cmd.Flags().Var(&verify, "checksums", "how to verify an index: full, or fast, which does not verify large sections")
	format.Register(cmd, "text", "sections and parts of tables")
	g.RegisterForce(cmd)
	cmd.Flags().StringVar(&plots, "plot", "", "folder to create, with figure-2a.svg and figure-2b.svg")
	return cmd
}

// statistics are the output of stats. Bits are a distinct fingerprint, in a file
// of documents a document.
type statistics struct {
	Path         string       `json:"path"`
	Kind         string       `json:"kind"`
	Bytes        uint64       `json:"bytes"`
	Documents    uint64       `json:"documents"`
	NoDocs       bool         `json:"no_documents,omitempty"` // the fingerprints alone are kept
	Fingerprints uint64       `json:"fingerprints,omitempty"` // distinct within each segment
	K            int          `json:"k,omitempty"`
	Design       string       `json:"design,omitempty"`
	Layout       string       `json:"layout,omitempty"`
	Deleted      uint64       `json:"deleted,omitempty"`   // of the documents, those that a merge will drop
	Expired      uint64       `json:"expired,omitempty"`   // likewise, since their time is over
	Unflushed    uint64       `json:"unflushed,omitempty"` // documents that are in the log and in no segment yet
	Bound        float64      `json:"bound_bits,omitempty"`
	Choice       *live.Choice `json:"choice,omitempty"` // of tables and layout, and why
	Files        []fileStats  `json:"files"`
	Ones         [64]float64  `json:"ones_by_bit"` // from bit 0
	Leading      []uint64     `json:"fingerprints_by_interval"`
	counts       distribution.Counts
}

// fileStats are one file's.
type fileStats struct {
	Path      string       `json:"path"`
	Design    string       `json:"design,omitempty"` // of a segment's tables
	Bytes     uint64       `json:"bytes"`
	Sections  []partStats  `json:"sections,omitempty"`
	Container partStats    `json:"container"` // header, padding, sums, footer, trailer
	Tables    []tableStats `json:"tables,omitempty"`
}

type tableStats struct {
	Mask    string      `json:"mask"`
	Leading int         `json:"leading"`
	Radius  int         `json:"radius"`
	Bits    float64     `json:"bits"`
	Parts   []partStats `json:"parts"`
}

type partStats struct {
	Name  string  `json:"name"`
	Bytes uint64  `json:"bytes"`
	Bits  float64 `json:"bits"`
}

func statisticsOf(ctx context.Context, g *cli.Globals, path string, verify live.Verify) (s *statistics, err error) {
	defer store.CatchFault(&err)()
	s = &statistics{Path: path}
	folder, kind, err := cli.KindOf(path)
	if err != nil {
		return nil, err
	}
	switch {
	case folder:
		err = s.index(ctx, g, verify)
	case kind == store.KindSegment:
		err = s.segmentFile(ctx, g, verify)
	default:
		err = s.prints(ctx, g) // refuses a manifest
	}
	if err != nil {
		return nil, err
	}
	for bit := range s.Ones {
		s.Ones[bit] = s.counts.Fraction(bit)
	}
	s.Leading = s.counts.Leading[:]
	return s, nil
}

func (s *statistics) index(ctx context.Context, g *cli.Globals, verify live.Verify) error {
	bar := g.NewBar("verifying", 0, cli.BytesUnit)
	x, err := engine.Open(ctx, s.Path, engine.OpenOptions{Threads: g.Threads, Verify: verify,
		Progress: bar.SetOf})
	bar.End()
	if err != nil {
		return err
	}
	defer x.Close()
	s.Kind, s.Choice, s.Design = "index", x.Live().Config().Choice, x.Design().Name
	held := x.Stats()
	s.K, s.Layout = x.Design().K, string(x.Live().Config().Table.Layout) // those of the segments, if there are any yet
	s.Deleted, s.Expired, s.Unflushed = held.Deleted, held.Expired, held.Unflushed
	for _, p := range x.Live().Parts() {
		if p.File == nil {
			continue // of the log
		}
		if err := s.segment(ctx, p.File, p.Segment); err != nil {
			return err
		}
	}
	return nil
}

func (s *statistics) segmentFile(ctx context.Context, g *cli.Globals, verify live.Verify) error {
	f, err := store.Open(s.Path, store.KindSegment)
	if err != nil {
		return err
	}
	defer f.Close()
	if verify == engine.VerifyFull {
		err = f.Verify(ctx, g.Threads, nil)
	} else {
		err = f.VerifySmall()
	}
	if err != nil {
		return err
	}
	open, err := segment.Open(f)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Path, err)
	}
	defer open.Close()
	s.Kind = f.Kind().String()
	return s.segment(ctx, f, open)
}

func (s *statistics) segment(ctx context.Context, f *store.File, g *segment.Segment) error {
	d := g.Design()
	s.Documents += g.Documents() / segmentPrints(f.Path())
	s.Fingerprints += g.Fingerprints()
	s.NoDocs = !g.KeepsDocs()
	if s.K, s.Layout = d.K, string(g.Layout()); s.Design == "" {
		s.Design = d.Name
	}
	s.Bound = distribution.Bound(s.Fingerprints)
	file := s.file(f, g.Fingerprints())
	file.Design = d.Name
	for i, t := range g.Tables() {
		ts := tableStats{Mask: fmt.Sprintf("%016x", d.Tables[i].Mask), Leading: d.Tables[i].Leading(), Radius: d.Tables[i].Radius,
			Bits: bitsEach(table.Bytes(t), g.Fingerprints())}
		for _, p := range t.Parts() {
			ts.Parts = append(ts.Parts, partStats{p.Name, p.Bytes, bitsEach(p.Bytes, g.Fingerprints())})
		}
		file.Tables = append(file.Tables, ts)
	}
	s.Files = append(s.Files, file)
	c, err := countSegment(ctx, g)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path(), err)
	}
	s.counts.Merge(c)
	return nil
}

func (s *statistics) prints(ctx context.Context, g *cli.Globals) error {
	f, err := g.OpenPrintFile(s.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	s.Documents = f.Len()
	if of := f.Store(); of != nil {
		if err := of.Verify(ctx, g.Threads, nil); err != nil {
			return err
		}
		s.Kind = of.Kind().String()
		s.Files = append(s.Files, s.file(of, f.Len()))
	} else {
		s.Kind, s.Bytes = "raw fingerprints", 8*f.Len()
		s.Files = append(s.Files, fileStats{Path: s.Path, Bytes: s.Bytes})
	}
	c, err := countPrints(ctx, f)
	s.counts.Merge(c)
	return err
}

// file adds a file's bytes; sections of one name are added up.
func (s *statistics) file(f *store.File, fingerprints uint64) fileStats {
	s.Bytes += f.Bytes()
	fs := fileStats{Path: f.Path(), Bytes: f.Bytes()}
	at := make(map[string]int)
	rest := f.Bytes()
	for _, section := range f.Sections() {
		i, ok := at[section.Name]
		if !ok {
			i = len(fs.Sections)
			at[section.Name] = i
			fs.Sections = append(fs.Sections, partStats{Name: section.Name})
		}
		fs.Sections[i].Bytes += uint64(len(section.Data))
		rest -= uint64(len(section.Data))
	}
	for i := range fs.Sections {
		fs.Sections[i].Bits = bitsEach(fs.Sections[i].Bytes, fingerprints)
	}
	fs.Container = partStats{"header, padding, checksums", rest, bitsEach(rest, fingerprints)}
	return fs
}

func bitsEach(bytes, n uint64) float64 {
	if n == 0 {
		return 0
	}
	return float64(bytes) * 8 / float64(n)
}

var partColumns = cli.ColumnsOf("path table:i? part bytes:i bits_per_fingerprint:r")

// rows returns the sections of all files, and the parts of their tables.
func (s *statistics) rows() (rows []cli.CellRow) {
	for _, f := range s.Files {
		for _, p := range append(f.Sections[:len(f.Sections):len(f.Sections)], f.Container) {
			if p.Name != "" {
				rows = append(rows, cli.CellRow{f.Path, nil, p.Name, p.Bytes, p.Bits})
			}
		}
		for i, t := range f.Tables {
			for _, p := range t.Parts {
				rows = append(rows, cli.CellRow{f.Path, i, p.Name, p.Bytes, p.Bits})
			}
		}
		if len(f.Sections) == 0 {
			rows = append(rows, cli.CellRow{f.Path, nil, "fingerprints", f.Bytes, bitsEach(f.Bytes, s.Documents)})
		}
	}
	return rows
}

func (s *statistics) text(w io.Writer) error {
	fmt.Fprintf(w, "%s: %s, %s", s.Path, s.Kind, cli.Number(s.Documents, "document"))
	if s.Fingerprints > 0 {
		fmt.Fprintf(w, " with %s", cli.Number(s.Fingerprints, "distinct fingerprint"))
	}
	if s.Design != "" {
		fmt.Fprintf(w, ", k = %d, %s, %s", s.K, s.Design, s.Layout)
	}
	if s.NoDocs {
		io.WriteString(w, "; the fingerprints alone are kept")
	}
	io.WriteString(w, droppedText(s.Deleted, s.Expired))
	if s.Unflushed > 0 {
		fmt.Fprintf(w, "; %s in the log", cli.Number(s.Unflushed, "further document"))
	}
	fmt.Fprintf(w, "\n%s (%s bytes)", humanize.IBytes(s.Bytes), humanize.Comma(int64(s.Bytes)))
	if s.Documents > 0 {
		fmt.Fprintf(w, ", %.2f bytes per document", float64(s.Bytes)/float64(s.Documents))
	}
	fmt.Fprintln(w)
	if s.Choice != nil {
		fmt.Fprintf(w, "\nWhy ndd build chose these tables (kernel %s, one thread):\n", s.Choice.Kernel)
		for _, why := range s.Choice.Why {
			fmt.Fprintf(w, "  %s\n", why)
		}
	}
	for i := range s.Files {
		if err := s.Files[i].text(w, s.Bound, s.Design); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	inWords(w, s.counts.Words())
	if s.counts.Fingerprints > 0 {
		s.figures(w)
	}
	return nil
}

func (f *fileStats) text(w io.Writer, bound float64, design string) error {
	fmt.Fprintf(w, "\n%s", f.Path)
	if f.Design != "" && f.Design != design {
		fmt.Fprintf(w, ", a small segment with tables of its own, %s", f.Design)
	}
	fmt.Fprintln(w)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(p partStats) {
		fmt.Fprintf(tab, "%s\t%s\t%.3f\t\n", p.Name, humanize.Comma(int64(p.Bytes)), p.Bits)
	}
	if len(f.Sections) > 0 {
		fmt.Fprintln(tab, "section\tbytes\tbits per fingerprint\t")
		for _, p := range append(f.Sections[:len(f.Sections):len(f.Sections)], f.Container) {
			line(p)
		}
	}
	for i, t := range f.Tables {
		if err := tab.Flush(); err != nil {
			return err
		}
		fmt.Fprintf(w, "table %d: mask %s, %d leading bits, radius %d: %.3f bits per fingerprint, %+.3f against the bound of %.3f\n",
			i, t.Mask, t.Leading, t.Radius, t.Bits, t.Bits-bound, bound)
		for _, p := range t.Parts {
			line(p)
		}
	}
	return tab.Flush()
}

// figures writes the paper's figures 2a and 2b: a bar of 50 for all, and of 20 for an
// equal share.
func (s *statistics) figures(w io.Writer) {
	fmt.Fprint(w, "\nFraction of fingerprints in which each bit is set, leading bit first (figure 2a)\n")
	for bit := 63; bit >= 0; bit-- {
		fmt.Fprintf(w, "%3d  %.4f  %s\n", bit, s.Ones[bit], bar50(s.Ones[bit]))
	}
	fmt.Fprintf(w, "\nFingerprints in each of %d equal intervals: number, and ratio to an equal share (figure 2b)\n", len(s.Leading))
	for i, n := range s.Leading {
		fmt.Fprintf(w, "%3d  %12d  %6.3f  %s\n", i, n, s.counts.Share(i), bar50(0.4*s.counts.Share(i)))
	}
}

// plot draws the figures into a new folder.
func (s *statistics) plot(g *cli.Globals, path string) error {
	dir, err := g.CreateFolder(path, cli.Named("figure-2a.svg", "figure-2b.svg"))
	if err != nil {
		return err
	}
	defer dir.Abort()
	of := fmt.Sprintf("%s (%s)", filepath.Base(s.Path), cli.Number(s.counts.Fingerprints, "fingerprint"))
	a := plot.Bars{Title: "Fraction of fingerprints with each bit set: " + of, X: "bit, leading bit first", Y: "fraction", Top: 1, Line: 0.5, Every: 8}
	for bit := 63; bit >= 0; bit-- {
		a.Values, a.Labels = append(a.Values, s.Ones[bit]), append(a.Labels, bit)
	}
	b := plot.Bars{Title: "Fingerprints by interval: " + of, X: fmt.Sprintf("interval, of %d equal ones", len(s.Leading)),
		Y: "ratio to an equal share", Line: 1, Every: 16}
	for i := range s.Leading {
		b.Values = append(b.Values, s.counts.Share(i))
	}
	for name, figure := range map[string]*plot.Bars{"figure-2a.svg": &a, "figure-2b.svg": &b} {
		if err := dir.Write(name, func(w *bufio.Writer) error { _, err := figure.WriteTo(w); return err }); err != nil {
			return err
		}
	}
	return dir.Commit()
}

func bar50(part float64) string {
	return strings.Repeat("#", int(math.Round(50*min(part, 1))))
}
