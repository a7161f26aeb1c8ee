package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ndd/engine/corpus/ndf"
	"ndd/engine/index/distribution"
	"ndd/engine/index/live"
	"ndd/engine/index/segment"
	"ndd/engine/storage/store"
)

func newInspect(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "inspect FILE...",
		Short: "Describe a file: header, sections, distribution",
		Long: `Describe fingerprint files (.ndf, .bin), files of an index, or all files of an
index: the header, the sections and their sizes, the metadata, and how the
fingerprints are distributed.

Only headers, footers and small sections are verified; 'ndd check' verifies all.`,
		Example: `  ndd inspect pages.ndf
  ndd inspect index`,
		Args: someArgs("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			for i, path := range args {
				if i > 0 {
					fmt.Fprintln(g.stdout)
				}
				if err := g.inspect(path); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func (g *globals) inspect(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return g.inspectIndex(path)
	}
	kind, ok, err := store.Sniff(path)
	switch {
	case err != nil:
		return err
	case !ok, kind == store.KindFingerprints:
		return g.inspectPrints(path)
	}
	return g.inspectPart(path, kind)
}

// inspectIndex describes the manifest, and then the segments that it names.
func (g *globals) inspectIndex(dir string) error {
	path, err := live.ManifestPath(dir)
	if err != nil {
		return err
	}
	if err := g.inspect(path); err != nil {
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
	for _, part := range parts {
		fmt.Fprintln(g.stdout)
		if err := g.inspect(part); err != nil {
			return err
		}
	}
	return nil
}

func (g *globals) inspectPrints(path string) (err error) {
	defer store.CatchFault(&err)()
	f, err := ndf.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if s := f.Store(); s != nil {
		if err := inspectFile(g.stdout, s); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(g.stdout, "%s: raw fingerprints without a header or checksums, %s\n", path, humanize.IBytes(8*f.Len()))
	}
	var c distribution.Counts
	for chunk := range f.Chunks {
		c.Add(chunk)
	}
	fmt.Fprintf(g.stdout, "documents: %s\n", humanize.Comma(int64(f.Len())))
	inWords(g.stdout, &c)
	return nil
}

func (g *globals) inspectPart(path string, kind store.Kind) (err error) {
	defer store.CatchFault(&err)()
	f, err := store.Open(path, kind)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := inspectFile(g.stdout, f); err != nil || kind != store.KindSegment {
		return err
	}
	s, err := segment.Open(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer s.Close()
	d := s.Design()
	fmt.Fprintf(g.stdout, "documents: %s, with %s distinct fingerprints\n",
		humanize.Comma(int64(s.Documents())), humanize.Comma(int64(s.Fingerprints())))
	fmt.Fprintf(g.stdout, "design: %s, for distances up to %d: %d tables, %s\n", d.Name, d.K, len(d.Tables), s.Layout())
	for i, t := range d.Tables {
		fmt.Fprintf(g.stdout, "  table %d: mask %016x, %d leading bits, radius %d\n", i, t.Mask, t.Leading(), t.Radius)
	}
	c, err := countSegment(s)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	inWords(g.stdout, c)
	return nil
}

func countSegment(s *segment.Segment) (*distribution.Counts, error) {
	c := new(distribution.Counts)
	return c, s.Walk(func(fingerprints []uint64) bool {
		c.Add(fingerprints)
		return true
	})
}

func inWords(w io.Writer, c *distribution.Counts) {
	for _, line := range c.Words() {
		fmt.Fprintln(w, line)
	}
}

// inspectFile says what the container holds.
func inspectFile(w io.Writer, f *store.File) error {
	if err := f.VerifySmall(); err != nil {
		return err
	}
	id := f.Identity()
	fmt.Fprintf(w, "%s: %s, format version %d, %s (%s bytes)\n", f.Path(), f.Kind(), store.Version,
		humanize.IBytes(f.Bytes()), humanize.Comma(int64(f.Bytes())))
	fmt.Fprintf(w, "identity: %x, generation %d\n", id.ID, id.Generation)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tab, "section\toffset\tbytes\tpart\t")
	for _, s := range f.Sections() {
		fmt.Fprintf(tab, "%s\t%#x\t%d\t%.1f %%\t\n", s.Name, s.Offset, len(s.Data), 100*float64(len(s.Data))/float64(f.Bytes()))
	}
	if err := tab.Flush(); err != nil {
		return err
	}
	for _, s := range f.Sections() {
		if text, ok := jsonText(s); ok {
			fmt.Fprintf(w, "%s: %s\n", s.Name, text)
		}
	}
	return nil
}

// jsonText is the content of the sections that are JSON; a segment's is said in
// words instead.
func jsonText(s store.Section) (string, bool) {
	if s.Name != "recipe" && s.Name != "manifest" {
		return "", false
	}
	var out bytes.Buffer
	if json.Compact(&out, s.Data) != nil {
		return "", false
	}
	return strings.TrimSpace(out.String()), true
}
