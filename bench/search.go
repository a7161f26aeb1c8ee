package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/dustin/go-humanize"

	"ndd/asm"
	"ndd/engine"
	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/distribution"
	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/oracle"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
	"ndd/permute"
)

const distance = 3 // k of every search

// searched are the designs whose figures are compared, by layout.
var searched = []searchedDesign{
	{design: "one", layout: table.LayoutPlanar, slow: true},
	{design: "halves", layout: table.LayoutPlanar},
	{design: "mixed-3-1000", layout: table.LayoutPlanar},
	{design: "cover-11-6-3", layout: table.LayoutPlanar},
	{design: "halves", layout: table.LayoutHuffman},
	{design: "paper-10", layout: table.LayoutHuffman},
}

type searchedDesign struct {
	design string
	layout table.Layout
	slow   bool // asked a tenth of the queries: one table takes forty times as long as two
}

// A found is what a design finds, as [answer] names it.
type found struct {
	tenth string // of the first tenth of the queries
	all   string // of all; "" of a slow design
}

// search builds an index of each design from the same fingerprints, and queries it. The answers
// to a batch must have the same checksum in every design, and those to the first queries are held
// against a linear scan.
func search(ctx context.Context, b *bench, r *Result) error {
	dir, remove, err := b.folder("search")
	if err != nil {
		return err
	}
	defer remove()
	base, queries := sets.Planted(b.n, b.queries)
	path := filepath.Join(dir, "base.bin")
	if err := os.WriteFile(path, store.Bytes64(base), 0o644); err != nil {
		return err
	}
	r.Columns = []string{"B/fingerprint", "of the bound", "build M/s", "online ns", "batch ns", fmt.Sprintf("batch ns, %d threads", runtime.GOMAXPROCS(0)), "batch in misses"}
	var want found
	for _, s := range searched {
		name := fmt.Sprintf("%s, %s", s.design, s.layout)
		b.say("%s", name)
		cells, sum, err := b.searchDesign(ctx, dir, path, s, base, queries)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		want.tenth, want.all = cmp.Or(want.tenth, sum.tenth), cmp.Or(want.all, sum.all)
		if sum.tenth != want.tenth || !s.slow && sum.all != want.all {
			return fmt.Errorf("%s: the batch found %+v, other designs %+v", name, sum, want)
		}
		r.row(name, cells...)
	}
	file := filepath.Join(dir, "queries.bin")
	if err := os.WriteFile(file, store.Bytes64(queries), 0o644); err != nil {
		return err
	}
	for _, count := range []int{2, 11} {
		name := fmt.Sprintf("%d tables in C", count)
		b.say("%s", name)
		cells, note, err := b.yardstick(ctx, dir, path, file, count, want.all)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if note != "" {
			r.note("%s", note)
			break
		}
		r.row(name, cells...)
	}
	r.note("%s uniform fingerprints, one in a hundred near another; queries of which half have an answer", humanize.Comma(int64(b.n)))
	r.note("verified: every design found %s in %d queries, and what a linear scan finds for the first", want.all, len(queries))
	r.note("one thread, k = %d, batches of %d, one table of a tenth of them; the C programs have no batch; build of a whole index, on all threads, from a file to files", distance, len(queries))
	r.note("in misses: time divided by that of an independent miss of this machine; bytes without documents' numbers")
	return nil
}

// searchDesign returns the figures of one design, and what the batch found.
func (b *bench) searchDesign(ctx context.Context, dir, path string, s searchedDesign, base, queries []uint64) (_ []Cell, sum found, err error) {
	design, err := permute.Named(s.design, distance, 1)
	if err != nil {
		return nil, sum, err
	}
	began := time.Now()
	x, err := buildIndex(ctx, filepath.Join(dir, "index"), path, segment.Options{Design: design, Table: table.Options{Layout: s.layout}})
	if err != nil {
		return nil, sum, err
	}
	build := time.Since(began)
	defer os.RemoveAll(filepath.Join(dir, "index"))
	defer x.Close()
	if err := verifyIndex(ctx, x, base, queries[:min(50, len(queries))]); err != nil {
		return nil, sum, err
	}
	rng := rand.New(rand.NewPCG(uint64(b.n), 1))
	online, err := rounds(b.rounds, func() error { return ask(ctx, x, queries, rng.IntN(len(queries)), onlineQueries) })
	if err != nil {
		return nil, sum, err
	}
	if sum.tenth, err = batchSum(ctx, x, queries[:len(queries)/10], 0); err != nil {
		return nil, sum, err
	}
	if s.slow {
		queries = queries[:len(queries)/10]
	}
	var all string
	var batches [2]Cell
	for i, threads := range []int{1, 0} {
		batches[i], err = rounds(b.rounds, func() (err error) {
			all, err = batchSum(ctx, x, queries, threads)
			return err
		})
		if err != nil {
			return nil, sum, err
		}
		batches[i] = batches[i].scale(1e9 / float64(len(queries)))
	}
	if !s.slow {
		sum.all = all
	}
	bytes := float64(x.Stats().TableBytes) / float64(b.n)
	return []Cell{
		number(bytes), number(bytes / b.bound(len(design.Tables))), number(float64(b.n) / build.Seconds() / 1e6),
		online.scale(1e9 / onlineQueries), batches[0], batches[1], number(batches[0].Value / machineMemory().IndependentNs),
	}, sum, nil
}

// bound returns the entropy of so many tables, in bytes a fingerprint.
func (b *bench) bound(tables int) float64 {
	return distribution.Bound(uint64(b.n)) / 8 * float64(tables)
}

// onlineQueries are asked one after the other in a round.
const onlineQueries = 2000

func buildIndex(ctx context.Context, dir, path string, o segment.Options) (*engine.Index, error) {
	f, err := ndf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := engine.Build(ctx, dir, []*ndf.File{f}, engine.BuildOptions{Options: o}); err != nil {
		return nil, err
	}
	return engine.Open(ctx, dir, engine.OpenOptions{Load: true})
}

// verifyIndex holds the answers to queries against a linear scan of what is stored.
func verifyIndex(ctx context.Context, x *engine.Index, base, queries []uint64) error {
	found := make([]uint32, 1<<16)
	for _, q := range queries {
		want := 0
		for rest := base; len(rest) > 0; {
			n, scanned := asm.Within64(found, rest, q, distance)
			want, rest = want+n, rest[scanned:]
		}
		hits, err := x.Query(ctx, simhash.Fingerprint(q), distance, engine.AllDocs)
		if err != nil {
			return err
		}
		got := 0
		for _, h := range hits {
			got += int(h.Documents)
		}
		if got != want {
			return fmt.Errorf("%016x: %d documents, a linear scan finds %d", q, got, want)
		}
	}
	return nil
}

// ask asks count queries one after the other.
func ask(ctx context.Context, x *engine.Index, queries []uint64, from, count int) error {
	for i := range count {
		if _, err := x.Query(ctx, simhash.Fingerprint(queries[(from+i)%len(queries)]), distance, 0); err != nil {
			return err
		}
	}
	return nil
}

// batchSum answers queries in a batch and returns the number of hits with their checksum.
func batchSum(ctx context.Context, x *engine.Index, queries []uint64, threads int) (string, error) {
	hits, sum := 0, uint64(0)
	err := x.Batch(ctx, simhash.Fingerprints(queries), engine.BatchOptions{K: distance, Threads: threads}, func(query int, list []engine.Hit) error {
		for _, h := range list {
			sum += oracle.Term(query, uint64(h.Fingerprint))
		}
		hits += len(list)
		return nil
	})
	return answer(hits, sum), err
}

// answer names what a batch found.
func answer(hits int, sum uint64) string { return fmt.Sprintf("%d hits of checksum %016x", hits, sum) }
