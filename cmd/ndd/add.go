package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ndd/engine"
	"ndd/engine/index/plan"
	"ndd/engine/index/segment"
	"ndd/engine/memory"
)

// An adding is the flags of ndd build --add.
type adding struct {
	dir        string
	onConflict string
	ttl        ttlFlag
}

func (a *adding) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.dir, "add", "", "index to add the documents to, instead of -o")
	registerConflict(cmd, &a.onConflict)
	registerTTL(cmd, &a.ttl)
}

// flags returns the flags that are about adding.
func (*adding) flags() []string { return []string{"on-conflict", "ttl"} }

// run adds the documents of fingerprint files to an index.
func (a *adding) run(cmd *cobra.Command, g *globals, paths []string, ids plan.IDs) (err error) {
	var other []string // flags that are about a new index
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if cmd.LocalNonPersistentFlags().Lookup(f.Name) != nil && f.Name != "add" && f.Name != "ids" && !slices.Contains(a.flags(), f.Name) {
			other = append(other, "--"+f.Name)
		}
	})
	if len(other) > 0 {
		return usagef("%s applies only to a new index, without --add", other[0])
	}
	if ids == plan.IDsNone {
		return usagef("--ids none applies only to a new index, without --add")
	}
	conflict, err := parseConflict(a.onConflict)
	if err != nil {
		return err
	}
	files, err := g.openPrints(paths)
	if err != nil {
		return err
	}
	defer closePrints(files)
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
	bar := g.newBar("building", int64(len(x.Design().Tables)+1), countUnit)
	err = x.Live().Add(cmd.Context(), files, engine.BuildOptions{NoIDs: ids == plan.IDsRows, Options: segment.Options{Threads: g.threads,
		Budget: memory.ForProgram(g.machine.Limit(0)), Progress: func(_ string, part, _ int) { bar.set(int64(part)) }}})
	bar.end()
	if err != nil {
		return fmt.Errorf("%s: %w", a.dir, err)
	}
	after := x.Stats().Documents
	text := fmt.Sprintf("%s: %s added, now %s", a.dir, number(docs, "document"), number(after, "document"))
	if gone := before + docs - after; gone > 0 {
		text += fmt.Sprintf("; %s had an ID that was taken", number(gone, "document"))
	}
	g.log.Info(text)
	return nil
}
