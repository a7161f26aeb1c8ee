package scan

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
)

func TestScanHits(t *testing.T) {
	base, queries := sets.Planted(30_000, 500)
	want := oracle.Search(base, queries, 3)
	tables, err := newTables(queries, buildOptions{K: 3, Threads: 1})
	must.Do(t, err)
	defer tables.Close()
	for _, threads := range []int{1, 3} {
		var mu sync.Mutex // every goroutine reports progress
		done := uint64(0)
		hits, err := tables.scan(context.Background(), Chunk{Fingerprints: base}, Options{Threads: threads,
			Progress: func(n uint64) {
				mu.Lock()
				defer mu.Unlock()
				done = max(done, n)
			}})
		must.Do(t, err)
		if got := collectRecords(t, hits); !slices.Equal(got, want) || done != uint64(len(base)) {
			t.Fatalf("%d threads: %d hits, want %d; %d done", threads, len(got), len(want), done)
		}
		hits.Close()
	}
	_, err = tables.scan(must.Cancelled(t), Chunk{Fingerprints: base}, Options{Threads: 2})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestRecord checks that records in the order of their words are hits in the order of a result.
func TestRecord(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 10_000 {
		a := Hit{rng.Uint64N(3) << 40, rng.IntN(3) * 32, rng.Uint64N(3), rng.Uint64N(3)}
		b := Hit{rng.Uint64N(3) << 40, rng.IntN(3) * 32, rng.Uint64N(3), rng.Uint64N(3)}
		ra, rb := a.record(), b.record()
		want := cmp.Or(cmp.Compare(a.Query, b.Query), cmp.Compare(a.Distance, b.Distance),
			cmp.Compare(a.Fingerprint, b.Fingerprint), cmp.Compare(a.Row, b.Row))
		if hitOf(ra) != a || slices.Compare(ra[:], rb[:]) != want {
			t.Fatalf("%+v and %+v compare as %v and %v", a, b, ra, rb)
		}
	}
	// A file that cannot be.
	w, err := newHits(nil, t.TempDir()+"/none", 1, 1).Writer(), error(nil)
	for i := uint64(0); i < 1000 && err == nil; i++ {
		err = w.Add(record{i << 8})
	}
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}

// TestAnswer limits the memory, so that only some queries are answered at a time.
func TestAnswer(t *testing.T) {
	base, queries := sets.Planted(20_000, 10_000)
	want := oracle.Search(base, queries, 3)
	for _, bytes := range []uint64{1 << 30, 2 << 20, 600 << 10} {
		o := Options{Threads: 1, Budget: memory.NewBudget(memory.Set(bytes)), Temp: t.TempDir()}
		s, err := NewPlan(len(queries), 3, o)
		if err != nil || s.Bytes() > bytes || (s.Queries == len(queries)) != (bytes == 1<<30) {
			t.Fatalf("%d bytes: %+v, %v", bytes, s, err)
		}
		got := collect(t, Answer(context.Background(), Chunk{Fingerprints: base}, queries, 3, s, o))
		if !slices.Equal(got, want) {
			t.Errorf("%d bytes: %d hits, want %d", bytes, len(got), len(want))
		}
		for range Answer(context.Background(), Chunk{Fingerprints: base}, queries, 3, s, o) {
			if o.Budget.Free() != bytes-s.Bytes() {
				t.Errorf("%d of %d bytes are left while %d are in use", o.Budget.Free(), bytes, s.Bytes())
			}
			break // all memory must be released nevertheless
		}
		if o.Budget.Free() != bytes {
			t.Errorf("%d of %d bytes are left", o.Budget.Free(), bytes)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	var last error
	for _, err := range Answer(ctx, Chunk{Fingerprints: base}, queries, 3, Plan{Queries: 1000, Hits: 1 << 20}, Options{}) {
		n++
		last = err
		cancel()
	}
	if !errors.Is(last, context.Canceled) || n > len(want)/2 {
		t.Errorf("cancelled: %v after %d hits", last, n)
	}
}

// TestPlan checks that with little memory, a plan first uses fewer goroutines, and then reads F several times, unless
// it is read only once.
func TestPlan(t *testing.T) {
	const queries = 1_000_000
	for _, limit := range []uint64{1 << 30, 512 << 20, 64 << 20, 8 << 20, 1 << 20} {
		for _, threads := range []int{1, 4, 64} {
			o := Options{Threads: threads, Budget: memory.NewBudget(memory.Set(limit)), Fingerprints: 1 << 30}
			s, err := NewPlan(queries, 3, o)
			if err != nil || s.Bytes() > limit || s.Threads < 1 || s.Threads > threads ||
				s.Queries < queries && limit >= 512<<20 {
				t.Errorf("%d bytes, %d threads: %+v, %v", limit, threads, s, err)
			}
			o.Once = true
			if once, err := NewPlan(queries, 3, o); err == nil && (once.Queries < queries || once.Bytes() > limit) ||
				err != nil && (s.Queries == queries || !errors.Is(err, memory.ErrTooLarge)) {
				t.Errorf("%d bytes, %d threads, once: %+v, %v, else %+v", limit, threads, once, err, s)
			}
		}
	}
}
