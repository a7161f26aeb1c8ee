package table

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/permute"
)

// layouts are the ways to pack keys that the tests compare with each other.
var layouts = []Options{
	{Layout: LayoutHuffman},
	{Layout: LayoutHuffman, BlockBytes: 128},
	{Layout: LayoutPlanar},
}

func (o Options) String() string {
	if o.BlockBytes > 0 {
		return fmt.Sprintf("%s/%d", o.Layout, o.BlockBytes)
	}
	return string(o.Layout)
}

// build writes keys to memory and opens them. The parts are all that was written.
func build(t testing.TB, keys []uint64, o Options) Table {
	t.Helper()
	r := recorded(t, "t.", keys, o)
	tab, err := Open(sourceOf(r), "t.", o.Layout)
	if err != nil {
		t.Fatalf("%v: %v", o, err)
	}
	written := uint64(0)
	for _, s := range r {
		written += uint64(len(s.Data))
	}
	if got := Bytes(tab); got != written {
		t.Errorf("%v, %d keys: parts have %d bytes, written are %d", o, len(keys), got, written)
	}
	return tab
}

func distinct(base []uint64) []uint64 {
	keys := slices.Clone(base)
	slices.Sort(keys)
	return slices.Compact(keys)
}

// search searches one table.
func search(t Table, s *Search, c *Scratch) ([]Match, error) {
	return SearchAll(nil, []Table{t}, []Search{*s}, c)
}

// rankOf is [Ranks] of one key.
func rankOf(t Table, key uint64, c *Scratch) (uint64, error) {
	rank := []uint64{0}
	err := Ranks(rank, t, []uint64{key}, c)
	return rank[0], err
}

// walk calls yield with all keys of a table.
func walk(t Table, yield func(keys []uint64) bool) error {
	return t.WalkPart(0, 1, 1, func(_ uint64, keys []uint64) bool { return yield(keys) })
}

// find computes the matches of a search by comparing every key.
func find(keys []uint64, s *Search) []Match {
	flips := make(map[uint64]bool)
	for f := range s.Flips.All() {
		flips[f] = true
	}
	var all []Match
	for i, q := range s.Queries {
		for _, key := range keys {
			if d := key ^ q; bits.OnesCount64(d) <= s.K && flips[d&leadingMask(s.Leading)] {
				all = append(all, Match{0, i, key})
			}
		}
	}
	return all
}

func order(m []Match) []Match {
	slices.SortFunc(m, func(a, b Match) int { return cmp.Or(cmp.Compare(a.Query, b.Query), cmp.Compare(a.Key, b.Key)) })
	return m
}

// TestSearch compares the matches with a comparison of all keys: for sets of every shape, every distance, layout and
// backend, with leading bits above, in and below long groups.
func TestSearch(t *testing.T) {
	oracle.EachKernel(t, func(t *testing.T) {
		for k := 0; k <= permute.MaxK; k++ {
			if k != 3 && k%long.Or(4, 2) > 0 {
				continue
			}
			all := sets.All(long.Or(1000, 1500), long.Or(16, 24), k, uint64(k))
			if k == 3 {
				all = append(all, skewed(long.Raced(30_000, 3_000))...)
			}
			for _, set := range all {
				keys := distinct(set.Base)
				for _, o := range layouts {
					tab := build(t, keys, o)
					var c Scratch
					for _, probe := range []struct{ leading, radius int }{
						{0, 0}, {4, 0}, {9, 0}, {24, 0}, {33, 0}, {42, 0}, {50, 0}, {64, 0}, {40, 1}, {6, 3},
						{tab.PlanProbes(32, 1, 3).Leading, 1}, {tab.PlanProbes(64, 1, 3).Leading, 1}, {tab.PlanProbes(11, 2, 3).Leading, 2},
					} {
						s := &Search{Queries: set.Queries, Leading: probe.leading, Flips: permute.Flips(probe.leading, probe.radius),
							K: k}
						want := find(keys, s)
						got, err := search(tab, s, &c)
						must.Do(t, err)
						if !slices.Equal(order(got), order(want)) {
							t.Fatalf("%s, %v, k = %d, %d leading bits, radius %d: %d matches, want %d",
								set.Name, o, k, probe.leading, probe.radius, len(got), len(want))
						}
					}
				}
			}
		}
	})
}

// TestOrder checks that Ranks and Walk agree for every key of every shape, and for values that are no keys.
func TestOrder(t *testing.T) {
	for _, set := range append(sets.All(4000, 100, 2, 7), skewed(30_000)...) {
		keys := distinct(set.Base)
		for _, o := range layouts {
			t.Run(fmt.Sprintf("%s/%v", set.Name, o), func(t *testing.T) {
				checkOrder(t, build(t, keys, o), keys, set.Queries)
			})
		}
	}
}

func checkOrder(t testing.TB, tab Table, keys, others []uint64) {
	t.Helper()
	var c Scratch
	if tab.Len() != uint64(len(keys)) {
		t.Fatalf("%d keys, want %d", tab.Len(), len(keys))
	}
	var walked []uint64
	must.Do(t, walk(tab, func(part []uint64) bool { walked = append(walked, part...); return true }))
	if !slices.Equal(walked, keys) {
		t.Fatal("a walk gives other keys")
	}
	for range 20 {
		low, high := rand.Uint64(), rand.Uint64()
		if len(keys) > 0 && rand.IntN(2) == 0 {
			low, high = keys[rand.IntN(len(keys))], keys[rand.IntN(len(keys))]
		}
		low, high = min(low, high), max(low, high)
		var between, want []uint64
		from, to, of := tab.PartWith(low, high)
		must.Do(t, tab.WalkPart(from, to, of, func(_ uint64, part []uint64) bool {
			between = append(between, part...)
			return true
		}))
		outside := func(key uint64) bool { return key < low || key > high }
		want = slices.DeleteFunc(slices.Clone(keys), outside)
		if !slices.Equal(slices.DeleteFunc(between, outside), want) {
			t.Fatalf("the part with %#x to %#x lacks some of its %d keys", low, high, len(want))
		}
	}
	for _, parts := range []uint64{1, 2, 3, 7, 1000} {
		walked = walked[:0]
		for part := range parts {
			must.Do(t, tab.WalkPart(part, part+1, parts, func(rank uint64, part []uint64) bool {
				if rank != uint64(len(walked)) {
					t.Fatalf("rank %d after %d keys", rank, len(walked))
				}
				walked = append(walked, part...)
				return true
			}))
		}
		if !slices.Equal(walked, keys) {
			t.Fatalf("%d parts have other keys", parts)
		}
	}
	ranks := make([]uint64, len(keys))
	must.Do(t, Ranks(ranks, tab, keys, &c))
	for i, key := range keys {
		if rank, err := rankOf(tab, key, &c); err != nil || rank != uint64(i) || ranks[i] != rank {
			t.Fatalf("rank of key %d, %#x: %d alone, %d with others, %v", i, key, rank, ranks[i], err)
		}
	}
	for _, key := range others {
		_, want := slices.BinarySearch(keys, key)
		if rank, err := rankOf(tab, key, &c); err != nil || (rank != NoRank) != want {
			t.Fatalf("rank of %#x: %d, %v, want one: %v", key, rank, err, want)
		}
	}
	if len(keys) > 0 {
		calls := 0
		if err := walk(tab, func([]uint64) bool { calls++; return false }); err != nil || calls != 1 {
			t.Fatalf("%d calls after the first said stop, %v", calls, err)
		}
	}
}

// TestSearchAllocates checks that a search allocates only to grow dst.
func TestSearchAllocates(t *testing.T) {
	set := sets.All(20000, 100, 3, 1)[0]
	keys := distinct(set.Base)
	for _, o := range layouts {
		tab := build(t, keys, o)
		var c Scratch
		leading := tab.PlanProbes(32, 1, 3).Leading
		s := &Search{Queries: set.Queries, Leading: leading, Flips: permute.Flips(leading, 1), K: 3}
		tables, searches := []Table{tab}, []Search{*s}
		dst, err := SearchAll(nil, tables, searches, &c)
		must.Do(t, err)
		repeated := func() { dst, err = SearchAll(dst[:0], tables, searches, &c) }
		if n := testing.AllocsPerRun(5, repeated); n != 0 || err != nil {
			t.Errorf("%v: %v allocations a search, %v", o, n, err)
		}
	}
}

// TestWriteFails checks that a write fails if its sink fails.
func TestWriteFails(t *testing.T) {
	for _, o := range layouts {
		for after := range 4 {
			if err := Write(&failingSink{after: after}, "", []uint64{1, 2, 3}, o); !errors.Is(err, errFull) {
				t.Errorf("%v: %v after %d writes", o, err, after)
			}
		}
	}
}

var errFull = errors.New("full")

type failingSink struct{ after int }

func (f *failingSink) Section(string) {}
func (f *failingSink) Write(p []byte) (int, error) {
	if f.after--; f.after < 0 {
		return 0, errFull
	}
	return len(p), nil
}
