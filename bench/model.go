package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"

	"github.com/dustin/go-humanize"

	"example.org/ndd/engine/index/plan"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/storage/store"
)

// model compares the times that `ndd design` prints, for this machine and for the reference machine, with measured
// ones: of each starred design, for 1 and 10 million fingerprints and so on, up to b.n.
//
// Times are processor times, so that other programs matter less. Each is the minimum of short rounds: single queries
// and a batch in turn. The machine is measured before each design.
func model(ctx context.Context, b *bench, r *Result) error {
	r.Columns = []string{"single ns", "model", "ratio", "reference", "batch ns", "model", "ratio", "reference"}
	for n := min(b.n, 1_000_000); ; n = min(10*n, b.n) {
		// Plan for this number, and write the fingerprints to a file.
		p, err := plan.New(ctx, plan.Request{Fingerprints: uint64(n), K: distance, IDs: plan.IDsRows})
		if err != nil {
			return err
		}
		base, queries := sets.Planted(n, modelBatches*modelBatch)
		path := filepath.Join(b.dir, "base.bin")
		if err := os.WriteFile(path, store.Bytes64(base), 0o644); err != nil {
			return err
		}
		// Measure each starred design.
		for i, o := range p.Options {
			if !o.Frontier {
				continue
			}
			name := fmt.Sprintf("%s, %s, %s", humanize.SIWithDigits(float64(n), 0, ""), o.Name, o.Layout)
			b.say("%s", name)
			machine, err := plan.Measure(math.MaxUint64)
			if err != nil {
				return err
			}
			online, batch, err := b.timeDesign(ctx, path, &o, queries)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			h := &p.ForMachine(machine).Options[i]
			r.row(name, online, h.OnlineNS, online/h.OnlineNS, online/o.OnlineNS, batch, h.BatchNS, batch/h.BatchNS,
				batch/o.BatchNS)
		}
		if n == b.n {
			break
		}
	}
	r.note("k = %d, with document numbers; batches of %d queries, half of them with an answer; one thread", distance,
		modelBatch)
	r.note("ratio: measured time divided by that of the model on this machine; reference: by that of --reference")
	return nil
}

const (
	modelBatch   = 1_024 // queries of a batch
	modelBatches = 100   // batches with different queries, so that the caches do not contain the lines that they read
)

// timeDesign builds an index of the fingerprints in a file and returns the minimum of its times per query.
func (b *bench) timeDesign(ctx context.Context, path string, o *plan.Option, queries []uint64) (online, batch float64,
	err error) {
	dir := filepath.Join(b.dir, "index")
	defer os.RemoveAll(dir)
	x, err := buildIndex(ctx, dir, path, o.Name, o.Layout)
	if err != nil {
		return 0, 0, err
	}
	defer x.Close()
	// Use one processor. The system does not count the last milliseconds of a thread that still runs on another one, so
	// that a round of half a millisecond could seem to take a tenth of it.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	online, batch = math.Inf(1), math.Inf(1)
	for i := range 20 * b.rounds {
		queries := queries[i%modelBatches*modelBatch:][:modelBatch]
		began := processorTime()
		if _, err := ask(ctx, x, queries, 0, len(queries)); err != nil {
			return 0, 0, err
		}
		online = min(online, float64(processorTime()-began)/float64(len(queries)))
		began = processorTime()
		_, err := batchSum(ctx, x, queries, 1)
		batch = min(batch, float64(processorTime()-began)/float64(len(queries)))
		if err != nil {
			return 0, 0, err
		}
	}
	return online, batch, nil
}
