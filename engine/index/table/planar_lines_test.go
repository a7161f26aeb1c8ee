package table

import (
	"math/rand/v2"
	"slices"
	"testing"

	"ndd/asm"
	"ndd/engine/oracle/must"
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

// TestPlanarLines: of random keys, uniform and skewed, every line that is not wide tells the bucket of each of its
// keys and the extent of each of its buckets.
func TestPlanarLines(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	told := 0
	for _, n := range []int{0, 1, 2, 31, 32, 33, 500, 3000} {
		for _, and := range []uint64{^uint64(0), 0x00ffffffffffffff, 0xfff000000000ffff, 0xffff00} {
			keys := make([]uint64, n)
			for i := range keys {
				keys[i] = r.Uint64() & and
			}
			slices.Sort(keys)
			keys = slices.Compact(keys)
			const bucketBits, perLine = 9, 200
			h := planarHead{keys: uint64(len(keys)), bucketBits: bucketBits, perLine: perLine}
			d := newPlanarLines(linesOf(t, h, keys), make([]uint16, len(keys)+asm.PlanarPad), h.keys, bucketBits,
				perLine)
			for i, key := range keys {
				bucket := key >> (64 - bucketBits)
				line := d.line(bucket)
				if d.wide(line) {
					continue
				}
				told++
				if j, ok := d.bucketOf(line, uint64(i)-d.base(line)); !ok || line*perLine+j != bucket {
					t.Fatalf("key %d of %d lies in bucket %d of line %d, %v", i, len(keys), j, line, ok)
				}
				if _, ok := d.bucketOf(line, asm.PlanarLineBits); ok {
					t.Fatalf("line %d has key %d", line, asm.PlanarLineBits)
				}
				start, end, ok := d.extent(bucket)
				first, _ := slices.BinarySearch(keys, bucket<<(64-bucketBits))
				last, _ := slices.BinarySearch(keys, bucket<<(64-bucketBits)|^uint64(0)>>bucketBits)
				if last < len(keys) && keys[last]>>(64-bucketBits) == bucket {
					last++
				}
				if !ok || start != uint64(first) || end != uint64(last) {
					t.Fatalf("bucket %d has keys %d to %d, %v, want %d to %d", bucket, start, end, ok, first, last)
				}
			}
		}
	}
	if told < 1000 {
		t.Errorf("%d keys lie on lines that are not wide", told)
	}
}

// TestPlanarLinesFull: a line with as many keys and buckets as it has bits is full, and one with a key more is wide.
func TestPlanarLinesFull(t *testing.T) {
	const bucketBits, perLine = 9, 200
	for more := range uint64(2) {
		keys := make([]uint64, asm.PlanarLineBits-perLine+more)
		for i := range keys {
			keys[i] = perLine/2<<(64-bucketBits) + uint64(i)
		}
		h := planarHead{keys: uint64(len(keys)), bucketBits: bucketBits, perLine: perLine}
		d := newPlanarLines(linesOf(t, h, keys), make([]uint16, len(keys)+asm.PlanarPad), h.keys, bucketBits, perLine)
		if d.wide(0) != (more > 0) {
			t.Errorf("a line of %d keys and %d buckets is wide: %v", len(keys), perLine, d.wide(0))
		}
		if start, end, ok := d.extent(perLine / 2); more == 0 && (!ok || start != 0 || end != uint64(len(keys))) {
			t.Errorf("the full line's keys are %d to %d, %v", start, end, ok)
		}
	}
}
