package radix

import (
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/spill"
)

// TestRecords sorts records of two writers with repetitions: with so little memory that runs are written and merged
// in steps, and with enough memory.
func TestRecords(t *testing.T) {
	for _, room := range []int{256, 1 << 20} {
		dir := t.TempDir()
		runs := spill.NewRuns[[3]uint64](nil, dir, "records", 1)
		s := NewRecords(runs, room, 2)
		rng := rand.New(rand.NewPCG(13, 14))
		writers := []*RecordWriter[[3]uint64]{s.Writer(), s.Writer(), s.Writer()}
		var want [][3]uint64
		for i := range 300_000 {
			r := [3]uint64{rng.Uint64N(30_000) << 20, rng.Uint64N(4), rng.Uint64N(3)}
			if want = append(want, r); writers[i%2].Add(r) != nil {
				t.Fatal("an error without a cause")
			}
		}
		for _, w := range writers {
			w.Close()
		}
		slices.SortFunc(want, func(a, b [3]uint64) int { return slices.Compare(a[:], b[:]) })
		want = slices.Compact(want)
		var got [][3]uint64
		for r, err := range s.All() {
			must.Do(t, err)
			got = append(got, r)
		}
		if spilled := runs.Bytes() >= 1000*256*24; spilled != (room == 256) || !slices.Equal(got, want) {
			t.Errorf("room %d: %d records after %d bytes of runs, want %d", room, len(got), runs.Bytes(), len(want))
		}
		must.Do(t, s.Close())
		if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
			t.Errorf("left over: %v, %v", names, err)
		}
	}
}
