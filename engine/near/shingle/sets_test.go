package shingle

import (
	"math/rand/v2"
	"slices"
	"testing"

	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle/must"
)

// TestSets checks that every set is read as it was added, from memory and from the file.
func TestSets(t *testing.T) {
	distinct := [][]uint64{{1, 2, 3, 4, 5}, {1, 2, 3, 4, 6}, {7}, {}, {8, 9, 10, 11}, {1, 2, 3, 4, 5, 6}}
	for _, bytes := range []int64{0, 1, 8 * 7, 8 * 210, 1 << 20} {
		s, err := NewSets(new(memory.Arena), 60, bytes, t.TempDir(), nil)
		must.Do(t, err)
		for i := range 60 {
			must.Do(t, s.Put(i, distinct[i%6]))
		}
		must.Do(t, s.End())
		var buf []uint64
		for i := range 60 {
			if set := s.Get(i, &buf); !slices.Equal(set, distinct[i%6]) {
				t.Fatalf("%d bytes: set %d is %v", bytes, i, set)
			}
		}
		stored := s.used
		if s.spilled != nil {
			stored += s.spilled.Len()
		}
		if stored != 210 || (s.spilled == nil) != (bytes >= 8*210) {
			t.Errorf("%d bytes: %d elements are stored", bytes, stored)
		}
		must.Do(t, s.Close())
	}
}

// TestSort checks that sets of any size are sorted, also with frequent and with skewed hashes.
func TestSort(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	s := New(t.Context())
	for _, n := range []int{0, 1, sortFrom - 1, sortFrom, 1000, 4096, 100_000, 129} {
		for _, values := range []uint64{1, 10, 1 << 40, ^uint64(0)} {
			set := make([]uint64, n)
			for i := range set {
				if set[i] = rng.Uint64N(values); i%3 == 0 {
					set[i] = ^set[i]
				}
			}
			want := slices.Sorted(slices.Values(set))
			if s.sort(set); !slices.Equal(set, want) {
				t.Errorf("%d hashes below %d are not in order", n, values)
			}
		}
	}
}
