package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ndd/engine/corpus/ndf"
	"ndd/engine/index/live"
	"ndd/engine/index/plan"
	"ndd/engine/index/segment"
	"ndd/engine/memory"
	"ndd/engine/storage/store"
)

// designCommand are the flags of ndd design.
type designCommand struct {
	n, memory, sample, layout   string
	ids, purpose, format, costs string
	all, list                   bool
	design                      designFlags
}

// designDocs is the paper's collection.
const designDocs = "8e9"

func newDesign(g *globals) *cobra.Command {
	var d designCommand
	cmd := &cobra.Command{
		Use:   "design",
		Short: "Compare table designs: memory and time per query",
		Long: `Compare the table designs for an index of n fingerprints, distance k and a limit
on memory: each with its bytes, probes, expected candidates and time per query;
which one 'ndd build' would choose, and why. Times are for one thread of this
machine, which is measured first (under a second), and for queries with few hits:
online is a query by itself, batch one among hundreds. A star marks designs that
no other design beats in all three of bytes, online and batch time; > marks the
choice. 'ndd help concepts' explains the columns.

With --sample, an index or a fingerprint file, candidates are estimated from the
sample instead of assuming uniform fingerprints: real fingerprints cluster.`,
		Example: `  ndd design -n 8e9 -k 3 --memory 128GiB
  ndd design -k 5 -n 100M
  ndd design --list -k 2
  ndd design --sample pages.ndf --format json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if d.list {
				return d.design.list(g.stdout, d.format)
			}
			return d.run(g, cmd)
		},
	}
	d.design.register(cmd)
	f := cmd.Flags()
	f.StringVarP(&d.n, "fingerprints", "n", designDocs, "number of fingerprints, such as 8e9 or 100M (default with --sample: as many as the sample)")
	f.StringVar(&d.memory, "memory", "", "memory limit for the index, such as 128GiB (default: no limit)")
	f.StringVar(&d.layout, "layout", "auto", "layout of the tables: auto, planar or huffman")
	f.StringVar(&d.sample, "sample", "", "index or fingerprint file that is typical of the data")
	f.StringVar(&d.ids, "ids", string(plan.IDsNone), "ids that count towards the memory limit: none, or rows (document numbers)")
	f.StringVar(&d.purpose, "for", string(plan.Online), "query time to minimise: online or batch")
	f.StringVar(&d.format, "format", "table", "output format: table or json")
	f.StringVar(&d.costs, "costs", "", "file with the machine's costs, as --format json prints them, instead of measuring")
	f.BoolVar(&d.list, "list", false, "list the names and tables of the designs for -k, which --design takes, and stop")
	f.BoolVar(&d.all, "all", false, "list all designs, also those that others beat")
	return cmd
}

func (d *designCommand) run(g *globals, cmd *cobra.Command) error {
	if d.format != "table" && d.format != "json" {
		return usagef("--format %q: must be table or json", d.format)
	}
	r := plan.Request{IDs: plan.IDs(d.ids), Purpose: plan.Purpose(d.purpose)}
	var err error
	if r.Fingerprints, err = parseCount(d.n); err != nil {
		return usagef("-n %q: %w", d.n, err)
	}
	if r.Memory, err = parseMemory(d.memory); err != nil {
		return err
	}
	if r.Layout, err = parseLayout(d.layout); err != nil {
		return err
	}
	if d.sample != "" {
		prints, of, documents, err := readSample(cmd.Context(), d.sample)
		if err != nil {
			return err
		}
		if r.Sample, err = plan.NewSample(prints, plan.SampleMax, designSeed); err != nil {
			return fmt.Errorf("%s: %w", d.sample, err)
		}
		if !cmd.Flags().Changed("fingerprints") {
			r.Fingerprints, r.Documents = of, documents
		}
	}
	if d.costs != "" {
		if r.Machine, err = readCosts(d.costs); err != nil {
			return err
		}
	}
	if r.Machine == nil {
		if err := d.design.check(); err != nil {
			return err
		}
		if r.Machine, err = plan.Here(r.Fingerprints, memory.NewBudget(g.machine.Limit(0))); err != nil {
			return err
		}
	}
	p, err := d.design.plan(r)
	if err != nil {
		return err
	}
	if d.format == "json" {
		return writePlanJSON(g.stdout, p)
	}
	return d.write(g.stdout, p)
}

// parseCount reads 8e9, 8G, 100M, 1.5e6 and 8,000,000,000.
func parseCount(s string) (uint64, error) {
	number, scale := strings.ReplaceAll(s, ",", ""), 1.0
	for suffix, by := range map[string]float64{"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "B": 1e9, "T": 1e12} {
		if strings.HasSuffix(number, suffix) {
			number, scale = strings.TrimSuffix(number, suffix), by
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if v *= scale; err != nil || !(v >= 1 && v <= plan.FingerprintsMax) {
		return 0, fmt.Errorf("must be a number from 1 to 2^40, such as 8e9 or 100M")
	}
	return uint64(math.Round(v)), nil
}

// readSample is some of the fingerprints in an index or a file, how many there are, about, and of
// how many documents.
func readSample(ctx context.Context, path string) (prints []uint64, of, documents uint64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, 0, err
	}
	if !info.IsDir() {
		f, err := ndf.Open(path)
		if err != nil {
			return nil, 0, 0, err
		}
		defer f.Close()
		files := []*ndf.File{f}
		if of, err = distinctPrints(ctx, files); err != nil {
			return nil, 0, 0, err
		}
		return somePrints(files, plan.SampleMax), of, f.Len(), nil
	}
	m, err := live.ReadManifest(path)
	if err != nil {
		return nil, 0, 0, err
	}
	parts, err := m.SegmentPaths(path)
	if err != nil {
		return nil, 0, 0, err
	}
	for _, part := range parts {
		some, distinct, docs, err := readSegment(part, plan.SampleMax/len(parts))
		if err != nil {
			return nil, 0, 0, err
		}
		prints = append(prints, some...)
		of, documents = of+distinct, documents+docs
	}
	return prints, of, documents, nil
}

// readSegment is most of a segment's fingerprints or fewer.
func readSegment(path string, most int) (prints []uint64, of, documents uint64, err error) {
	f, err := store.Open(path, store.KindSegment)
	if err != nil {
		return nil, 0, 0, err
	}
	defer f.Close()
	s, err := segment.Open(f)
	if err != nil {
		return nil, 0, 0, fmt.Errorf("%s: %w", path, err)
	}
	defer s.Close()
	p := picker{of: s.Fingerprints(), most: most}
	if err := s.Walk(func(list []uint64) bool { p.add(list); return true }); err != nil {
		return nil, 0, 0, fmt.Errorf("%s: %w", path, err)
	}
	return p.picked, s.Fingerprints(), s.Documents(), nil
}

// somePrints are about most of the files' fingerprints, spread evenly, or all.
func somePrints(files []*ndf.File, most int) []uint64 {
	p := picker{most: most, picked: make([]uint64, 0, most)}
	for _, f := range files {
		p.of += f.Len()
	}
	for _, f := range files {
		for c := range f.Chunks {
			p.add(c)
		}
	}
	return p.picked
}

// A picker takes every so many-th of a stream.
type picker struct {
	of     uint64 // in the stream
	most   int
	seen   uint64
	picked []uint64
}

func (p *picker) add(list []uint64) {
	step := (p.of + uint64(p.most) - 1) / max(uint64(p.most), 1)
	step = max(step, 1)
	for at := (step - p.seen%step) % step; at < uint64(len(list)); at += step {
		p.picked = append(p.picked, list[at])
	}
	p.seen += uint64(len(list))
}

// planJSON is the output with --format json.
type planJSON struct {
	Fingerprints uint64        `json:"fingerprints"`
	K            int           `json:"k"`
	Memory       uint64        `json:"memory,omitempty"`
	For          plan.Purpose  `json:"for"`
	BoundBits    float64       `json:"bound_bits"` // a fingerprint
	Choice       plan.Option   `json:"choice"`
	Why          []string      `json:"why"`
	Designs      []plan.Option `json:"designs"`
	Machine      *plan.Machine `json:"machine"`
}

func writePlanJSON(w io.Writer, p *plan.Plan) error {
	r := &p.Request
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(planJSON{r.Fingerprints, r.K, r.Memory, r.Purpose, plan.BoundBits(r.Fingerprints), p.Choice, p.Why, p.Options, r.Machine})
}

func readCosts(path string) (*plan.Machine, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var in struct{ Machine *plan.Machine }
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if in.Machine == nil {
		return nil, fmt.Errorf("%s: no machine in it: want the output of ndd design --format json", path)
	}
	if err := in.Machine.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return in.Machine, nil
}

// write is the plan as a table and sentences.
func (d *designCommand) write(w io.Writer, p *plan.Plan) error {
	r := &p.Request
	limit := "no limit on memory"
	if r.Memory > 0 {
		limit = plan.Size(r.Memory) + " of memory"
	}
	fmt.Fprintf(w, "%s fingerprints, k = %d, %s\n\n", humanize.Comma(int64(r.Fingerprints)), r.K, limit)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tdesign\tlayout\ttables\tleading\tradius\tprobes\tcandidates\tbytes\teach\tonline\tbatch\tfits\t")
	for i := range p.Options {
		o := &p.Options[i]
		if !d.all && !o.Frontier && !(o.Fits && r.Memory > 0) {
			continue
		}
		mark, fits := "", "no"
		if o.Frontier {
			mark = "*"
		}
		if o.Name == p.Choice.Name && o.Layout == p.Choice.Layout {
			mark += ">"
		}
		if o.Fits {
			fits = "yes"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%.1f\t%s\t%s\t%s\t\n", mark, o.Name, o.Layout, o.Tables,
			span(o.Leading), span(o.Radius), plan.Count(o.Probes), plan.Count(o.Candidates), plan.Size(o.Bytes),
			o.PerFingerprint(r.Fingerprints), plan.Duration(o.OnlineNS), plan.Duration(o.BatchNS), fits)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, s := range p.Why {
		fmt.Fprintln(w, s)
	}
	return nil
}

func span(v [2]int) string {
	if v[0] == v[1] {
		return strconv.Itoa(v[0])
	}
	return fmt.Sprintf("%d-%d", v[0], v[1])
}
