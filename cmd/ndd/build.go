package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"ndd/engine"
	"ndd/engine/ndf"
	"ndd/engine/offheap"
	"ndd/engine/plan"
	"ndd/engine/segment"
	"ndd/engine/table"
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

// plan completes the request by the flags and this machine.
func (d *designFlags) plan(r plan.Request) (*plan.Plan, error) {
	if d.k < 0 || d.k > permute.MaxK {
		return nil, usagef("-k %d: must be 0 to %d", d.k, permute.MaxK)
	}
	r.K, r.Seed = d.k, designSeed
	if d.design != "" {
		if d.tables != "auto" {
			return nil, usagef("--design and --tables exclude each other")
		}
		design, err := permute.Named(d.design, d.k, designSeed)
		if err != nil {
			return nil, usagef("--design: %w", err)
		}
		r.Designs = []permute.Design{design}
	}
	if d.tables != "auto" {
		var err error
		if r.Tables, err = strconv.Atoi(d.tables); err != nil || r.Tables < 1 {
			return nil, usagef("--tables %q: must be auto or a number from 1", d.tables)
		}
	}
	if r.Machine == nil {
		var err error
		if r.Machine, err = plan.Here(r.Fingerprints); err != nil {
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
all is refused at once.`,
		Example: `  ndd build -o index pages.ndf
  ndd build -o index --memory 16GiB pages.ndf
  ndd build -o index -k 3 --tables 10 base.bin`,
		Args: someArgs("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usagef("no -o INDEX given")
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
	cmd.Flags().StringVarP(&out, "output", "o", "", "the index to make; nothing may stand there")
	cmd.Flags().StringVar(&layout, "layout", "auto", "of the tables: auto, planar or huffman")
	cmd.Flags().StringVar(&memory, "memory", "", "what the index may take when it is used, such as 16GiB (default: no limit); building takes what the machine has left")
	return cmd
}

func (g *globals) build(cmd *cobra.Command, out string, files []*ndf.File, flags *designFlags, r plan.Request) error {
	for _, f := range files {
		r.Fingerprints += f.Len()
		if f.HasNames() {
			r.NameBytes += f.Store().Bytes() - 8*f.Len()
		}
	}
	prints := somePrints(files, plan.RivalsOf(r.Fingerprints))
	const sampleOf = 1 << 16                                   // tells skew, and takes a tenth of a second
	r.Sample, _ = plan.NewSample(prints, sampleOf, designSeed) // too few: no matter
	p, err := flags.plan(r)
	if err != nil {
		return err
	}
	if err := p.Try(cmd.Context(), prints, g.threads); err != nil {
		return err
	}
	design, layout := p.Choice.Design, p.Choice.Layout
	bar := g.newBar("building", int64(len(design.Tables)+1), countUnit)
	o := segment.Options{Design: design, Table: table.Options{Layout: layout}, Threads: g.threads,
		Progress: func(_ string, part, _ int) { bar.set(int64(part)) }}
	var space segment.Space
	o.Planned = func(s segment.Space) { space = s }
	err = engine.BuildWith(cmd.Context(), out, files, engine.BuildOptions{Options: o, Choice: engine.ChoiceOf(p), Machine: g.machine})
	bar.end()
	if errors.Is(err, offheap.ErrTooLarge) {
		return fmt.Errorf("%w: that is for building, whatever --memory the index may take later; --threads 1 takes a little less", err)
	}
	if err != nil {
		return err
	}
	least, most := design.Leading()
	bits := strconv.Itoa(least)
	if most > least {
		bits = fmt.Sprintf("%d to %d", least, most)
	}
	tables := "1 table"
	if n := len(design.Tables); n > 1 {
		tables = fmt.Sprintf("%d tables", n)
	}
	g.log.Info(fmt.Sprintf("%s: %s documents, k = %d, %s with %s leading bits (%s, %s)",
		out, humanize.Comma(int64(r.Fingerprints)), design.K, tables, bits, design.Name, layout))
	for _, why := range p.Why[:2] {
		g.log.Info(why)
	}
	where := ""
	if space.External {
		where = ", with sorted keys in a temporary file"
	}
	g.log.Info(fmt.Sprintf("built in at most %s of memory beside the input%s", humanize.IBytes(space.Bytes), where))
	return nil
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
