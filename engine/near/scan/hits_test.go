package scan

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/storage/store"
)

func TestScanHits(t *testing.T) {
	base, queries := sets.Planted(30_000, 500)
	want := oracle.Search(base, queries, 3)
	tables, err := newTables(queries, buildOptions{K: 3, Threads: 1})
	must.Do(t, err)
	defer tables.Close()
	for name, source := range map[string]func() Source{
		"slice":  func() Source { return Slice(base, 0) },
		"stream": func() Source { return Reader(bytes.NewReader(store.Bytes64(base)), 1000) },
	} {
		for _, threads := range []int{1, 3} {
			var mu sync.Mutex // every goroutine reports progress
			done := uint64(0)
			hits, err := tables.scanHits(context.Background(), source(), Options{Threads: threads, Progress: func(n uint64) {
				mu.Lock()
				defer mu.Unlock()
				done = max(done, n)
			}})
			must.Do(t, err)
			if got := collect(t, allHits(t.Context(), hits)); !slices.Equal(got, want) || done != uint64(len(base)) {
				t.Fatalf("%s: %d hits, want %d; %d done", name, len(got), len(want), done)
			}
			hits.Close()
		}
	}
	if _, err := tables.scanHits(context.Background(), Reader(strings.NewReader("eleven byte"), 10),
		Options{Threads: 2}); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("a partial fingerprint: %v", err)
	}
	broken := errors.New("broken")
	if _, err := tables.scanHits(context.Background(), func(func(Chunk) bool) error { return broken },
		Options{Threads: 2}); !errors.Is(err, broken) {
		t.Errorf("a source that fails: %v", err)
	}
	_, err = tables.scanHits(must.Cancelled(t), Slice(base, 0), Options{Threads: 2})
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
		s, err := NewPlan(len(queries), 3, false, o)
		if err != nil || s.Bytes() > bytes || (s.Queries == len(queries)) != (bytes == 1<<30) {
			t.Fatalf("%d bytes: %+v, %v", bytes, s, err)
		}
		opened := 0
		source := func(yield func(Chunk) bool) error {
			if opened++; o.Budget.Free() != bytes-s.Bytes() {
				t.Errorf("%d of %d bytes are left while %d are in use", o.Budget.Free(), bytes, s.Bytes())
			}
			return Slice(base, 0)(yield)
		}
		got := collect(t, Answer(context.Background(), source, queries, 3, s, o))
		if !slices.Equal(got, want) || opened != (len(queries)+s.Queries-1)/s.Queries {
			t.Errorf("%d bytes: %d hits, want %d; F opened %d times", bytes, len(got), len(want), opened)
		}
		for range Answer(context.Background(), Slice(base, 0), queries, 3, s, o) {
			break // all memory must be released nevertheless
		}
		if o.Budget.Free() != bytes {
			t.Errorf("%d of %d bytes are left", o.Budget.Free(), bytes)
		}
	}
	// A stream takes hardly more memory than a file, in smaller chunks.
	if s, err := NewPlan(len(queries), 3, true,
		Options{Threads: 1, Budget: memory.NewBudget(memory.Set(4 << 20))}); err != nil || s.Chunk < chunkMin ||
		s.Chunk >= chunkPrints {
		t.Errorf("a stream: %+v, %v", s, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	var last error
	for _, err := range Answer(ctx, Slice(base, 0), queries, 3, Plan{Queries: 1000, Hits: 1 << 20}, Options{}) {
		n++
		last = err
		cancel()
	}
	if !errors.Is(last, context.Canceled) || n > len(want)/2 {
		t.Errorf("cancelled: %v after %d hits", last, n)
	}
}

// TestPlan checks that with little memory, a plan first uses fewer goroutines, and then reads F several times. A pipe
// is read only once.
func TestPlan(t *testing.T) {
	const queries = 1_000_000
	for _, limit := range []uint64{1 << 30, 512 << 20, 64 << 20, 8 << 20, 1 << 20} {
		for _, streamed := range []bool{false, true} {
			for _, threads := range []int{1, 4, 64} {
				o := Options{Threads: threads, Budget: memory.NewBudget(memory.Set(limit)), Fingerprints: 1 << 30}
				s, err := NewPlan(queries, 3, streamed, o)
				if err != nil || s.Bytes() > limit || s.Threads < 1 || s.Threads > threads || (s.Chunk > 0) != streamed ||
					s.Queries < queries && limit >= 512<<20 {
					t.Errorf("%d bytes, %d threads: %+v, %v", limit, threads, s, err)
				}
				o.Once = true
				if once, err := NewPlan(queries, 3, streamed, o); err == nil && (once.Queries < queries || once.Bytes() > limit) ||
					err != nil && (s.Queries == queries || !errors.Is(err, memory.ErrTooLarge)) {
					t.Errorf("%d bytes, %d threads, a pipe: %+v, %v, else %+v", limit, threads, once, err, s)
				}
			}
		}
	}
}
