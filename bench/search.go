package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/dustin/go-humanize"

	"example.org/ndd/engine"
	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/distribution"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/index/plan"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/index/worker"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/storage/store"
	"example.org/ndd/numa"
	"example.org/ndd/permute"
)

const distance = 3 // k of every search

// A searchedDesign is a design whose figures are compared, in a layout.
type searchedDesign struct {
	design  string
	layout  table.Layout
	slow    bool // asked a tenth of the queries: one table takes forty times as long as two
	workers bool // pinned to the nodes where copies of the tables are, they search
}

var searched = []searchedDesign{
	{design: "one", layout: table.LayoutPlanar, slow: true},
	{design: "halves", layout: table.LayoutPlanar},
	{design: "halves", layout: table.LayoutPlanar, workers: true},
	{design: "mixed-3-1000", layout: table.LayoutPlanar},
	{design: "cover-11-6-3", layout: table.LayoutPlanar},
	{design: "halves", layout: table.LayoutHuffman},
	{design: "paper-10", layout: table.LayoutHuffman},
}

// search builds an index of each design from the same fingerprints, and queries it. The answers to a batch must have
// the same checksum with every design. The answers to the first queries are compared with a linear scan.
func search(ctx context.Context, b *bench, r *Result) error {
	// Write the fingerprints and the queries to files.
	base, queries := sets.Planted(b.n, b.queries)
	path, file := filepath.Join(b.dir, "base.bin"), filepath.Join(b.dir, "queries.bin")
	for name, words := range map[string][]uint64{path: base, file: queries} {
		if err := os.WriteFile(name, store.Bytes64(words), 0o644); err != nil {
			return err
		}
	}
	// Measure each design, and then the programs in C.
	r.Columns = []string{"B/fingerprint", "of the bound", "build M/s", "online ns", "batch ns",
		fmt.Sprintf("batch ns, %d threads", runtime.GOMAXPROCS(0)), "batch in misses", "online of the model"}
	predicted, err := b.predictions(ctx)
	if err != nil {
		return err
	}
	first := queries[:min(firstQueries, len(queries))]
	want := map[int]answer{len(first): compareAll(base, first)} // answer by number of queries
	for _, s := range searched {
		name := fmt.Sprintf("%s, %s", s.design, s.layout)
		if s.workers {
			name += ", workers"
		}
		b.say("%s", name)
		cells, err := b.searchDesign(ctx, path, s, queries, want)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		model, ok := predicted[searchedDesign{design: s.design, layout: s.layout}]
		if online := cells[3].(Cell); ok {
			cells = append(cells, online.scale(1/model))
		}
		r.row(name, cells...)
	}
	for _, count := range []int{2, 11} {
		name := fmt.Sprintf("%d tables in C", count)
		b.say("%s", name)
		cells, note, err := b.yardstick(ctx, path, file, count, want[len(queries)])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if note != "" {
			r.note("%s", note)
			break
		}
		r.row(name, cells...)
	}
	r.note("%s uniform fingerprints, one in a hundred near another; half of the queries have an answer",
		humanize.Comma(int64(b.n)))
	r.note("verified: every design found %v in %d queries, and what a linear scan finds for the first",
		want[len(queries)], len(queries))
	r.note("one thread, k = %d, batches of %d, one table of a tenth of them; the C programs have no batch; build of a "+
		"whole index, on all threads, from a file to files", distance, len(queries))
	r.note("of the model: time divided by that of ndd design for this machine")
	r.note("in misses: time divided by that of an independent miss of this machine; bytes without documents' numbers")
	return nil
}

// predictions returns the nanoseconds of a single query that `ndd design` prints for this machine, by design and
// layout.
func (b *bench) predictions(ctx context.Context) (map[searchedDesign]float64, error) {
	machine, err := plan.Measure(math.MaxUint64)
	if err != nil {
		return nil, err
	}
	p, err := plan.New(ctx, plan.Request{Fingerprints: uint64(b.n), K: distance, IDs: plan.IDsRows})
	if err != nil {
		return nil, err
	}
	times := map[searchedDesign]float64{}
	for _, o := range p.ForMachine(machine).Options {
		times[searchedDesign{design: o.Name, layout: o.Layout}] = o.OnlineNS
	}
	return times, nil
}

// searchDesign measures one design. want has the answers of earlier designs, to all queries and to a tenth of them. The
// answers of this design must be the same.
func (b *bench) searchDesign(ctx context.Context, path string, s searchedDesign, queries []uint64,
	want map[int]answer) ([]any, error) {
	dir := filepath.Join(b.dir, "index")
	defer os.RemoveAll(dir)
	// Build the index.
	began := time.Now()
	x, err := buildIndex(ctx, dir, path, s.design, s.layout)
	if err != nil {
		return nil, err
	}
	build := time.Since(began)
	if s.workers {
		x.Close()
		x, err = openSpread(ctx, dir)
		if err != nil {
			return nil, err
		}
	}
	defer x.Close()
	first := queries[:min(firstQueries, len(queries))]
	if got, err := ask(ctx, x, first, 0, len(first)); err != nil || got != want[len(first)] {
		return nil, cmp.Or(err, fmt.Errorf("one by one %v, a linear scan finds %v", got, want[len(first)]))
	}
	rng := rand.New(rand.NewPCG(uint64(b.n), 1))
	online, err := b.repeat(func() error {
		_, err := ask(ctx, x, queries, rng.IntN(len(queries)), onlineQueries)
		return err
	})
	if err != nil {
		return nil, err
	}
	// Measure batches, whose results must be the same for all designs.
	batch := func(queries []uint64, threads int) error {
		got, err := batchSum(ctx, x, queries, threads)
		if before, ok := want[len(queries)]; err == nil && ok && got != before {
			err = fmt.Errorf("the batch found %v, before %v", got, before)
		}
		want[len(queries)] = got
		return err
	}
	tenth := queries[:len(queries)/10]
	if err := batch(tenth, 0); err != nil {
		return nil, err
	}
	if s.slow {
		queries = tenth
	}
	batches, err := b.byThreads(func(threads int) error { return batch(queries, threads) })
	if err != nil {
		return nil, err
	}
	one, all := batches[0].scale(1e9/float64(len(queries))), batches[1].scale(1e9/float64(len(queries)))
	online = online.scale(1e9 / onlineQueries)
	bytes := float64(x.Stats().TableBytes) / float64(b.n)
	return []any{bytes, bytes / b.bound(len(x.Design().Tables)), float64(b.n) / build.Seconds() / 1e6,
		online, one, all, one.Value / machine().independent}, nil
}

// bound returns the entropy of a number of tables, in bytes a fingerprint.
func (b *bench) bound(tables int) float64 {
	return distribution.Bound(uint64(b.n)) / 8 * float64(tables)
}

const (
	onlineQueries = 2000 // are asked one after the other in a round
	firstQueries  = 50   // are compared with a linear scan
)

// buildIndex builds an index of the fingerprints in a file, and loads it.
func buildIndex(ctx context.Context, dir, path, design string, layout table.Layout) (*engine.Index, error) {
	d, err := permute.ByName(design, distance, 1)
	if err != nil {
		return nil, err
	}
	f, err := ndf.Open(path, ndf.OpenOptions{})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	o := segment.Options{Design: d, Table: table.Options{Layout: layout}}
	if err := live.Build(ctx, dir, []*ndf.File{f}, live.BuildOptions{Options: o}); err != nil {
		return nil, err
	}
	return engine.Open(ctx, dir, engine.OpenOptions{Load: true})
}

// index writes uniform fingerprints to a file and builds an index of two planar tables, for the benchmarks of servers
// and inserts.
func (b *bench) index(ctx context.Context) (fingerprints []uint64, index string, err error) {
	fingerprints, index = sets.Uniform(b.n, 1), filepath.Join(b.dir, "index")
	path := filepath.Join(b.dir, "base.bin")
	if err := os.WriteFile(path, store.Bytes64(fingerprints), 0o644); err != nil {
		return nil, "", err
	}
	x, err := buildIndex(ctx, index, path, "halves", table.LayoutPlanar)
	if err != nil {
		return nil, "", err
	}
	return fingerprints, index, x.Close()
}

// ask asks count queries one after the other.
func ask(ctx context.Context, x *engine.Index, queries []uint64, from, count int) (a answer, err error) {
	for i := range count {
		query := (from + i) % len(queries)
		hits, err := x.Query(ctx, simhash.Fingerprint(queries[query]), engine.QueryOptions{K: distance})
		if err != nil {
			return a, err
		}
		for j := range hits {
			a.add(query, uint64(hits[j].Fingerprint))
		}
	}
	return a, nil
}

// batchSum answers queries in a batch.
func batchSum(ctx context.Context, x *engine.Index, queries []uint64, threads int) (a answer, err error) {
	err = x.Batch(ctx, simhash.Fingerprints(queries), engine.BatchOptions{K: distance, Threads: threads},
		func(query int, list []engine.Hit) error {
			for _, h := range list {
				a.add(query, uint64(h.Fingerprint))
			}
			return nil
		})
	return a, err
}

// openSpread opens an index whose tables are copied to the memory nodes of this host.
func openSpread(ctx context.Context, dir string) (*engine.Index, error) {
	x, err := live.Open(ctx, dir, live.OpenOptions{Spread: &worker.Options{Host: numa.New(numa.Options{})}})
	if err != nil {
		return nil, err
	}
	return engine.Wrap(x), nil
}
