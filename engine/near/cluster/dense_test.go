package cluster

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"example.org/ndd/engine/index/radix"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
)

// denseGroups returns sets of about n fingerprints that have far more near pairs than members, or
// connect all of them.
func denseGroups(n int) map[string][]uint64 {
	rng := rand.New(rand.NewPCG(4, 20))
	centres := make([]uint64, 20)
	for i := range centres {
		centres[i] = rng.Uint64()
	}
	all := map[string][]uint64{}
	fill := func(name string, at func(i int) uint64) {
		set := make([]uint64, n)
		for i := range set {
			set[i] = at(i)
		}
		rng.Shuffle(n, func(i, j int) { set[i], set[j] = set[j], set[i] })
		all[name] = set
	}
	fill("balls", func(i int) uint64 { return sets.Flip(rng, centres[i%20], rng.IntN(4)) })
	fill("wide", func(i int) uint64 { return sets.Flip(rng, centres[i%20], 2+rng.IntN(5)) })
	spread := rng.Perm(64)
	fill("cube", func(i int) (f uint64) { // all values of some bits
		for b := range bits.Len(uint(n - 1)) {
			f |= uint64(i) >> b & 1 << spread[b]
		}
		return f
	})
	center := rng.Uint64()
	fill("walk", func(int) uint64 { center = sets.Flip(rng, center, 3); return center })
	fill("wide walk", func(i int) uint64 { center = sets.Flip(rng, center, 1+i%3); return center })
	fill("close walk", func(int) uint64 { center = sets.Flip(rng, center, 1) ^ center&1<<40; return center })
	return all
}

// greedy is Find by its definition: all pairs by comparing all with all.
func greedy(base []uint64, o Options) (list []Cluster) {
	of := make([]int, len(base)) // the place in list of a row's cluster
	rows := make([]int, len(base))
	for i := range rows {
		rows[i] = i
	}
	if o.Prefer != nil {
		slices.SortStableFunc(rows, o.Prefer)
	}
	seen := make([]bool, len(base))
	free := slices.Clone(rows) // rows without a cluster
	for _, row := range rows {
		if seen[row] {
			continue
		}
		for todo := []int{row}; len(todo) > 0; todo = todo[1:] {
			seen[todo[0]] = true
			of[todo[0]] = len(list)
			free = slices.DeleteFunc(free, func(other int) bool {
				near := !seen[other] && bits.OnesCount64(base[todo[0]]^base[other]) <= o.K
				if near {
					seen[other] = true
					todo = append(todo, other)
				}
				return near || seen[other]
			})
		}
		list = append(list, Cluster{Representative: Row(row)})
	}
	for row := range base {
		list[of[row]].Rows = append(list[of[row]].Rows, Row(row))
	}
	list = slices.DeleteFunc(list, func(c Cluster) bool { return len(c.Rows) < 2 })
	slices.SortFunc(list, func(a, b Cluster) int { return cmp.Compare(a.Rows[0], b.Rows[0]) })
	return list
}

// TestDenseGroups clusters dense groups, for which not all pairs are computed. It covers buckets too large for the
// kernel, nested joins, tables of representatives, and little memory. The result equals a comparison of all with all.
func TestDenseGroups(t *testing.T) {
	n := 9000 // enough for tables of representatives: a walk has more than tablesMin
	for name, base := range denseGroups(n) {
		score := rand.New(rand.NewPCG(1, 1)).Perm(n)
		scored := func(a, b int) int { return cmp.Compare(score[a]/8, score[b]/8) }
		for _, prefer := range []func(a, b int) int{scored, nil} {
			for _, k := range []int{3, 1} {
				if prefer == nil && k == 1 || !long.Form() && (prefer == nil || k == 1) {
					continue
				}
				o := Options{K: k, Prefer: prefer}
				want := greedy(base, o)
				for _, o.Threads = range []int{1, 3} {
					checkFind(t, fmt.Sprintf("%s, k=%d, preference %v, %d threads", name, k, prefer != nil, o.Threads), base, o, want)
				}
			}
		}
	}
}

// checkFind compares the clusters of Find with the expected ones.
func checkFind(t *testing.T, what string, base []uint64, o Options, want []Cluster) {
	t.Helper()
	distinct := foundIn(t, what, base, o, want)
	o.Arena = limitedTo(t, 1, new(uint64))
	if n := foundIn(t, what+", little memory", base, o, want); n != distinct {
		t.Errorf("%s: %d distinct, with little memory %d", what, distinct, n)
	}
}

func foundIn(t *testing.T, what string, base []uint64, o Options, want []Cluster) (distinct int) {
	t.Helper()
	o.Meter = &Meter{}
	r, err := Find(t.Context(), base, o)
	must.Do(t, err)
	var got []Cluster
	rows := 0
	for _, c := range r.Clusters() {
		got = append(got, c)
		rows += len(c.Rows)
	}
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) || rows != r.Rows() || len(got) != r.Len() {
		t.Errorf("%s: %d clusters of %d documents, want %d", what, len(got), r.Rows(), len(want))
	}
	m := o.Meter
	if m.Total.Load() > m.Compared.Load() || o.Arena.Budget == nil && m.Total.Load() < m.Compared.Load() ||
		o.Arena.Budget == nil && (m.Total.Load() == 0) != (r.Distinct < 2) ||
		m.Joined.Load() > int64(r.Rows()-r.Len()) {
		t.Errorf("%s: %d of %d compared, %d joined", what, m.Compared.Load(), m.Total.Load(), m.Joined.Load())
	}
	return r.Distinct
}

// TestDenseGroupsAreCheap counts the links of dense groups that have hundreds of pairs for each.
func TestDenseGroupsAreCheap(t *testing.T) {
	for name, links := range map[string]int{"cube": 20, "balls": 20} {
		base := slices.Compact(slices.Sorted(slices.Values(denseGroups(1 << 16)[name])))
		n := 0
		d := Choose(len(base), 3)
		if err := joinForest(t.Context(), radix.Chunks{base}, make([]uint64, len(base)), d, 1, nil,
			func(_ uint64, neighbours []uint64) { n += len(neighbours) }); err != nil || n > links*len(base) {
			t.Errorf("%s: %d links of %d fingerprints, %v", name, n, len(base), err)
		}
	}
}

// TestRepresentatives compares lookups with a comparison of all: added representatives, near fingerprints, and ones
// removed by Reset. Tables are built and rebuilt meanwhile.
func TestRepresentatives(t *testing.T) {
	const k = 3
	n := growthFactor*(tablesMin+1) + 2
	rng := rand.New(rand.NewPCG(6, 1))
	var r Representatives
	center := rng.Uint64()
	old, keys := []uint64{center}, []uint64(nil)
	for range 2 {
		r.Reset(k, 1<<40)
		for i := range n {
			if center = sets.Flip(rng, center, 2+i%3); i%50 == 0 {
				center = rng.Uint64()
			}
			keys = append(keys, center)
			r.Add(center)
			if i%tablesMin > 2 && i < n-2 && rng.IntN(8) > 0 {
				continue
			}
			for _, key := range []uint64{center, sets.Flip(rng, center, k), sets.Flip(rng, keys[rng.IntN(i+1)], k),
				old[rng.IntN(len(old))]} {
				var want []uint32
				for j := range keys {
					if bits.OnesCount64(key^keys[j]) <= k {
						want = append(want, uint32(j))
					}
				}
				var got []uint32
				for first, numbers := range r.Near(new(Hits), key, 0) {
					for _, n := range numbers {
						got = append(got, uint32(first)+n)
					}
				}
				slices.Sort(got)
				got = slices.Compact(got)
				if !slices.Equal(got, want) {
					t.Fatalf("%x is near %x of %d, not %x", key, want, i+1, got)
				}
			}
		}
		old, keys = keys, nil
	}
}

// BenchmarkDenseGroups clusters 20 groups of 20,000 fingerprints, and all values of 18 bits with 129 million pairs.
func BenchmarkDenseGroups(b *testing.B) {
	large, cube := denseGroups(400_000), denseGroups(1 << 18)["cube"]
	for name, fingerprints := range map[string][]uint64{"balls": large["balls"], "wide": large["wide"], "cube": cube} {
		b.Run("set="+name, func(b *testing.B) {
			clusters := 0
			for b.Loop() {
				r, err := Find(context.Background(), fingerprints, Options{K: 3, Threads: 1})
				must.Do(b, err)
				clusters = r.Len()
			}
			if name == "cube" && clusters != 1 {
				b.Fatalf("%d clusters", clusters)
			}
			b.ReportMetric(float64(clusters), "clusters")
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(len(fingerprints)), "ns/document")
		})
	}
}

// TestSpanningForest checks that the links connect the same keys as all pairs. After too many comparisons, the pairs of
// the returned rest are added to the links.
func TestSpanningForest(t *testing.T) {
	remaining := 0
	for name, keys := range denseGroups(1500) {
		keys = slices.Compact(slices.Sorted(slices.Values(keys)))
		whole := connected(len(keys), oracle.Pairs(keys, 3))
		for _, perKey := range []int{0, 1, comparisonsPerKey} {
			var links []oracle.Pair
			s := spanningForest{k: 3, perKey: perKey, link: func(a uint64, neighbours []uint64) {
				for _, b := range neighbours {
					if bits.OnesCount64(a^b) <= 3 {
						links = append(links, oracle.Pair{A: place(keys, a), B: place(keys, b)})
					}
				}
			}}
			order := slices.Clone(keys)
			rand.New(rand.NewPCG(5, 5)).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
			others := s.connect(order)
			if remaining += len(s.reached); perKey == 0 && len(others) > 0 {
				t.Errorf("%s: %d are left", name, len(others))
			}
			for _, p := range oracle.Pairs(others, 3) {
				links = append(links, oracle.Pair{A: place(keys, others[p.A]), B: place(keys, others[p.B])})
			}
			if !slices.Equal(connected(len(keys), links), whole) {
				t.Errorf("%s, %d comparisons a key: %d left, other components", name, perKey, len(others))
			}
		}
	}
	if remaining == 0 {
		t.Error("no forest was left unfinished with keys that had been reached")
	}
}
