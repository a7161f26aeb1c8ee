package asm

import (
	"fmt"
	"slices"
	"unsafe"
)

// Buckets configures [Scatter]: each key goes into the bucket that some of its bits, its digit, number.
//
//	digit(key) = (key - Low) >> Shift
//	keys ---> line of its digit ---> Dst, eight keys at a time
//	          | k k k . . . . . |    | bucket 0 | bucket 1 |   bucket 2   | ...
//
// [NewBuckets] makes them. Before the first call, Next[d] and First[d] are both Skew plus the index in Dst of digit d's
// first key.
type Buckets struct {
	Dst   []uint64 // the buckets
	Low   uint64   // the lowest key that has a bucket
	Shift uint     // of a key, to its digit
	Skew  uint64   // lineOffset(Dst): places are counted from the beginning of the cache line in which Dst begins
	Next  []uint64 // by digit: the place of its next key, plus Skew. Scatter moves it on
	First []uint64 // by digit: the place of its first key, plus Skew
	Lines []uint64 // eight by digit, for Scatter: the keys that wait for their line to be full
}

// LineKeys is how many keys a cache line holds.
const LineKeys = 8

// scatterCall is how many keys one call of a kernel takes: some 25 us.
const scatterCall = 4096

// lineOffset returns the place of s[0] in its cache line, in elements.
func lineOffset(s []uint64) uint64 {
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(s)))) / 8 % LineKeys
}

// NewBuckets returns buckets in dst of keys of at least low: the first key of digit d goes to dst[starts[d]]. It
// allocates a cache line a digit.
func NewBuckets(dst, starts []uint64, low uint64, shift uint) *Buckets {
	b := &Buckets{Dst: dst, Low: low, Shift: shift, Skew: lineOffset(dst), Next: make([]uint64, len(starts))}
	for d, at := range starts {
		b.Next[d] = at + b.Skew
	}
	b.First = slices.Clone(b.Next)
	// Lines begin where cache lines do, so that none lies on two.
	lines := make([]uint64, LineKeys*(len(starts)+1)-1)
	b.Lines = lines[-int(lineOffset(lines))&(LineKeys-1):][:LineKeys*len(starts)]
	return b
}

// Scatter sends keys to their buckets. Dst is complete after [ScatterFlush], and before that lacks up to seven keys a
// digit. A key without a bucket, a bucket that does not fit Dst, or slices whose lengths do not fit each other are a
// programmer's error and panic.
//
// Several goroutines may scatter into one Dst at the same time, each with Buckets of its own whose places are its
// own: no line of Dst is written but where it is the writer's.
//
// A key alone, written to one of thousands of places, costs the line that it lies on in both
// directions. So keys are collected in one cache line a digit, and whole lines go past the caches to
// Dst. Measured with 2^11 digits from memory to memory (BenchmarkKernels): 3.2 ns a key, where one
// by one took 8.8, and copy took 0.7.
func Scatter(b *Buckets, keys []uint64) {
	b.check()
	for len(keys) > 0 {
		n := min(len(keys), scatterCall)
		raceRead(keys[:n])
		if done := scatter(b, keys[:n]); done < n {
			panic(fmt.Sprintf("asm: no room for key %#016x in %d buckets of %d keys", keys[done], len(b.Next), len(b.Dst)))
		}
		keys = keys[n:]
	}
}

// ScatterFlush writes the keys that still wait in Lines to Dst. It must run on the backend that scattered them.
func ScatterFlush(b *Buckets) {
	b.check()
	scatterFlush(b)
}

// check panics when the slices do not fit each other.
func (b *Buckets) check() {
	n := len(b.Next)
	if len(b.First) != n || len(b.Lines) != LineKeys*n || b.Skew != lineOffset(b.Dst) {
		panic(fmt.Sprintf("asm: %d next and %d first places, %d lines, skew %d do not make buckets", n, len(b.First),
			len(b.Lines), b.Skew))
	}
}
