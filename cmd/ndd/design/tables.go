package design

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"ndd/cmd/ndd/cli"
	"ndd/engine/index/plan"
	"ndd/engine/index/table"
	"ndd/engine/memory"
	"ndd/permute"
)

// Flags choose the tables of an index.
type Flags struct {
	k      int
	tables string
	design string
}

// Register adds the flags.
func (d *Flags) Register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVarP(&d.k, "distance", "k", 3, "largest Hamming distance that the index will be asked for, 0 to 8")
	f.StringVar(&d.tables, "tables", "auto", "number of tables, or auto")
	f.StringVar(&d.design, "design", "", "design by name, such as paper-10 or choose-5-2, instead of --tables")
	if err := cmd.RegisterFlagCompletionFunc("design", completeDesign); err != nil {
		panic(err) // a flag that was not added above is a programmer's error
	}
}

// Choose returns the design for n fingerprints, without a limit on memory.
func (d *Flags) Choose(ctx context.Context, n uint64) (permute.Design, error) {
	p, err := d.plan(ctx, plan.Request{Fingerprints: n, IDs: plan.IDsRows})
	if err != nil {
		return permute.Design{}, err
	}
	return p.Choice.Design, nil
}

// check reports what is wrong with the flags alone, before anything is read.
func (d *Flags) check() error {
	if d.k < 0 || d.k > permute.MaxK {
		return cli.Usagef("-k %d: must be 0 to %d", d.k, permute.MaxK)
	}
	if d.tables != "auto" {
		if n, err := strconv.Atoi(d.tables); err != nil || n < 1 {
			return cli.Usagef("--tables %q: must be auto or a number from 1", d.tables)
		}
		if d.design != "" {
			return cli.Usagef("--design and --tables exclude each other")
		}
	}
	if d.design != "" {
		if _, err := permute.Named(d.design, d.k, Seed); err != nil {
			return cli.Usagef("--design: %w", err)
		}
	}
	return nil
}

// plan completes the request by the flags and returns the plan for it. Without costs of a machine in the
// request, the fixed cost model decides.
func (d *Flags) plan(ctx context.Context, r plan.Request) (*plan.Plan, error) {
	err := d.check()
	if err != nil {
		return nil, err
	}
	r.K, r.Seed = d.k, Seed
	if d.design != "" {
		design, err := permute.Named(d.design, d.k, Seed)
		if err != nil {
			return nil, cli.Usagef("--design: %w", err)
		}
		r.Designs = []permute.Design{design}
	}
	if d.tables != "auto" {
		if r.Tables, err = strconv.Atoi(d.tables); err != nil {
			return nil, cli.Usagef("--tables: %w", err)
		}
	}
	p, err := plan.New(ctx, r)
	if _, full := errors.AsType[*plan.NoRoomError](err); err != nil && !full && ctx.Err() == nil {
		return nil, cli.Usagef("%w", err)
	}
	return p, err
}

// Seed is the seed of designs made here. It is stored with the index.
const Seed = 1

// A Choice is what build and design choose tables by: the same question has the same answer.
type Choice struct {
	flags   Flags
	Request plan.Request
	Measure bool
	layout  string
	memory  string
	ids     string
}

// Register adds the flags, those of [Flags] included.
func (c *Choice) Register(cmd *cobra.Command) {
	c.flags.Register(cmd)
	f := cmd.Flags()
	f.StringVar(&c.layout, "layout", "auto", "layout of the tables: auto, planar or huffman")
	f.StringVar(&c.memory, "memory", "", "memory limit for the index in use, such as 16GiB (default: no limit)")
	f.BoolVar(&c.Measure, "measure", false, "choose by this machine: measure it, and try both layouts on a sample of the data, within "+measureMax.String()+"; the choice may then differ from one build to the next")
}

// RegisterIDs adds the flag that says what is kept of documents.
func (c *Choice) RegisterIDs(cmd *cobra.Command, ids plan.IDs, usage string) {
	cmd.Flags().StringVar(&c.ids, "ids", string(ids), usage)
}

// Parse reads the flags into the request.
func (c *Choice) Parse() (err error) {
	if err := c.flags.check(); err != nil {
		return err
	}
	if c.Request.Layout, err = parseLayout(c.layout); err != nil {
		return err
	}
	switch c.Request.IDs = plan.IDs(c.ids); c.Request.IDs {
	case plan.IDsNone, plan.IDsRows, plan.IDsNames:
	default:
		return cli.Usagef("--ids %q: must be %s, %s or %s", c.ids, plan.IDsNone, plan.IDsRows, plan.IDsNames)
	}
	c.Request.Memory, err = cli.ParseMemory(c.memory)
	return err
}

// measureMax is how long --measure may take.
const measureMax = 30 * time.Second

// Choose returns the plan for the collection. With --measure it measures the machine first, and tries
// the layouts afterwards; where that is not done in time, what is known by then decides.
func (c *Choice) Choose(ctx context.Context, g *cli.Globals, from *collection, b *memory.Budget) (*plan.Plan, error) {
	r := c.Request
	if !c.Measure || r.Machine != nil {
		return c.flags.plan(ctx, r)
	}
	within, cancel := context.WithTimeout(ctx, measureMax)
	defer cancel()
	machine, err := plan.Measure(within, r.Fingerprints, b)
	switch {
	case err == nil:
		r.Machine = machine
	case ctx.Err() != nil || within.Err() == nil:
		return nil, err
	}
	p, err := c.flags.plan(ctx, r)
	if err != nil || from == nil {
		return p, err
	}
	if err := p.RunTrials(within, from.distinct.Sample(), g.Threads); err != nil && (ctx.Err() != nil || within.Err() == nil) {
		return nil, err
	}
	if within.Err() != nil {
		g.Log.Warn("--measure: stopped after " + measureMax.String() + "; the tables are chosen by what was measured until then")
	}
	return p, nil
}

func parseLayout(s string) (table.Layout, error) {
	switch l := table.Layout(s); l {
	case "auto":
		return "", nil
	case table.LayoutHuffman, table.LayoutPlanar:
		return l, nil
	}
	return "", cli.Usagef("--layout %q: must be auto, %s or %s", s, table.LayoutPlanar, table.LayoutHuffman)
}

// completeDesign returns the names of the designs for the distance that was given.
func completeDesign(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	k, err := strconv.Atoi(cmd.Flags().Lookup("distance").Value.String())
	if err != nil || k < 0 || k > permute.MaxK {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for _, d := range permute.Catalogue(k, Seed) {
		names = append(names, d.Name)
	}
	slices.Sort(names)
	return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
}
