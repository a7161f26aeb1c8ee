package table

import (
	"testing"

	"example.org/ndd/asm"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
)

// linesOf returns the lines of a table of keys.
func linesOf(t *testing.T, h planarHead, keys []uint64) []uint64 {
	t.Helper()
	b, err := newPlanarBuilder(h)
	must.Do(t, err)
	defer b.Free()
	b.Pack(0, keys, nil)
	return b.directory(1).lines
}

// TestPlanarLinesFull checks that a line with as many keys and buckets as bits is full, and that a line with one more
// key is wide.
func TestPlanarLinesFull(t *testing.T) {
	const bucketBits, perLine = 9, 200
	for extra := range 2 {
		keys := sets.Generate(asm.PlanarLineBits-perLine+extra, func(i int) uint64 {
			return perLine/2<<(64-bucketBits) + uint64(i)
		})
		h := planarHead{keys: uint64(len(keys)), bucketBits: bucketBits, perLine: perLine}
		d := newPlanarLines(linesOf(t, h, keys), make([]uint16, len(keys)+asm.PlanarPad), h.keys, bucketBits, perLine)
		if d.wide(0) != (extra > 0) {
			t.Errorf("a line of %d keys and %d buckets is wide: %v", len(keys), perLine, d.wide(0))
		}
		if start, end, ok := d.extent(perLine / 2); extra == 0 && (!ok || start != 0 || end != uint64(len(keys))) {
			t.Errorf("the full line's keys are %d to %d, %v", start, end, ok)
		}
		if j, ok := d.bucketOf(0, uint64(len(keys))); extra == 0 && ok {
			t.Errorf("a key more than the full line has is in bucket %d", j)
		}
	}
}
