package asm

import (
	"fmt"
	"math/bits"
	"slices"
	"unsafe"
)

// within32Generic is the specification of within32. It scans count runs, which lie
// stride bytes apart, and numbers them from base on. Runs [0, done) are scanned, and
// elements [0, offset) of the next; done < count means that this next run is longer
// than longest or not inside low (then offset is 0), or that dst has no room for
// its next hit. The other backends may stop within a run earlier, but only where
// dst cannot take the hits of the next block, of at most 64 elements.
func within32Generic(dst []Hit32, low []uint32, runs unsafe.Pointer, stride uintptr, count int, longest uint64, base, q uint32) (hits, done int, offset uint64) {
	for ; done < count; done++ {
		run := (*Span)(unsafe.Add(runs, uintptr(done)*stride))
		if !run.inside(low) || uint64(run.Len) > longest {
			return hits, done, 0
		}
		if stride == runBytes {
			q = (*Run)(unsafe.Pointer(run)).Query
		}
		for i, x := range low[run.Start : run.Start+uint64(run.Len)] {
			distance := uint32(bits.OnesCount32(x ^ q))
			if distance > run.Limit {
				continue
			}
			if hits == len(dst) {
				return hits, done, uint64(i)
			}
			dst[hits] = Hit32{Pos: run.Start + uint64(i), Run: base + uint32(done), Distance: distance}
			hits++
		}
	}
	return hits, done, 0
}

// checkWithin32 is the known answer: element i differs from q in i mod 33 bits, and
// the runs, one of them longer than a block and one empty, begin anywhere.
func checkWithin32() error {
	const q = 0x7f4a7c15
	var low [160]uint32
	for i := range low {
		low[i] = q ^ uint32(1<<(i%33)-1)
	}
	want := []Hit32{
		{0, 0, 0}, {1, 0, 1}, {33, 1, 0}, {34, 1, 1}, {35, 1, 2}, {66, 3, 0}, {99, 3, 0}, {132, 3, 0},
	}
	var got [16]Hit32
	spans := [4]Span{{0, 16, 1}, {17, 25, 2}, {40, 0, 32}, {50, 110, 0}}
	if hits, done := Within32(got[:], low[:], q, spans[:]); done != len(spans) || !slices.Equal(got[:hits], want) {
		return fmt.Errorf("one query: got %d after %d runs, want %d", got[:hits], done, want)
	}
	var runs [len(spans)]Run
	for i, s := range spans {
		runs[i] = Run{Span: s, Query: q}
	}
	runs[3].Query = ^uint32(q) // 32 bits from element i where that is 0 from q
	want = append(want[:5:5], Hit32{65, 3, 0}, Hit32{98, 3, 0}, Hit32{131, 3, 0})
	if hits, done := Within32Runs(got[:], low[:], runs[:]); done != len(runs) || !slices.Equal(got[:hits], want) {
		return fmt.Errorf("a query for each run: got %d after %d runs, want %d", got[:hits], done, want)
	}
	return nil
}
