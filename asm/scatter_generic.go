package asm

import (
	"fmt"
	"math/bits"
)

// scatterGeneric is the specification of scatter, but for the lines, with which
// plain Go is slower. It stops before a key that has no bucket or no room; a kernel with
// lines may stop some keys later.
func scatterGeneric(b *Buckets, keys []uint64) (done int) {
	for i, key := range keys {
		d := (key - b.Low) >> (b.Shift & 63)
		if d >= uint64(len(b.Next)) {
			return i
		}
		at := b.Next[d]
		if at-b.Skew >= uint64(len(b.Dst)) {
			return i
		}
		b.Dst[at-b.Skew] = key
		b.Next[d] = at + 1
	}
	return len(keys)
}

// flushLines writes what the lines of a kernel with lines still hold.
func flushLines(b *Buckets) {
	for d, end := range b.Next {
		for at := max(end&^(LineKeys-1), b.First[d]); at < end; at++ {
			b.Dst[at-b.Skew] = b.Lines[LineKeys*uint64(d)+at%LineKeys]
		}
	}
}

// checkScatter compares the kernel in use with a known answer: the numbers below 256 by their upper four bits, in an
// order that has them all.
func checkScatter() error {
	var (
		keys, dst           [256 + 3]uint64
		next, first         [16]uint64
		lines               [LineKeys * 16]uint64
		b                   = Buckets{Dst: dst[:], Shift: 4, Skew: LineOffset(dst[:]), Next: next[:], First: first[:], Lines: lines[:]}
		seen                [256]bool
		bucketKeys, bucket0 = uint64(16), uint64(3)
	)
	for i := range 256 {
		keys[i] = uint64(bits.Reverse8(uint8(i)))
	}
	for d := range next {
		next[d] = b.Skew + bucket0 + bucketKeys*uint64(d)
	}
	first = next
	Scatter(&b, keys[:100])
	Scatter(&b, keys[100:256])
	ScatterFlush(&b)
	for i, key := range dst[bucket0:] {
		if key>>4 != uint64(i)/bucketKeys || seen[key] {
			return fmt.Errorf("key %#x at %d", key, i)
		}
		seen[key] = true
	}
	if dst[0]|dst[1]|dst[2] != 0 {
		return fmt.Errorf("keys %#x before the first bucket", dst[:bucket0])
	}
	return nil
}
