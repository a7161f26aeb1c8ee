package asm

import (
	"fmt"
	"math/bits"
	"unsafe"
)

// Buckets is a partition of keys by some of their leading bits that is under way:
//
//	digit(key) = (key - Low) >> Shift
//	keys ---> line of its digit ---> Dst, eight keys at a time
//	          | k k k . . . . . |    | bucket 0 | bucket 1 |   bucket 2   | ...
//
// A key alone, written to one of thousands of places, costs the line that it lies on in both
// directions, and most often a translation of its address. So keys are collected in one
// cache line a digit, and whole lines go past the caches to Dst; the lines of 2^11 digits
// are 128 KiB and stay in the second-level cache.
//
// Napkin: a dozen instructions a key, one of eight mispredicted jumps to write a line (2.5
// cycles), 8 bytes in and 8 out. Measured with 2^11 digits from memory to memory
// (BenchmarkBuckets): 3.2 ns a key, where one by one took 8.8, and copy took 0.7.
//
// Reset comes first; then Scatter any number of times; then Flush, before which Dst is not
// complete. Buckets of several goroutines may share Dst, each with parts of its own, of
// any length: no line is written but where it is the writer's.
type Buckets struct {
	dst        []uint64
	low        uint64
	shift      uint
	skew       uint64   // keys by which dst begins behind the beginning of a cache line
	next, from []uint64 // by digit: where its next key goes, and where its first one did; both + skew
	lines      []uint64 // by digit, 8 keys: those of place 8i+j at j
	store      []uint64 // holds lines, aligned
}

// lineKeys is how many keys a cache line holds.
const lineKeys = 8

// bucketsCall is how many keys one call of a kernel takes: some 25 us.
const bucketsCall = 4096

// Reset begins a partition into dst of keys of at least low whose digit is less than
// len(starts): the first key of digit d goes to dst[starts[d]]. The memory that b has is used
// again.
func (b *Buckets) Reset(dst, starts []uint64, low uint64, shift uint) {
	n := len(starts)
	if cap(b.next) < n {
		b.next, b.from = make([]uint64, n), make([]uint64, n)
		b.store = make([]uint64, lineKeys*n+lineKeys-1)
		b.lines = b.store[-int(lineOf(b.store))&(lineKeys-1):][:lineKeys*n]
	}
	b.dst, b.low, b.shift, b.skew = dst, low, shift, lineOf(dst)
	b.next, b.from, b.lines = b.next[:n], b.from[:n], b.lines[:lineKeys*n]
	for d, at := range starts {
		b.next[d], b.from[d] = at+b.skew, at+b.skew
	}
}

// lineOf is the place of s in its cache line, in keys.
func lineOf(s []uint64) uint64 {
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(s)))) / 8 % lineKeys
}

// Scatter sends keys to their buckets. A key without a bucket, or a bucket that does not fit
// dst, is a programmer's error and panics.
func (b *Buckets) Scatter(keys []uint64) {
	for len(keys) > 0 {
		n := min(len(keys), bucketsCall)
		raceRead(keys[:n])
		if done := bucketsScatter(b, keys[:n]); done < n {
			panic(fmt.Sprintf("asm: no room for key %#016x in %d buckets of %d keys", keys[done], len(b.next), len(b.dst)))
		}
		keys = keys[n:]
	}
}

// Flush writes what the lines still hold.
func (b *Buckets) Flush() {
	if !bucketsCombine() {
		return
	}
	for d, end := range b.next {
		for at := max(end&^(lineKeys-1), b.from[d]); at < end; at++ {
			b.dst[at-b.skew] = b.lines[lineKeys*uint64(d)+at%lineKeys]
		}
	}
	bucketsFence()
}

// bucketsScatterGeneric is the specification of bucketsScatter, but for the lines, which
// plain Go is slower with. It stops before a key that has no bucket or no room; a kernel with
// lines may stop some keys later.
func bucketsScatterGeneric(b *Buckets, keys []uint64) (done int) {
	for i, key := range keys {
		d := (key - b.low) >> (b.shift & 63)
		if d >= uint64(len(b.next)) {
			return i
		}
		at := b.next[d]
		if at-b.skew >= uint64(len(b.dst)) {
			return i
		}
		b.dst[at-b.skew] = key
		b.next[d] = at + 1
	}
	return len(keys)
}

// checkBuckets is the known answer: the numbers below 256 by their upper four bits, in an
// order that has them all.
func checkBuckets() error {
	keys, dst, starts := make([]uint64, 256), make([]uint64, 259), make([]uint64, 16)
	for i := range keys {
		keys[i] = uint64(bits.Reverse8(uint8(i)))
	}
	for d := range starts {
		starts[d] = uint64(3 + 16*d)
	}
	var b Buckets
	b.Reset(dst, starts, 0, 4)
	b.Scatter(keys[:100])
	b.Scatter(keys[100:])
	b.Flush()
	seen := make([]bool, 256)
	for i, key := range dst {
		switch {
		case i < 3 && key == 0:
		case i < 3 || int(key>>4) != (i-3)/16 || seen[key]:
			return fmt.Errorf("key %#x at %d", key, i)
		default:
			seen[key] = true
		}
	}
	return nil
}
