package cluster

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/engine/index/radix"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
)

// TestCandidates: the candidates are all rows that have a near one or an equal one, in order, and few
// others, of one piece or several; read in parts, they come with their fingerprints.
func TestCandidates(t *testing.T) {
	const n, k = 50_000, 3
	rng := rand.New(rand.NewPCG(4, 4))
	base := sets.Uniform(n, 8)
	var want []Row // a tenth
	for i := 0; i+1 < n; i += 20 {
		base[i+1] = sets.Near(rng, base[i], i/20%(k+1))
		want = append(want, Row(i), Row(i+1))
	}
	for _, all := range []Prints{NewPrints(base), NewPrints(base[:1], base[1:30_001], nil, base[30_001:])} {
		for _, threads := range []int{1, 3} {
			o := Options{K: k, Threads: threads}.withDefaults()
			o.Meter = new(Meter)
			c, err := findNear(t.Context(), &all, o, n/3, new(memory.Arena))
			if m := o.Meter; m.Compared.Load() != m.Total.Load() {
				t.Errorf("%d of %d are compared in the end", m.Compared.Load(), m.Total.Load())
			}
			must.Do(t, err)
			var got []Row
			for i := range c.len {
				if row := c.row(uint32(i)); all.At(row) != base[row] {
					t.Fatal(row)
				}
				got = append(got, c.row(uint32(i)))
			}
			others := slices.DeleteFunc(slices.Clone(got), func(row Row) bool {
				_, ok := slices.BinarySearch(want, row)
				return ok
			})
			if !slices.IsSorted(got) || len(got)-len(others) != len(want) || len(others) > len(want) {
				t.Errorf("%d candidates, %d of them have no near one, want %d", len(got), len(others), len(want))
			}
			at := 0
			for part := range 3 {
				err := c.Read(part, 3, func(prints []uint64, first int) error {
					for i, f := range prints {
						if first+i != at || f != base[got[at]] {
							return fmt.Errorf("candidate %d, want %d: %x", first+i, at, f)
						}
						at++
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
			if at != c.Len() {
				t.Errorf("%d of %d were read", at, c.Len())
			}
			c.arena.Free()
		}
	}
}

// TestRow: rows of more than 32 bits are restored from their lower 32 bits.
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

// TestRoom: Find asks for the memory of the candidates when their number is known, and for more if nearly all share a
// bucket. A refusal ends the search.
func TestRoom(t *testing.T) {
	refused := errors.New("refused")
	skewed := make([]uint64, 4000)
	for i := range skewed {
		skewed[i] = uint64(i)
	}
	for name, base := range map[string][]uint64{"repeated": make([]uint64, 1000), "in one bucket": skewed} {
		var asked []uint64
		o := Options{K: 0, Threads: 1, Memory: 1}
		o.Room = func(bytes uint64) (a memory.Arena, err error) {
			asked = append(asked, bytes-o.fixedBytes())
			return a, nil
		}
		r, err := Find(t.Context(), NewPrints(base), o)
		if err != nil {
			t.Fatal(name, err)
		}
		if last := asked[len(asked)-1]; name == "repeated" && (last != 1000*CandidateBytes || r.Rows() != 1000) {
			t.Errorf("%s: %d bytes, %d rows", name, last, r.Rows())
		}
		o.Room = func(uint64) (a memory.Arena, err error) { return a, refused }
		if _, err := Find(t.Context(), NewPrints(base), o); !errors.Is(err, refused) || errors.Is(err, radix.ErrRoom) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
