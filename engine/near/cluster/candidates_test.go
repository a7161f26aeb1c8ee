package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"example.org/ndd/engine/index/radix"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/storage/spill"
)

// TestCandidates checks that the candidates are all rows that have a near or equal one, in order, and few others. If
// the input is read in parts, the rows come with their fingerprints.
func TestCandidates(t *testing.T) {
	const n, k = 50_000, 3
	rng := rand.New(rand.NewPCG(4, 4))
	base := sets.Uniform(n, 8)
	var want []Row // a tenth
	for i := 0; i+1 < n; i += 20 {
		base[i+1] = sets.Flip(rng, base[i], i/20%(k+1))
		want = append(want, Row(i), Row(i+1))
	}
	for _, threads := range []int{1, 3} {
		o := Options{K: k, Threads: threads}.withDefaults()
		o.Meter = new(Meter)
		c, err := findNear(t.Context(), base, o, n/3)
		if m := o.Meter; m.Compared.Load() != m.Total.Load() {
			t.Errorf("%d of %d are compared in the end", m.Compared.Load(), m.Total.Load())
		}
		must.Do(t, err)
		var got []Row
		for i := range c.len {
			got = append(got, c.row(uint32(i)))
		}
		others := slices.DeleteFunc(slices.Clone(got), func(row Row) bool {
			_, ok := slices.BinarySearch(want, row)
			return ok
		})
		if !slices.IsSorted(got) || len(got)-len(others) != len(want) || len(others) > len(want) {
			t.Errorf("%d candidates, %d of them have no near one, want %d", len(got), len(others), len(want))
		}
		offset := 0
		for part := range 3 {
			err := c.Read(part, 3, func(fingerprints []uint64, first int) error {
				for i, f := range fingerprints {
					if first+i != offset || f != base[got[offset]] {
						return fmt.Errorf("candidate %d, want %d: %x", first+i, offset, f)
					}
					offset++
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
		if offset != c.Len() {
			t.Errorf("%d of %d were read", offset, c.Len())
		}
		c.arena.Free()
	}
}

// TestRow checks that rows of more than 32 bits are restored from their lower 32 bits.
func TestRow(t *testing.T) {
	c := &candidates{rows: []uint32{5, 7, 1, 2}, highs: []int{2, 2, 3}}
	var got []Row
	for i := range c.rows {
		got = append(got, c.row(uint32(i)))
	}
	if want := []Row{5, 7, 2<<32 + 1, 3<<32 + 2}; !slices.Equal(got, want) {
		t.Errorf("%d, want %d", got, want)
	}
}

// limitedTo returns an arena with a budget, and with temporary files for buffers that do not fit. It counts their
// bytes.
func limitedTo(t *testing.T, limit uint64, spilled *uint64) memory.Arena {
	file := spill.Memory(nil, t.TempDir(), "clusters")
	return memory.Arena{Budget: memory.NewBudget(memory.Set(limit)), Map: func(bytes uint64) ([]byte, error) {
		*spilled += bytes
		return file(bytes)
	}}
}

// TestSpilledSearch searches with budgets that suffice for all, some or no buffers. The clusters are the same, and the
// budget is free afterwards. A full disk ends the search. Most keys of the second case share a bucket.
func TestSpilledSearch(t *testing.T) {
	skewed := make([]uint64, 4000)
	for i := range skewed {
		skewed[i] = uint64(i / 2)
	}
	for name, base := range map[string][]uint64{"repeated": make([]uint64, 4000), "in one bucket": skewed} {
		var want *Result
		for _, limit := range []uint64{1 << 30, 40 << 10, 1} {
			spilled := uint64(0)
			o := Options{K: 0, Threads: 1, Arena: limitedTo(t, limit, &spilled)}
			r, err := Find(t.Context(), base, o)
			must.Do(t, err)
			if budget := o.Arena.Budget; (spilled > 0) != (limit < 1<<30) || budget.Free() != limit || budget.Peak() > limit ||
				(budget.Peak() > 0) != (limit > 1) {
				t.Errorf("%s, limit %d: %d bytes spilled, %d left, peak %d", name, limit, spilled, budget.Free(), budget.Peak())
			}
			if want = cmp.Or(want, r); !reflect.DeepEqual(r, want) {
				t.Errorf("%s, limit %d: other clusters", name, limit)
			}
			full := errors.New("disk full")
			o.Arena.Map = func(uint64) ([]byte, error) { return nil, full }
			if _, err := Find(t.Context(), base, o); errors.Is(err, full) != (spilled > 0) || errors.Is(err, radix.ErrRoom) {
				t.Errorf("%s, limit %d: %v", name, limit, err)
			}
		}
	}
}
