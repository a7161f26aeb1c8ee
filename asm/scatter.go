package asm

import (
	"fmt"
	"slices"
	"unsafe"
)

// Buckets configures [Scatter]. Some bits of a key, its digit, are the number of its bucket.
//
//	digit(key) = (key - Low) >> Shift
//	keys ---> line of its digit ---> Dst, eight keys at a time
//	          | k k k . . . . . |    | bucket 0 | bucket 1 |   bucket 2   | ...
//
// [NewBuckets] creates a Buckets. Before the first call, Next[d] and First[d] are both Skew plus the index in Dst of
// digit d's first key.
type Buckets struct {
	Dst   []uint64 // the buckets
	Low   uint64   // the lowest key with a bucket
	Shift uint     // shift from a key to its digit
	Skew  uint64   // lineOffset(Dst): positions are counted from the beginning of the cache line in which Dst begins
	Next  []uint64 // by digit: position of its next key, plus Skew. Scatter advances it
	First []uint64 // by digit: position of its first key, plus Skew
	Lines []uint64 // eight per digit, for Scatter: keys that wait for a full line
}

// LineKeys is the number of keys per cache line.
const LineKeys = 8

// scatterCall is the maximum number of keys per kernel call: some 25 us.
const scatterCall = 4096

// lineOffset returns the position of s[0] in its cache line, in elements.
func lineOffset(s []uint64) uint64 {
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(s)))) / 8 % LineKeys
}

// NewBuckets returns buckets in dst for keys from low on. The first key of digit d is written to dst[starts[d]].
// NewBuckets allocates a cache line per digit.
func NewBuckets(dst, starts []uint64, low uint64, shift uint) *Buckets {
	b := &Buckets{Dst: dst, Low: low, Shift: shift, Skew: lineOffset(dst), Next: make([]uint64, len(starts))}
	for d, start := range starts {
		b.Next[d] = start + b.Skew
	}
	b.First = slices.Clone(b.Next)
	// Align Lines with cache lines, so that none of them spans two.
	lines := make([]uint64, LineKeys*(len(starts)+1)-1)
	b.Lines = lines[-int(lineOffset(lines))&(LineKeys-1):][:LineKeys*len(starts)]
	return b
}

// Scatter moves keys to their buckets. Before [ScatterFlush], Dst may lack up to seven keys per digit. Scatter panics
// if a key has no bucket, a bucket does not fit in Dst, or lengths are inconsistent.
//
// Several goroutines may scatter into one Dst concurrently, each with its own Buckets and its own positions. A line
// of Dst is written only within the positions of the writer.
//
// Writing a single key to one of thousands of positions transfers its line in both directions. So keys are collected
// in one cache line per digit, and complete lines are written to Dst without the caches. Measured with 2^11 digits
// from memory to memory (BenchmarkKernels): 3.2 ns per key. One by one took 8.8, and copy took 0.7.
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

// check panics if the slices are inconsistent.
func (b *Buckets) check() {
	n := len(b.Next)
	if len(b.First) != n || len(b.Lines) != LineKeys*n || b.Skew != lineOffset(b.Dst) {
		panic(fmt.Sprintf("asm: %d next and %d first places, %d lines, skew %d do not make buckets", n, len(b.First),
			len(b.Lines), b.Skew))
	}
}
