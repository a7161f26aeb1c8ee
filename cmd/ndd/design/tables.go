package design

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/index/plan"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/permute"
)

// Flags choose the tables of an index.
type Flags struct {
	k      int
	tables string
	design string
	seed   uint64 // 0: the seed of the request
}

// Register adds the flags.
func (d *Flags) Register(cmd *cobra.Command) {
	d.RegisterNamed(cmd)
	cmd.Flags().StringVar(&d.tables, "tables", "auto", "number of tables, or auto, instead of --design")
}

// RegisterNamed adds the flags without --tables.
func (d *Flags) RegisterNamed(cmd *cobra.Command) {
	d.tables = "auto"
	f := cmd.Flags()
	f.IntVarP(&d.k, "distance", "k", 3, "maximum Hamming distance of queries, 0 to 8")
	f.StringVar(&d.design, "design", "", "design by name, such as paper-10 or choose-5-2")
}

// Choose returns the design for an index that grows to n fingerprints, without a memory limit. Its seed is random,
// because strangers may insert documents.
func (d *Flags) Choose(ctx context.Context, n uint64) (permute.Design, error) {
	p, err := d.plan(ctx, plan.Request{Fingerprints: n, IDs: plan.IDsRows, Seed: permute.RandomSeed()})
	if err != nil {
		return permute.Design{}, err
	}
	return p.Choice.Design, nil
}

// Agrees returns an error for flags that contradict the index in dir, with its distance k and its design. An unknown
// design is "".
func (d *Flags) Agrees(cmd *cobra.Command, dir string, k int, design string) error {
	switch {
	case d.k < 0 || d.k > permute.MaxK:
		return d.apply(&plan.Request{})
	case cmd.Flags().Changed("distance") && d.k != k:
		return fmt.Errorf("-k %d: %s has k = %d", d.k, dir, k)
	case d.design != "" && design != "" && d.design != design:
		return fmt.Errorf("--design %s: %s has the design %s", d.design, dir, design)
	}
	return nil
}

// apply completes a request by the flags, or returns an error if they are wrong.
func (d *Flags) apply(r *plan.Request) (err error) {
	if d.k < 0 || d.k > permute.MaxK {
		return cli.Usagef("-k %d: must be 0 to %d", d.k, permute.MaxK)
	}
	r.K, r.Seed = d.k, cmp.Or(r.Seed, d.seed, Seed)
	if d.tables != "auto" {
		if r.Tables, err = strconv.Atoi(d.tables); err != nil || r.Tables < 1 {
			return cli.Usagef("--tables %q: must be auto or a number from 1", d.tables)
		}
		if d.design != "" {
			return cli.Usagef("--design and --tables exclude each other")
		}
	}
	if d.design != "" {
		design, err := permute.ByName(d.design, d.k, r.Seed)
		if err != nil {
			return cli.Usagef("--design: %w", err)
		}
		r.Designs = []permute.Design{design}
	}
	return nil
}

// plan completes the request by the flags and returns the plan for it.
func (d *Flags) plan(ctx context.Context, r plan.Request) (*plan.Plan, error) {
	if err := d.apply(&r); err != nil {
		return nil, err
	}
	p, err := plan.New(ctx, r)
	if _, full := errors.AsType[*plan.NoRoomError](err); err != nil && !full && ctx.Err() == nil {
		return nil, cli.Usagef("%w", err)
	}
	return p, err
}

// Seed is the default seed of build and design, so that the same input gives the same tables.
const Seed = 1

// parseSeed reads the value of --seed.
func parseSeed(text string) (seed uint64, err error) {
	if text == "random" {
		return permute.RandomSeed(), nil
	}
	if seed, err = strconv.ParseUint(text, 10, 64); err != nil || seed == 0 {
		return 0, cli.Usagef("--seed %q: must be random or a number from 1", text)
	}
	return seed, nil
}

// A Choice has the flags by which build and design choose tables.
type Choice struct {
	flags   Flags
	Request plan.Request
	memory  string
	seed    string
}

// Register adds the flags, including [Flags].
func (c *Choice) Register(cmd *cobra.Command) {
	c.flags.Register(cmd)
	f := cmd.Flags()
	cli.ValueVar(f, &c.Request.Layout, "layout", "layout of the tables: auto, planar or huffman",
		[]string{"auto", "planar", "huffman"}, "", table.LayoutPlanar, table.LayoutHuffman)
	f.StringVar(&c.memory, "memory", "", "memory limit for the index in use (default: no limit)")
	f.StringVar(&c.seed, "seed", "1", "choice of the leading bits: a number, or random")
}

// RegisterIDs adds the flag --ids, which says whether the index stores IDs, numbers or no documents.
func (c *Choice) RegisterIDs(cmd *cobra.Command, usage string) {
	cli.WordVar(cmd.Flags(), &c.Request.IDs, "ids", usage, plan.IDsNames, plan.IDsRows, plan.IDsNone)
}

// Parse reads the flags into the request.
func (c *Choice) Parse() (err error) {
	if c.flags.seed, err = parseSeed(c.seed); err != nil {
		return err
	}
	if err := c.flags.apply(&c.Request); err != nil {
		return err
	}
	c.Request.Memory, err = cli.ParseMemory(c.memory)
	return err
}

// Choose returns the plan.
func (c *Choice) Choose(ctx context.Context) (*plan.Plan, error) { return c.flags.plan(ctx, c.Request) }
