package postings

import (
	"context"
	"errors"
	"flag"
	"io/fs"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"example.org/ndd/engine/near/shingle"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// exact implements the definition with big rationals: it reports whether the similarity is at least the threshold
// num/den.
func exact(m Measure, a, b, shared int, num, den int64) bool {
	count := min(a, b)
	if m == Jaccard {
		count = a + b - shared
	}
	return count > 0 && big.NewRat(int64(shared), int64(count)).Cmp(big.NewRat(num, den)) >= 0
}

// brute compares all pairs of sets. In a group of more than equalMax equal sets, it pairs each set only with the first
// one.
func brute(sets [][]uint64, m Measure, num, den int64, equalMax int) (pairs []Pair) {
	first, group := make([]int, len(sets)), map[int]int{}
	for i := range sets {
		first[i] = slices.IndexFunc(sets, func(s []uint64) bool { return slices.Equal(s, sets[i]) })
		group[first[i]]++
	}
	listed := func(i int) bool { return first[i] == i || group[first[i]] <= equalMax }
	for a := range sets {
		for b := a + 1; b < len(sets); b++ {
			if !(listed(a) && listed(b) || a == first[b]) || len(sets[a]) == 0 || len(sets[b]) == 0 {
				continue
			}
			shared := shingle.Shared(sets[a], sets[b])
			if exact(m, len(sets[a]), len(sets[b]), shared, num, den) {
				pairs = append(pairs, Pair{uint32(a), uint32(b), int32(len(sets[a])), int32(len(sets[b])), int32(shared)})
			}
		}
	}
	return pairs
}

// builder returns a Builder of the sets.
func builder(sets [][]uint64, r Room) *Builder {
	b := NewBuilder(r)
	for _, s := range sets {
		b.Add(s)
	}
	return b
}

func joined(sets [][]uint64, o Options) ([]Pair, Report, error) {
	return builder(sets, Room{}).Join(context.Background(), o)
}

// TestJoin compares the join with all pairs. The thresholds are fractions of small sets. The slices, threads and
// memory vary.
func TestJoin(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	rounds := long.Or(2, 4)
	for round := range rounds {
		sets := sets.Signatures(random, 60*(round+1), 30, func() uint64 { return random.Uint64N(1000) })
		for _, m := range []Measure{Jaccard, Containment} {
			for _, f := range [][2]int64{{1, 10}, {1, 3}, {45, 100}, {1, 2}, {3, 5}, {2, 3}, {8, 10}, {1, 1}} {
				maximum := 1 + round%4*2
				want := brute(sets, m, f[0], f[1], maximum)
				for _, o := range []Options{{Threads: 1}, {Threads: 3}, {MemoryBytes: 2048, Threads: 2},
					{MemoryBytes: 4096}, {MemoryBytes: 1 << 15}} {
					o.Measure, o.Threshold, o.MaxEqual = m, float64(f[0])/float64(f[1]), maximum
					b := builder(sets, Room{Bytes: o.MemoryBytes / 2, Dir: t.TempDir()})
					if total := uint64(b.hashes.Len()); b.hashes.IsSpilled() != (o.MemoryBytes > 0 && 16*total > o.MemoryBytes) {
						t.Fatalf("%d signatures: in a file: %t", total, b.hashes.IsSpilled())
					}
					got, report, err := b.Join(context.Background(), o)
					if err != nil || !slices.Equal(got, want) {
						t.Fatalf("%+v: %d pairs, want %d, %v", o, len(got), len(want), err)
					}
					if report.Frequent != 0 || report.Slices == 0 {
						t.Errorf("%+v", report)
					}
				}
			}
		}
	}
}

// TestKnown checks that with known documents, each pair has a known document and another one, or with KnownPairs any
// other. The number of slices varies.
func TestKnown(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 9))
	for known := 0; known <= 90; known += 15 {
		sets := sets.Signatures(random, 90, 30, func() uint64 { return random.Uint64N(300) })
		for _, m := range []Measure{Jaccard, Containment} {
			for _, o := range []Options{{Threads: 2}, {MemoryBytes: 2048}, {KnownPairs: true}} {
				o.Measure, o.Threshold, o.Known = m, 1./3, known
				want := slices.DeleteFunc(brute(sets, m, 1, 3, 1000), func(p Pair) bool {
					return known > 0 && (int(p.A) >= known || !o.KnownPairs && int(p.B) < known)
				})
				got, _, err := joined(sets, o)
				if err != nil || !slices.Equal(got, want) {
					t.Fatalf("%+v: %d pairs, want %d, %v", o, len(got), len(want), err)
				}
			}
		}
	}
}

// TestMaxPairs checks that more pairs than MaxPairs are an error, for similar and for equal documents. Exactly MaxPairs
// are allowed.
func TestMaxPairs(t *testing.T) {
	var similar, equal [][]uint64
	for i := range uint64(20) {
		similar, equal = append(similar, []uint64{1, 2, 3, 4, 100 + i}), append(equal, []uint64{1, 2, 3})
	}
	groups := append(slices.Clone(equal), slices.Repeat([][]uint64{{7, 8, 9}}, 20)...) // two groups of equal sets, which share nothing
	for _, sets := range [][][]uint64{similar, append(equal, []uint64{1, 2, 3, 4}), groups} {
		o := Options{Measure: Jaccard, Threshold: 0.6}
		all, _, err := joined(sets, o)
		must.Do(t, err)
		o.MaxPairs = uint64(len(all))
		if got, _, err := joined(sets, o); err != nil || len(got) != len(all) {
			t.Errorf("%d of %d pairs, %v", len(got), len(all), err)
		}
		o.MaxPairs = 100
		if _, _, err := joined(sets, o); !errors.As(err, new(*TooManyPairsError)) || len(all) < 190 {
			t.Errorf("%d pairs, 100 allowed: %v", len(all), err)
		}
	}
}

// TestNeeded compares the bounds with exact fractions.
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
					if got := min(o.neededShared(a, b), a+1); got != want {
						t.Fatalf("measure %d, %d/%d, sets of %d and %d: %d needed, want %d", m, f[0], f[1], a, b, got, want)
					}
					if want <= a != (b <= o.largest(a)) {
						t.Fatalf("measure %d, %d/%d: the largest set for %d is %d", m, f[0], f[1], a, o.largest(a))
					}
					if minimum := o.neededShared(a, a); minimum > want {
						t.Fatalf("least of %d: %d", a, minimum)
					}
				}
			}
		}
	}
}

// TestFrequent checks that a signature of very many documents finds no candidates, but counts as shared. The report has
// its number, for any number of slices.
func TestFrequent(t *testing.T) {
	var sets [][]uint64
	for i := range uint64(1000) {
		sets = append(sets, []uint64{1, 2, 3, 1000 + i/2, 5000 + i}) // pairs share 4 of 5, others the 3 of all
		slices.Sort(sets[i])
	}
	for _, o := range []Options{{Threads: 12}, {MemoryBytes: 1 << 12}} {
		o.Measure, o.Threshold, o.MaxDocuments = Containment, 0.6, 100
		got, report, err := joined(sets, o)
		if err != nil || len(got) != 500 || got[0].Shared != 4 || report.Frequent != 1000 ||
			report.Candidates != 500 {
			t.Errorf("%+v: %d pairs, %+v, %v", o, len(got), report, err)
		}
	}
	got, report, err := joined(sets, Options{Measure: Containment, Threshold: 0.6})
	if err != nil || len(got) != 1000*999/2 || report.Frequent != 0 {
		t.Errorf("all: %d pairs, %+v, %v", len(got), report, err)
	}
}

// TestDocumentLimits checks that with limits of the documents of a signature, exactly those pairs are missing that
// share no signature within the limits. Their documents are counted.
func TestDocumentLimits(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 7))
	sets := sets.Signatures(random, 150, 30, func() uint64 { return random.Uint64N(300) })
	documents := map[uint64]int{}
	distinct := slices.Clone(sets) // equal sets count once
	slices.SortFunc(distinct, slices.Compare)
	for _, set := range slices.CompactFunc(distinct, slices.Equal) {
		for _, hash := range set {
			documents[hash]++
		}
	}
	for _, limits := range [][2]int{{2, 100}, {8, 100}, {2, 9}, {8, 10}, {100, 100}} {
		want := brute(sets, Containment, 1, 3, 1000)
		all := len(want)
		want = slices.DeleteFunc(want, func(p Pair) bool {
			return !slices.Equal(sets[p.A], sets[p.B]) && !slices.ContainsFunc(sets[p.A], func(hash uint64) bool {
				_, shared := slices.BinarySearch(sets[p.B], hash)
				return shared && documents[hash] >= limits[0] && documents[hash] <= limits[1]
			})
		})
		o := Options{Measure: Containment, Threshold: 1. / 3, MinDocuments: limits[0], MaxDocuments: limits[1]}
		got, report, err := joined(sets, o)
		if err != nil || !slices.Equal(got, want) || (len(want) < all) != (report.Frequent > 0) {
			t.Fatalf("%v: %d pairs, want %d of %d; %+v, %v", limits, len(got), len(want), all, report, err)
		}
	}
}

// TestPartitions checks that signatures that fill many partitions give the same pairs, in one slice and in several,
// with any number of threads. With little memory the partitions are scattered in several rounds.
func TestPartitions(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	sets := make([][]uint64, 6000)
	for i := range sets {
		for range 20 + random.IntN(40) {
			sets[i] = append(sets[i], random.Uint64())
		}
		if i%3 == 2 { // some signatures of an earlier set, and a signature that a thousand sets have
			sets[i] = append(sets[i][:8], sets[random.IntN(i)/3*3]...)
			sets[i] = append(sets[i], random.Uint64N(2)<<63)
		}
		slices.Sort(sets[i])
		sets[i] = slices.Compact(sets[i])
	}
	want, _, err := joined(sets, Options{Threshold: 0.4, Threads: 1})
	first := slices.DeleteFunc(slices.Clone(want), func(p Pair) bool { return p.B >= 300 })
	if err != nil || len(want) < 2000 || !slices.Equal(first, brute(sets[:300], Jaccard, 2, 5, MaxEqual)) {
		t.Fatalf("%d pairs, %v", len(want), err)
	}
	for _, o := range []Options{{Threads: 2}, {Threads: 7}, {Threads: 2, MemoryBytes: 4 << 20},
		{Threads: 2, MemoryBytes: 1 << 17}} {
		o.Threshold = 0.4
		got, report, err := joined(sets, o)
		if several := o.MemoryBytes == 1<<17; err != nil || !slices.Equal(got,
			want) || report.Slices > 1 != several {
			t.Errorf("%+v: %d pairs in %d slices, want %d, %v", o, len(got), report.Slices, len(want), err)
		}
	}
}

// TestLarge checks that documents with more signatures than the counters count are found, also by a signature that
// comes after all counted ones.
func TestLarge(t *testing.T) {
	const n = 70_000
	all := make([]uint64, n)
	for i := range all {
		all[i] = uint64(i) << 40
	}
	odd := slices.Clone(all[:n/3])
	odd[0]++
	// The first document has the frequent signatures and those of the last document. It shares each frequent one with
	// two others, so the signatures of the last document come last.
	const frequent, rare = 40_000, 20_000
	sets := [][]uint64{all[:frequent+rare], all[:frequent], slices.Concat(all[:frequent], all[n-1:]),
		all[frequent : frequent+rare], odd, {1, 2}}
	for _, m := range []Measure{Jaccard, Containment} {
		for _, f := range [][2]int64{{1, 2}, {9, 10}} {
			for _, o := range []Options{{Threads: 2}, {Threads: 2, MemoryBytes: 1 << 18}} {
				o.Measure, o.Threshold = m, float64(f[0])/float64(f[1])
				got, _, err := joined(sets, o)
				if want := brute(sets, m, f[0], f[1], 1000); err != nil || len(want) == 0 || !slices.Equal(got, want) {
					t.Errorf("%+v: %v, want %v, %v", o, got, want, err)
				}
			}
		}
	}
}

// TestMillion checks that one signature in a million documents is no square of them.
func TestMillion(t *testing.T) {
	sets := make([][]uint64, *documents)
	for i := range sets {
		sets[i] = []uint64{7, 1000 + uint64(i)}
	}
	got, report, err := joined(sets, Options{Measure: Jaccard, Threshold: 0.3})
	if err != nil || len(got) != 0 || report.Candidates != 0 || report.Frequent != len(sets) {
		t.Errorf("%d pairs, %+v, %v", len(got), report, err)
	}
}

var documents = flag.Int("documents", 50_000, "documents of one signature")

// TestEqual checks that 100,000 documents with equal sets have as many pairs, not their square. Empty documents have no
// pairs.
func TestEqual(t *testing.T) {
	sets := make([][]uint64, 100_000)
	for i := range sets {
		if i%10 != 0 {
			sets[i] = []uint64{7, 8, 9}
		}
	}
	got, report, err := joined(sets, Options{Threshold: 0.5})
	if err != nil || len(got) != 90_000-1 || report.Unlisted != len(got) ||
		got[0] != (Pair{1, 2, 3, 3, 3}) {
		t.Errorf("%d pairs, %+v, %v", len(got), report, err)
	}
}

func TestBad(t *testing.T) {
	sets := [][]uint64{{1}, {1, 2}}
	for _, o := range []Options{{}, {Threshold: -1}, {Threshold: 1.01}, {Threshold: 0.5, Measure: 2},
		{Threshold: 0.5, MaxDocuments: -1}, {Threshold: 0.5, MinDocuments: 10_001}, {Threshold: 0.5, MinDocuments: -1}, {Threshold: 0.5, MaxEqual: -1}} {
		if _, _, err := joined(sets, o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
	_, _, err := builder(sets, Room{}).Join(must.Cancelled(t), Options{Threshold: 0.5})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	for _, empty := range [][][]uint64{nil, {nil}, {nil, nil}} {
		if got, _, err := joined(empty, Options{Threshold: 0.5, MemoryBytes: 1}); err != nil || len(got) != 0 {
			t.Errorf("no signatures: %v, %v", got, err)
		}
	}
	b := builder(sets, Room{Bytes: 1, Dir: filepath.Join(t.TempDir(), "none")})
	if _, _, err := b.Join(context.Background(), Options{Threshold: 0.5}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder for the temporary file: %v", err)
	}
}
