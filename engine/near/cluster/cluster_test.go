package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"example.org/ndd/asm"
	"example.org/ndd/engine/index/radix"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/faults"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/permute"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// allPairs calls emit with every near pair, from one goroutine at a time.
func allPairs(ctx context.Context, fingerprints []uint64, d permute.Design, threads int, emit func(a, b uint64)) error {
	var mu sync.Mutex
	return joinAll(ctx, fingerprints, d, threads, joiner{emit: func(a, b uint64) {
		mu.Lock()
		defer mu.Unlock()
		emit(a, b)
	}})
}

// joined returns the near pairs of ascending fingerprints, in order.
func joined(t *testing.T, fingerprints []uint64, k, threads int) (got []oracle.Pair) {
	t.Helper()
	err := allPairs(t.Context(), fingerprints, Choose(len(fingerprints), k), threads, func(a, b uint64) {
		got = append(got, oracle.Pair{A: place(fingerprints, a), B: place(fingerprints, b)})
	})
	must.Do(t, err)
	slices.SortFunc(got, func(x, y oracle.Pair) int { return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B)) })
	return got
}

// place returns the index of a fingerprint in an ascending list.
func place(fingerprints []uint64, f uint64) int {
	i, _ := slices.BinarySearch(fingerprints, f)
	return i
}

// connected returns the root of each element after the pairs are united.
func connected(n int, pairs []oracle.Pair) []uint32 {
	u := NewUnionFind(make([]uint32, n))
	for _, p := range pairs {
		u.Union(uint32(p.A), uint32(p.B))
	}
	return u.flatten()
}

// TestJoin compares the pairs of sets of every shape with brute force. Some buckets are too large for the kernel.
func TestJoin(t *testing.T) {
	for k := 0; k <= 6; k++ {
		n := 700
		if !long.Form() && k%3 > 0 {
			continue
		}
		if k == 3 || k%3 == 0 && long.Form() {
			n = 3 * asm.NearBucketMax / 2
		}
		for _, set := range sets.All(n, 0, k, uint64(k)) {
			distinct := slices.Clone(set.Base)
			slices.Sort(distinct)
			distinct = slices.Compact(distinct)
			want := oracle.Pairs(distinct, k)
			for _, threads := range []int{1, 3} {
				if got := joined(t, distinct, k, threads); !slices.Equal(got, want) {
					t.Fatalf("k=%d, %s, %d threads: %d pairs, want %d", k, set.Name, threads, len(got), len(want))
				}
			}
		}
	}
}

func TestFind(t *testing.T) {
	for k := 0; k <= 4; k++ {
		if !long.Form() && k%2 == 0 {
			continue
		}
		for _, set := range sets.All(400, 0, k, uint64(k)+10) {
			lengths := rand.New(rand.NewPCG(3, uint64(k)))
			length := make([]int, len(set.Base))
			for i := range length {
				length[i] = lengths.IntN(20)
			}
			longest := func(a, b int) int { return cmp.Compare(length[b], length[a]) }
			for _, prefer := range []func(a, b int) int{nil, longest} {
				o := Options{K: k, Prefer: prefer}
				want := greedy(set.Base, o)
				for _, o.Threads = range []int{1, 4} {
					checkFind(t, fmt.Sprintf("k=%d, %s, longest %v, %d threads", k, set.Name, prefer != nil, o.Threads), set.Base, o, want)
				}
			}
		}
	}
}

// TestCancel cancels searches at each check of the context. Later checks have compared more.
func TestCancel(t *testing.T) {
	base := sets.Uniform(5000, 4)
	moments, minimum := 0, int64(0)
	for asked := int64(0); ; asked++ {
		m := &Meter{}
		_, err := Find(faults.NewCancelContext(t, asked), base, Options{K: 3, Threads: 1, Meter: m})
		compared := m.Compared.Load()
		if compared < minimum {
			t.Errorf("%d fingerprints compared, %d when it was asked once less", compared, minimum)
		}
		if minimum = compared; err == nil {
			break
		}
		if moments++; !errors.Is(err, context.Canceled) {
			t.Fatalf("asked %d times: %v", asked, err)
		}
	}
	if moments < 5 || minimum == 0 {
		t.Errorf("%d moments, %d compared", moments, minimum)
	}
}

// TestSkew checks that many fingerprints share the leading bits of some or all tables, and hundreds are near another
// one. The time of the join must not grow with the square of their number. Pairs and components are compared with brute
// force.
func TestSkew(t *testing.T) {
	const n = 12_000
	rng := rand.New(rand.NewPCG(8, 8))
	inputs := map[string][]uint64{}
	fill := func(name string, free uint64, f func() uint64) {
		s := make([]uint64, n)
		for i := range s {
			if s[i] = f(); i%20 == 1 {
				s[i] = s[i-1] ^ sets.Flip(rng, 0, 1+rng.IntN(3))&free
			}
		}
		slices.Sort(s)
		inputs[name] = slices.Compact(s)
	}
	low := uint64(1)<<30 - 1
	fill("shared top", low, func() uint64 { return 0xabcdef12<<32 | rng.Uint64()&low })
	fill("shared bottom", ^low, func() uint64 { return rng.Uint64()<<34 | 0x2bcdef12 })
	first := Choose(n, 3).Tables[0].Mask
	fill("shared table", ^first, func() uint64 { return rng.Uint64() &^ first })
	fill("half shared", ^first, func() uint64 {
		if rng.IntN(2) == 0 {
			return rng.Uint64()
		}
		return rng.Uint64() &^ first
	})
	for name, fingerprints := range inputs {
		want := oracle.Pairs(fingerprints, 3)
		if len(want) < n/50 {
			t.Fatalf("%s: only %d pairs", name, len(want))
		}
		for _, threads := range []int{1, 3} {
			if got := joined(t, fingerprints, 3, threads); !slices.Equal(got, want) {
				t.Errorf("%s, %d threads: %d pairs, want %d", name, threads, len(got), len(want))
			}
			u := NewUnionFind(make([]uint32, len(fingerprints)))
			err := joinForest(t.Context(), radix.Chunks{fingerprints}, make([]uint64, len(fingerprints)), Choose(len(fingerprints), 3), threads, nil,
				func(a uint64, neighbours []uint64) {
					for _, b := range neighbours {
						if bits.OnesCount64(a^b) > 3 {
							t.Errorf("%s: %x is linked to %x", name, a, b)
						}
						u.Union(uint32(place(fingerprints, a)), uint32(place(fingerprints, b)))
					}
				})
			if err != nil || !slices.Equal(u.flatten(), connected(len(fingerprints), want)) {
				t.Errorf("%s, %d threads: other components; %v", name, threads, err)
			}
		}
	}
}

// TestLargeBuckets joins buckets of more keys than the kernel takes, which are too small for a join by themselves.
func TestLargeBuckets(t *testing.T) {
	const n, k = asm.NearBucketMax + 100, 6
	d := Choose(n, k)
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 9))
		var free []int // bits that do not lead in the first table
		for _, bit := range rng.Perm(64) {
			if d.Tables[0].Mask>>bit&1 == 0 && len(free) < 12 {
				free = append(free, bit)
			}
		}
		base := make([]uint64, n) // equal except for 12 bits: one bucket in that table
		for i, x := range rng.Perm(1 << len(free))[:n] {
			for b, bit := range free {
				base[i] |= uint64(x) >> b & 1 << bit
			}
		}
		slices.Sort(base)
		if got, want := joined(t, base, k, 1), oracle.Pairs(base, k); !slices.Equal(got, want) {
			t.Errorf("seed %d: %d pairs, want %d", seed, len(got), len(want))
		}
	}
}

func BenchmarkJoin(b *testing.B) {
	for _, n := range []int{1e6, 1e7, 1e8} {
		base, _ := sets.Planted(n, 0)
		for _, tables := range []int{4, 5, 6, 8, 10} {
			d := permute.Design{}
			for _, c := range permute.Catalogue(3, 1) {
				if len(c.Tables) == tables && c.Tables[0].Radius == 0 && c.Tables[tables-1].Radius == 0 {
					d = c
				}
			}
			if d.Tables == nil || float64(n) > math.Ldexp(700, d.Tables[0].Leading()) {
				continue
			}
			b.Run(fmt.Sprintf("n=%d/design=%s", n, d.Name), func(b *testing.B) {
				pairs := 0
				for b.Loop() {
					pairs = 0
					must.Do(b, allPairs(b.Context(), base, d, 1, func(_, _ uint64) { pairs++ }))
				}
				if planted := (n - 1) / 100; pairs < planted {
					b.Fatalf("%d pairs of %d", pairs, planted)
				}
				b.ReportMetric(float64(pairs), "pairs")
				b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(n), "ns/fingerprint")
			})
		}
	}
}
