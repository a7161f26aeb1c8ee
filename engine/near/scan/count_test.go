package scan

import (
	"context"
	"errors"
	"slices"
	"testing"

	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/result"
)

// TestCount compares totals with the hits of the oracle. It covers repeated queries and fingerprints, parts of the
// queries, and several goroutines.
func TestCount(t *testing.T) {
	for _, set := range sets.All(900, 300, 3, 21) {
		queries := append(slices.Clone(set.Queries), set.Queries[:40]...)
		hits := oracle.Search(set.Base, queries, 3)
		for _, sum := range []bool{true, false} {
			want := result.Totals{Hits: uint64(len(hits))}
			for i, h := range hits {
				if i == 0 || h.Query != hits[i-1].Query {
					want.WithHits++
				}
			}
			if sum {
				want.Sum = oracle.Checksum(hits)
			}
			for _, threads := range []int{1, 3} {
				for _, at := range []int{len(queries), 77} {
					if !long.Form() && (threads == 1) == (at == 77) {
						continue
					}
					got, err := Count(context.Background(), Slice(set.Base, 0), queries, 3, Plan{Queries: at},
						Options{Threads: threads, Counted: true}, sum)
					if err != nil || got != want {
						t.Fatalf("%s, %d threads, %d queries at a time: %+v, %v, want %+v", set.Name, threads, at, got, err, want)
					}
				}
			}
		}
	}
}

// TestCountMany has too many hits to store them or to compute their terms one by one. Each of two queries occurs in
// 150,000 rows, and F has 300,000 fingerprints within 2 bits of both. The expected sum multiplies the term of each
// kind of pair by their number.
func TestCountMany(t *testing.T) {
	const n = 300_000
	base, queries := make([]uint64, n), make([]uint64, n)
	for i := range base {
		base[i], queries[i] = uint64(i%3%2), uint64(i%2)<<63
	}
	o := Options{Threads: 2, Budget: memory.NewBudget(memory.Set(100 << 20)), Counted: true, Temp: t.TempDir() + "/none"}
	s, err := NewPlan(n, 3, false, o)
	if err != nil || s.Hits > n {
		t.Fatalf("%+v, %v", s, err)
	}
	want := result.Totals{WithHits: n, Hits: n * n}
	for query := range n {
		want.Sum += 2*n/3*oracle.Term(query, 0) + n/3*oracle.Term(query, 1)
	}
	got, err := Count(context.Background(), Slice(base, 0), queries, 3, s, o, true)
	if err != nil || got != want {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

func TestCountFails(t *testing.T) {
	broken := errors.New("broken")
	source := func(func(Chunk) bool) error { return broken }
	got, err := Count(context.Background(), source, []uint64{1}, 3, Plan{Queries: 1}, Options{Threads: 2}, false)
	if !errors.Is(err, broken) || got != (result.Totals{}) {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = Count(must.Cancelled(t), Slice([]uint64{1, 2}, 0), []uint64{1}, 3, Plan{Queries: 1}, Options{}, false)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
