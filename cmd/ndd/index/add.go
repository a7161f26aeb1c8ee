package index

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ndd/cmd/ndd/cli"
	"ndd/engine"
	"ndd/engine/index/plan"
	"ndd/engine/index/segment"
	"ndd/engine/memory"
)

// An adding is the flags of ndd build --add.
type adding struct {
	dir        string
	onConflict string
	ttl        TTL
}

func (a *adding) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.dir, "add", "", "index to add the documents to, instead of -o")
	RegisterConflict(cmd, &a.onConflict)
	RegisterTTL(cmd, &a.ttl)
}

// flags returns the flags that are about adding.
func (*adding) flags() []string { return []string{"on-conflict", "ttl"} }

// run adds the documents of fingerprint files to an index.
func (a *adding) run(cmd *cobra.Command, g *cli.Globals, paths []string, ids plan.IDs, madeBy string) (err error) {
	var other []string // flags that are about a new index
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if cmd.LocalNonPersistentFlags().Lookup(f.Name) != nil && f.Name != "add" && f.Name != "ids" && f.Name != "recipe" && !slices.Contains(a.flags(), f.Name) {
			other = append(other, "--"+f.Name)
		}
	})
	if len(other) > 0 {
		return cli.Usagef("%s applies only to a new index, without --add", other[0])
	}
	if ids == plan.IDsNone {
		return cli.Usagef("--ids none applies only to a new index, without --add")
	}
	conflict, err := ParseConflict(a.onConflict)
	if err != nil {
		return err
	}
	files, err := g.OpenPrints(paths)
	if err != nil {
		return err
	}
	defer cli.ClosePrints(files)
	if err := saidRecipe(files, madeBy); err != nil {
		return err
	}
	x, err := openToWrite(cmd.Context(), g, a.dir, engine.OpenOptions{OnConflict: conflict, TTL: time.Duration(a.ttl)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	before := x.Stats().Documents
	docs := uint64(0)
	for _, f := range files {
		docs += f.Len()
	}
	bar := g.NewBar("building", int64(len(x.Design().Tables)+1), cli.CountUnit)
	budget := memory.ForProgram(g.Machine.Limit(0))
	err = x.Live().Add(cmd.Context(), files, engine.BuildOptions{NoIDs: ids == plan.IDsRows, Options: segment.Options{Threads: g.Threads,
		Budget: budget, Progress: func(_ string, part, _ int) { bar.Set(int64(part)) },
		Planned: func(p segment.Plan) { SayPlanned(g, budget)(docs, p.Bytes) }}})
	bar.End()
	if err != nil {
		return fmt.Errorf("%s: %w", a.dir, err)
	}
	after := x.Stats().Documents
	text := fmt.Sprintf("%s: %s added, now %s", a.dir, cli.Number(docs, "document"), cli.Number(after, "document"))
	if gone := before + docs - after; gone > 0 {
		text += fmt.Sprintf("; %s had an ID that was taken", cli.Number(gone, "document"))
	}
	g.Log.Info(text)
	return nil
}
