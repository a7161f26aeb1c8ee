package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ndd/engine"
	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ndf"
	"ndd/engine/index/distribution"
	"ndd/engine/index/live"
	"ndd/engine/index/plan"
	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/memory"
	"ndd/engine/storage/store"
	"ndd/permute"
)

// designFlags choose the tables of an index.
type designFlags struct {
	k      int
	tables string
	design string
}

func (d *designFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVarP(&d.k, "distance", "k", 3, "largest Hamming distance that the index will be asked for, 0 to 8")
	f.StringVar(&d.tables, "tables", "auto", "number of tables, or auto")
	f.StringVar(&d.design, "design", "", "design by name, such as paper-10 or choose-5-2, instead of --tables")
}

// choose is the design for n fingerprints, without a limit on memory.
func (d *designFlags) choose(n uint64) (permute.Design, error) {
	p, err := d.plan(plan.Request{Fingerprints: n, IDs: plan.IDsRows})
	if err != nil {
		return permute.Design{}, err
	}
	return p.Choice.Design, nil
}

// check is for what can be said of the flags alone, before anything is read.
func (d *designFlags) check() error {
	if d.k < 0 || d.k > permute.MaxK {
		return usagef("-k %d: must be 0 to %d", d.k, permute.MaxK)
	}
	if d.tables != "auto" {
		if n, err := strconv.Atoi(d.tables); err != nil || n < 1 {
			return usagef("--tables %q: must be auto or a number from 1", d.tables)
		}
		if d.design != "" {
			return usagef("--design and --tables exclude each other")
		}
	}
	if d.design != "" {
		if _, err := permute.Named(d.design, d.k, designSeed); err != nil {
			return usagef("--design: %w", err)
		}
	}
	return nil
}

// plan completes the request by the flags and this machine.
func (d *designFlags) plan(r plan.Request) (*plan.Plan, error) {
	err := d.check()
	if err != nil {
		return nil, err
	}
	r.K, r.Seed = d.k, designSeed
	if d.design != "" {
		design, err := permute.Named(d.design, d.k, designSeed)
		if err != nil {
			return nil, usagef("--design: %w", err)
		}
		r.Designs = []permute.Design{design}
	}
	if d.tables != "auto" {
		if r.Tables, err = strconv.Atoi(d.tables); err != nil {
			return nil, usagef("--tables: %w", err)
		}
	}
	if r.Machine == nil {
		if r.Machine, err = plan.Here(r.Fingerprints, (*memory.Budget)(nil).Here()); err != nil {
			return nil, err
		}
	}
	p, err := plan.New(r)
	if _, full := errors.AsType[*plan.NoRoomError](err); err != nil && !full {
		return nil, usagef("%w", err)
	}
	return p, err
}

// designSeed is the seed of designs made here. It is stored with the index.
const designSeed = 1

// parseMemory is --memory in bytes, 0 where it was not given.
func parseMemory(s string) (uint64, error) {
	if s == "" {
		return 0, nil
	}
	bytes, err := humanize.ParseBytes(s)
	if err != nil || bytes == 0 {
		return 0, usagef("--memory %q: must be a size such as 16GiB", s)
	}
	return bytes, nil
}

func newBuild(g *globals) *cobra.Command {
	var design designFlags
	var out, layout, memory string
	cmd := &cobra.Command{
		Use:   "build -o INDEX FILE...",
		Short: "Build an index from fingerprint files",
		Long: `Build an index, a folder, from fingerprint files: .ndf, or raw arrays of
little-endian 64-bit integers (.bin). Ids are the names in the files, or else
row numbers from 0 over all files. The index appears when it is complete.

Tables and layout are chosen for this machine and these fingerprints, so that
the index fits in --memory and queries take least time, or, without --memory,
so that bytes times time are least; 'ndd design' shows what there is to choose
from. Both layouts are tried on a sample of the data first; 'ndd stats' says why
the choice was made.

--memory is what the index may take when it is used. What building takes is
another matter: at most what this machine, or the process's control group, has
left, but for a sixteenth: 13 bytes a document are plenty, below 9 it goes
through a temporary file beside INDEX, and what cannot be done at
all is refused at once: the program itself takes 32 MiB, too, and of what ulimit -d
or -v leave 48 or 128 MiB more are for stacks and the like. It says how much it will
take before it begins.`,
		Example: `  ndd build -o index pages.ndf
  ndd build -o index --memory 16GiB pages.ndf
  ndd build -o index -k 3 --tables 10 base.bin`,
		Args: someArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usagef("no -o INDEX given")
			}
			if out == document.Stdin {
				return usagef("-o -: an index is a folder, and cannot be written to standard output")
			}
			if err := design.check(); err != nil {
				return err
			}
			r := plan.Request{IDs: plan.IDsRows}
			var err error
			if r.Layout, err = parseLayout(layout); err != nil {
				return err
			}
			if r.Memory, err = parseMemory(memory); err != nil {
				return err
			}
			files, err := openPrints(args)
			if err != nil {
				return err
			}
			defer closePrints(files)
			return g.build(cmd, out, files, &design, r)
		},
	}
	design.register(cmd)
	g.registerForce(cmd)
	cmd.Flags().StringVarP(&out, "output", "o", "", "the index to make; nothing may stand there")
	cmd.Flags().StringVar(&layout, "layout", "auto", "of the tables: auto, planar or huffman")
	cmd.Flags().StringVar(&memory, "memory", "", "what the index may take when it is used, such as 16GiB (default: no limit); building takes what the machine has left")
	return cmd
}

func (g *globals) build(cmd *cobra.Command, out string, files []*ndf.File, flags *designFlags, r plan.Request) error {
	for _, f := range files {
		r.Documents += f.Len()
		if f.HasIDs() {
			r.NameBytes += f.Store().Bytes() - 8*f.Len()
		}
	}
	o := engine.BuildOptions{Options: segment.Options{Threads: g.threads, Disk: g.disk}, Replace: g.force}
	tried, err := g.planBuild(out, r.Documents, &o)
	if err != nil {
		return err
	}
	if r.Fingerprints, err = distinctPrints(cmd.Context(), files); err != nil {
		return err
	}
	p, err := g.chooseTables(cmd.Context(), files, flags, r, o.Budget, tried)
	if err != nil {
		return err
	}
	design, layout := p.Choice.Design, p.Choice.Layout
	bar := g.newBar("building", int64(len(design.Tables)+1), countUnit)
	o.Design, o.Table.Layout, o.Choice = design, layout, live.ChoiceOf(p)
	o.Progress = func(_ string, part, _ int) { bar.set(int64(part)) }
	err = engine.Build(cmd.Context(), out, files, o)
	bar.end()
	if err != nil {
		return err
	}
	least, most := design.Leading()
	bits := strconv.Itoa(least)
	if most > least {
		bits = fmt.Sprintf("%d to %d", least, most)
	}
	g.log.Info(fmt.Sprintf("%s: %s, k = %d, %s with %s leading bits (%s, %s)",
		out, documents(&r), design.K, number(len(design.Tables), "table"), bits, design.Name, layout))
	for _, why := range p.Why[:2] {
		g.log.Info(why)
	}
	return nil
}

// documents says how many there are, and of how many fingerprints when these are fewer.
func documents(r *plan.Request) string {
	if r.Fingerprints == r.Documents {
		return number(r.Documents, "document")
	}
	if r.Fingerprints == 1 {
		return number(r.Documents, "document") + " with one fingerprint"
	}
	return fmt.Sprintf("%s with about %s distinct fingerprints", number(r.Documents, "document"), plan.Count(float64(r.Fingerprints)))
}

const (
	// choiceBytes is what the choice of tables leaves for the collector while the index is built:
	// samples, and a count of distinct fingerprints.
	choiceBytes = 16 << 20
	// triedBytes is what trying the layouts takes for a fingerprint, in a dozen tables.
	triedBytes = 256
)

// planBuild says what memory building will take, before it takes any, and refuses what there is not
// the memory for. It returns on how many fingerprints the layouts are tried.
func (g *globals) planBuild(out string, docs uint64, o *engine.BuildOptions) (tried int, err error) {
	o.Budget = memory.ForProgram(g.machine.Limit(0))
	limit := o.Budget.Limit()
	// Where there is not even this much, there is less than every plan needs.
	o.Budget.Reserve("choosing tables", choiceBytes)
	p, err := live.PlanBuild(out, docs, o)
	if err != nil {
		return 0, memory.Advise(err, "that is for building, whatever --memory the index may take later; --threads 1 takes a little less")
	}
	most := max(p.Bytes, plan.NeedBytes(docs, o.Budget), min(uint64(plan.RivalsOf(docs))*triedBytes, o.Budget.Left()/2))
	where := ""
	if p.External {
		where = ", with sorted keys in a temporary file"
	}
	g.log.Info(fmt.Sprintf("building takes at most %s of memory beside the input%s; there are %s (%s)",
		humanize.IBytes(o.Budget.Total(most+choiceBytes)), where, humanize.IBytes(limit.Bytes), limit.Source))
	return int(min(uint64(plan.RivalsOf(docs)), most/triedBytes)), nil
}

// chooseTables plans for the request, with what the files' fingerprints show, and tries the layouts
// on some of them. What it needed for that is given back before it returns.
func (g *globals) chooseTables(ctx context.Context, files []*ndf.File, flags *designFlags, r plan.Request, b *memory.Budget, tried int) (p *plan.Plan, err error) {
	defer store.CatchFault(&err)()
	if r.Machine, err = plan.Here(r.Documents, b); err != nil {
		return nil, err
	}
	prints := somePrints(files, tried)
	const sampleOf = 1 << 16                                   // tells skew, and takes a tenth of a second
	r.Sample, _ = plan.NewSample(prints, sampleOf, designSeed) // too few: no matter
	if p, err = flags.plan(r); err != nil {
		return nil, err
	}
	if err := p.Try(ctx, prints, g.threads); err != nil {
		return nil, err
	}
	p.Request.Sample, r.Sample, prints = nil, nil, nil
	debug.FreeOSMemory()
	return p, nil
}

// distinctPrints is how many different fingerprints the files have, about.
func distinctPrints(ctx context.Context, files []*ndf.File) (n uint64, err error) {
	defer store.CatchFault(&err)()
	var d distribution.Distinct
	docs := uint64(0)
	for _, f := range files {
		docs += f.Len()
		for c := range f.Chunks {
			for part := range slices.Chunk(c, 1<<20) {
				if err := ctx.Err(); err != nil {
					return 0, err
				}
				d.Add(part)
			}
		}
	}
	// An estimate that is off by less than its error is no news.
	if n = d.Count(); float64(n) > 0.98*float64(docs) && n > distribution.DistinctExact {
		n = docs
	}
	return n, nil
}

func parseLayout(s string) (table.Layout, error) {
	switch l := table.Layout(s); l {
	case "auto":
		return "", nil
	case table.LayoutHuffman, table.LayoutPlanar:
		return l, nil
	}
	return "", usagef("--layout %q: must be auto, %s or %s", s, table.LayoutPlanar, table.LayoutHuffman)
}
