// Package inspect holds the commands that read indexes and files without changing them: check verifies
// every checksum, info summarises an index or a file.
package inspect

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/distribution"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/index/radix"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/store"
)

// Commands returns the commands of this package.
func Commands(g *cli.Globals) []*cobra.Command {
	return []*cobra.Command{newCheck(g.NewFiles()), newInfo(g.NewFiles())}
}

func newInfo(g *cli.Files) *cobra.Command {
	var format string
	var long bool
	var plots string
	cmd := &cobra.Command{
		Use:   "info [flags] INDEX|FILE...",
		Short: "Summarise an index or a file; with --sections, all that is in it",
		Long: `Summarise indexes, files of an index, and fingerprint files: kind, documents, design,
bytes. 'ndd check' verifies all of them.`,
		Annotations: cli.HelpOf("Guide: ndd help indexes", "Output: sections plot=DIR format=FORMAT"),
		Example: `  ndd info index
  ndd info --sections index pages.ndf
  ndd info --plot figures pages.ndf`,
		Args: cli.SomeArgs("INDEX or FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if plots != "" && len(args) > 1 {
				return cli.Usagef("--plot draws one INDEX or FILE")
			}
			var all []*info
			for _, path := range args {
				x, err := infoOf(cmd.Context(), g, path, long, plots != "")
				if err != nil {
					return err
				}
				all = append(all, x)
			}
			if plots != "" {
				if err := all[0].plot(cmd.Context(), g, plots); err != nil {
					return err
				}
			}
			return write(g, format, all)
		},
	}
	cli.WordVar(cmd.Flags(), &format, "format", "format of the output: text or json", "text", "json")
	g.RegisterForce(cmd)
	g.RegisterRaw(cmd)
	cmd.Flags().BoolVar(&long, "sections", false, "also show sections, tables and the distribution")
	cmd.Flags().StringVar(&plots, "plot", "", "folder to create for "+strings.Join(distribution.FigureNames, ", "))
	return cmd
}

func write(g *cli.Files, format string, all []*info) error {
	lines := json.NewEncoder(g.Stdout)
	lines.SetEscapeHTML(false)
	for i, x := range all {
		if format == "json" {
			if err := lines.Encode(x); err != nil {
				return err
			}
			continue
		}
		if i > 0 {
			fmt.Fprintln(g.Stdout)
		}
		if err := x.text(g.Stdout); err != nil {
			return err
		}
	}
	return nil
}

// An info is a report on an index or a file. Files and spread are filled only with --sections.
type info struct {
	Path         string `json:"path"`
	Kind         string `json:"kind"`
	Bytes        uint64 `json:"bytes"`
	Documents    uint64 `json:"documents"`
	NoDocs       bool   `json:"no_documents,omitempty"` // it has fingerprints and no documents
	Fingerprints uint64 `json:"fingerprints,omitempty"` // distinct within each segment
	K            int    `json:"k,omitempty"`
	Design       string `json:"design,omitempty"`
	Layout       string `json:"layout,omitempty"`
	SketchBytes  uint64 `json:"sketch_bytes,omitempty"` // bytes on disk
	HashBytes    uint64 `json:"hash_bytes,omitempty"`   // bytes on disk
	indexState
	Files []*file `json:"files,omitempty"`
	spread
}

// An indexState has the fields of an index that a fingerprint file lacks.
type indexState struct {
	Method    string `json:"method,omitempty"` // method of a signature file
	Segments  int    `json:"segments,omitempty"`
	Deleted   uint64 `json:"deleted,omitempty"` // deleted documents that a merge will remove
	Expired   uint64 `json:"expired,omitempty"` // expired documents that a merge will remove
	Unflushed uint64 `json:"unflushed,omitempty"`

	Unverified []string `json:"unverified,omitempty"` // segments without sketches
}

// A spread is the distribution of fingerprints.
type spread struct {
	Ones         []float64 `json:"ones_by_bit,omitempty"` // from bit 0
	Leading      []uint64  `json:"fingerprints_by_interval,omitempty"`
	Distribution []string  `json:"distribution,omitempty"`

	counts       *distribution.Counts // nil if fingerprints are not read
	count        func([]uint64)       // nil if fingerprints are not read
	fingerprints []uint64             // all fingerprints, for --plot
}

// infoOf returns the report on a path. A long report has its files and the distribution. With drawn, the report keeps
// all fingerprints for the figures.
func infoOf(ctx context.Context, g *cli.Files, path string, long, drawn bool) (x *info, err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	x = &info{Path: path}
	// Count the distribution of fingerprints if it is shown.
	if long || drawn {
		x.counts = new(distribution.Counts)
		x.count = x.counts.Add
	}
	var lack error
	// Keep all fingerprints for the figures, if the memory suffices.
	if drawn {
		budget := memory.ForProgram(g.Machine.Limit(0))
		x.count = func(fingerprints []uint64) {
			x.counts.Add(fingerprints)
			task := fmt.Sprintf("sorting %s and more for --plot", cli.Number(x.counts.Fingerprints, "fingerprint"))
			if lack = cmp.Or(lack, budget.Check(task, 16*x.counts.Fingerprints)); lack == nil {
				x.fingerprints = append(x.fingerprints, fingerprints...)
			}
		}
	}
	// Describe the index or the file.
	folder := false
	if !cli.IsStream(path) {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		folder = info.IsDir()
	}
	if folder {
		err = x.index(ctx, g)
	} else if err = x.add(ctx, g, path); err == nil {
		x.Kind = x.Files[0].Kind
	}
	if err := cmp.Or(err, lack); err != nil {
		return nil, err
	}
	// Only a long report has its files and the distribution.
	if !long {
		x.Files = nil
		return x, nil
	}
	x.Distribution, x.Leading = x.counts.Words(), x.counts.Leading[:]
	for bit := range 64 {
		x.Ones = append(x.Ones, x.counts.Fraction(bit))
	}
	return x, nil
}

func (x *info) add(ctx context.Context, g *cli.Files, path string) error {
	f, err := describe(ctx, g, path, x.count)
	if err != nil {
		return err
	}
	x.Files, x.Method = append(x.Files, f), f.method
	x.Bytes += f.Bytes
	x.SketchBytes, x.HashBytes = x.SketchBytes+f.sketchBytes, x.HashBytes+f.hashBytes
	x.Documents, x.Fingerprints, x.NoDocs = x.Documents+f.Documents, x.Fingerprints+f.Fingerprints, x.NoDocs || f.noDocs
	if f.Design != "" && x.Design == "" {
		x.K, x.Design, x.Layout = f.k, f.Design, f.layout
	}
	return nil
}

// index reports on the index in a folder: its manifest, its segments with their other files, and its log.
func (x *info) index(ctx context.Context, g *cli.Files) error {
	// Open the index.
	o := engine.OpenOptions{Threads: g.Threads, Verify: engine.VerifyFast}
	if x.counts != nil {
		o.Verify = engine.VerifyFull // the report reads all bytes anyway
	}
	bar := g.Progress.NewBar("verifying", 0, cli.BytesUnit)
	o.Progress = bar.SetOf
	open, err := engine.Open(ctx, x.Path, o)
	bar.End()
	if err != nil {
		return err
	}
	defer open.Close()
	// Take the figures of the open index.
	stats := open.Stats()
	log := live.Unwrap(open).Recovery.Log
	x.Kind, x.Segments, x.Bytes = "index", stats.Segments, uint64(log.Bytes+log.TornBytes)
	x.Deleted, x.Expired, x.Unflushed = stats.Deleted, stats.Expired, stats.Unflushed
	x.K, x.Design, x.Layout = open.Design().K, open.Design().Name, string(live.Unwrap(open).Config().Table.Layout)
	// Find the segments without sketches.
	m, err := live.ReadManifest(x.Path)
	if err != nil {
		return err
	}
	for i := range m.Segments {
		if m.Segments[i].Sketches == nil {
			x.Unverified = append(x.Unverified, m.Segments[i].File)
		}
	}
	// Describe each file.
	for _, path := range m.Paths(x.Path) {
		if err := x.add(ctx, g, path); err != nil {
			return err
		}
		if f := x.Files[len(x.Files)-1]; f.layout != "" {
			x.Layout = f.layout
		}
	}
	return nil
}

// text writes the report as text.
func (x *info) text(w io.Writer) error {
	// Write the first line: kind, documents, design.
	fmt.Fprintf(w, "%s: %s", x.Path, x.Kind)
	if x.Documents > 0 || x.Kind == "index" {
		fmt.Fprintf(w, ", %s", cli.Number(x.Documents+x.Unflushed, "document"))
	}
	if x.Fingerprints > 0 {
		fmt.Fprintf(w, " with %s", cli.Number(x.Fingerprints, "distinct fingerprint"))
	}
	if x.Design != "" {
		fmt.Fprintf(w, ", k = %d, %s, %s", x.K, x.Design, x.Layout)
	}
	if x.Method != "" {
		fmt.Fprintf(w, ", method %s", x.Method)
	}
	if x.NoDocs {
		io.WriteString(w, "; the fingerprints alone are kept")
	}
	io.WriteString(w, droppedText(x.Deleted, x.Expired))
	if x.Unflushed > 0 {
		fmt.Fprintf(w, "; %s of them in the log", humanize.Comma(int64(x.Unflushed)))
	}
	// Write the second line: sizes.
	fmt.Fprintf(w, "\n%s (%s bytes)", humanize.IBytes(x.Bytes), humanize.Comma(int64(x.Bytes)))
	if x.Documents > 0 {
		fmt.Fprintf(w, ", %.2f bytes per document", float64(x.Bytes)/float64(x.Documents))
	}
	if x.Segments > 0 {
		fmt.Fprintf(w, ", %s", cli.Number(x.Segments, "segment"))
	}
	// Write the sketches, the files and the distribution.
	_, err := fmt.Fprintln(w, x.sketches()+x.hashes())
	for _, f := range x.Files {
		if err = f.text(w, x.Design); err != nil {
			return err
		}
	}
	if len(x.Distribution) > 0 && x.Method == "" {
		fmt.Fprintln(w)
		for _, line := range x.Distribution {
			_, err = fmt.Fprintln(w, line)
		}
	}
	return err
}

// sketches returns a line on the sketches of documents.
func (x *info) sketches() string {
	switch {
	case x.Documents == 0 || x.NoDocs || x.Kind != "index" && x.Kind != store.KindFingerprints.String():
		return ""
	case x.SketchBytes == 0:
		return "\nsketches: none, so all answers are unverified"
	case len(x.Unverified) > 0:
		return fmt.Sprintf("\nsketches: %d bytes per document on disk, no memory; none in %s, whose documents are unverified",
			sketch.Bytes, strings.Join(x.Unverified, ", "))
	}
	return fmt.Sprintf("\nsketches: %d bytes per document on disk, no memory", sketch.Bytes)
}

// hashes returns a line on the hashes of texts.
func (x *info) hashes() string {
	if x.HashBytes == 0 {
		return ""
	}
	return "\nhashes of texts: 16 bytes per document on disk"
}

// plot draws the paper's figures 2a and 2b into a new folder.
func (x *info) plot(ctx context.Context, g *cli.Files, path string) error {
	dir, err := g.CreateFolder(path)
	if err != nil {
		return err
	}
	defer dir.Abort()
	sorted := make([]uint64, len(x.fingerprints))
	identity := radix.Options{Mask: 0xffffffff00000000, Threads: g.Threads}
	if err := radix.SortKeys(ctx, sorted, radix.Chunks{x.fingerprints}, identity); err != nil {
		return err
	}
	name := fmt.Sprintf("%s (%s)", filepath.Base(x.Path), cli.Number(x.counts.Fingerprints, "fingerprint"))
	return cli.WriteFigures(dir, distribution.Figures(name, x.counts, distribution.LeadingOnes(sorted)))
}
