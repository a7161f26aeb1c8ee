package postings

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/engine/copies/signature"
	"ndd/engine/oracle"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// randomSets returns sets with many near each other, some equal, some empty.
func randomSets(random *rand.Rand, n int) (sets [][]uint64) {
	for i := range n {
		var set []uint64
		switch {
		case i > 0 && random.IntN(3) > 0: // a copy with some signatures left out and others put in
			for _, h := range sets[random.IntN(i)] {
				if random.IntN(6) > 0 {
					set = append(set, h)
				}
			}
			for range random.IntN(4) {
				set = append(set, random.Uint64N(200))
			}
		case i > 0 && random.IntN(4) == 0:
			set = slices.Clone(sets[random.IntN(i)])
		default:
			for range random.IntN(30) {
				set = append(set, random.Uint64N(1000))
			}
		}
		slices.Sort(set)
		sets = append(sets, slices.Compact(set))
	}
	return sets
}

// exact is the definition with big rationals: is the similarity at least the threshold, which is num/den?
func exact(m Measure, a, b, shared int, num, den int64) bool {
	of := min(a, b)
	if m == Jaccard {
		of = a + b - shared
	}
	return of > 0 && big.NewRat(int64(shared), int64(of)).Cmp(big.NewRat(num, den)) >= 0
}

// brute compares all with all. Of groups of more than most equal sets it takes the first, and its pairs with the others.
func brute(sets [][]uint64, m Measure, num, den int64, most int) (pairs []Pair) {
	first, group := make([]int, len(sets)), map[int]int{}
	for i := range sets {
		first[i] = slices.IndexFunc(sets, func(s []uint64) bool { return slices.Equal(s, sets[i]) })
		group[first[i]]++
	}
	listed := func(i int) bool { return first[i] == i || group[first[i]] <= most }
	for a := range sets {
		for b := a + 1; b < len(sets); b++ {
			if !(listed(a) && listed(b) || a == first[b]) || len(sets[a]) == 0 || len(sets[b]) == 0 {
				continue
			}
			shared := signature.Shared(sets[a], sets[b])
			if exact(m, len(sets[a]), len(sets[b]), shared, num, den) {
				pairs = append(pairs, Pair{uint32(a), uint32(b), len(sets[a]), len(sets[b]), shared})
			}
		}
	}
	return pairs
}

func build(t testing.TB, sets [][]uint64) *Index {
	t.Helper()
	var b Builder
	for _, s := range sets {
		b.Add(s)
	}
	x, err := b.Build(context.Background(), 2)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestJoin holds the join against all pairs, at thresholds that are fractions of small sets.
func TestJoin(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for round := range 12 {
		sets := randomSets(random, 40*(round+1))
		x := build(t, sets)
		for _, m := range []Measure{Jaccard, Containment} {
			for _, f := range [][2]int64{{1, 10}, {1, 3}, {45, 100}, {1, 2}, {3, 5}, {2, 3}, {8, 10}, {1, 1}} {
				most := 1 + round%4*2
				want := brute(sets, m, f[0], f[1], most)
				for _, threads := range []int{1, 3} {
					got, report, err := x.Join(context.Background(), Options{Measure: m, Threshold: float64(f[0]) / float64(f[1]), Threads: threads, MaxEqual: most})
					if err != nil || !slices.Equal(got, want) {
						t.Fatalf("measure %d, threshold %d/%d, %d threads: %d pairs, want %d, %v", m, f[0], f[1], threads, len(got), len(want), err)
					}
					if report.Pairs != len(want) || report.Frequent != 0 {
						t.Errorf("%+v", report)
					}
				}
			}
		}
	}
}

// TestNeeded: the bounds are those of exact fractions.
func TestNeeded(t *testing.T) {
	for _, m := range []Measure{Jaccard, Containment} {
		for _, f := range [][2]int64{{1, 10}, {1, 3}, {45, 100}, {3, 5}, {7, 10}, {999, 1000}, {1, 1}} {
			o := Options{Measure: m, Threshold: float64(f[0]) / float64(f[1])}
			for a := 1; a < 60; a++ {
				for b := a; b < 90; b++ {
					want := 1
					for want <= a && !exact(m, a, b, want, f[0], f[1]) {
						want++
					}
					if got := min(o.needed(a, b), a+1); got != want {
						t.Fatalf("measure %d, %d/%d, sets of %d and %d: %d needed, want %d", m, f[0], f[1], a, b, got, want)
					}
					if want <= a != (b <= o.largest(a)) {
						t.Fatalf("measure %d, %d/%d: the largest set for %d is %d", m, f[0], f[1], a, o.largest(a))
					}
					if o.least(a) > want {
						t.Fatalf("least of %d: %d", a, o.least(a))
					}
				}
			}
		}
	}
}

// TestFrequent: a signature of very many documents finds no candidates, is counted where it is shared, and is told.
func TestFrequent(t *testing.T) {
	var sets [][]uint64
	for i := range uint64(1000) {
		sets = append(sets, []uint64{1, 2, 3, 1000 + i/2, 5000 + i}) // pairs share 4 of 5, others the 3 of all
		slices.Sort(sets[i])
	}
	x := build(t, sets)
	got, report, err := x.Join(context.Background(), Options{Measure: Containment, Threshold: 0.6, MaxDocuments: 100})
	if err != nil || len(got) != 500 || got[0].Shared != 4 || report.Frequent != 1000 || report.Candidates != 500 {
		t.Errorf("%d pairs, %+v, %v", len(got), report, err)
	}
	got, report, err = x.Join(context.Background(), Options{Measure: Containment, Threshold: 0.6})
	if err != nil || len(got) != 1000*999/2 || report.Frequent != 0 {
		t.Errorf("all: %d pairs, %+v, %v", len(got), report, err)
	}
}

// TestEqual: 100,000 documents with one set are as many pairs, not their square; empty ones are in none.
func TestEqual(t *testing.T) {
	sets := make([][]uint64, 100_000)
	for i := range sets {
		if i%10 != 0 {
			sets[i] = []uint64{7, 8, 9}
		}
	}
	got, report, err := build(t, sets).Join(context.Background(), Options{Threshold: 0.5})
	if err != nil || len(got) != 90_000-1 || report.Equal != len(got) || report.Unlisted != len(got) || report.Empty != 10_000 || got[0] != (Pair{1, 2, 3, 3, 3}) {
		t.Errorf("%d pairs, %+v, %v", len(got), report, err)
	}
}

func TestBad(t *testing.T) {
	x := build(t, [][]uint64{{1}, {1, 2}})
	for _, o := range []Options{{}, {Threshold: -1}, {Threshold: 1.01}, {Threshold: 0.5, Measure: 2}, {Threshold: 0.5, MaxDocuments: -1}} {
		if _, _, err := x.Join(context.Background(), o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := x.Join(ctx, Options{Threshold: 0.5}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if got, _, err := build(t, nil).Join(context.Background(), Options{Threshold: 0.5}); err != nil || len(got) != 0 {
		t.Errorf("no documents: %v, %v", got, err)
	}
}

func BenchmarkJoin(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		random := rand.New(rand.NewPCG(1, 2))
		sets := make([][]uint64, n)
		for i := range sets {
			for range 100 {
				sets[i] = append(sets[i], random.Uint64N(uint64(30*n)))
			}
			if i%5 == 4 {
				sets[i] = append(sets[i-1][:80:80], sets[i][80:]...)
			}
			slices.Sort(sets[i])
			sets[i] = slices.Compact(sets[i])
		}
		b.Run(fmt.Sprintf("documents=%d", n), func(b *testing.B) {
			for b.Loop() {
				pairs, _, err := build(b, sets).Join(context.Background(), Options{Threshold: 0.45})
				if err != nil || len(pairs) < n/5 {
					b.Fatal(len(pairs), err)
				}
			}
		})
	}
}
