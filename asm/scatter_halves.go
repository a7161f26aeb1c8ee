package asm

import (
	"fmt"
	"math/bits"
)

// HalfPartitions configures [ScatterHalves]: each fingerprint is written to two partitions, by the leading bits of
// its upper half and of its lower half, in one pass.
//
//	fingerprint      | upper half ............. | lower half ............. |
//	word, half 0     | row .... | other half's | upper half: partition ... |
//	word, half 1     | row .... | other half's | lower half: partition ... |
//	                            `------ Keep bits ------------------------'
//
// The low 32 bits of a word are the half that determines its partition. Above it are the low bits of the other half,
// and above Keep bits the fingerprint's row.
type HalfPartitions struct {
	Words []uint64 // Capacity words for each partition of half 0, then of half 1
	Next  []uint64 // for each partition, beginning with half 0: the index in Words of its next word. ScatterHalves advances it
	Bits  int      // leading bits of a half that are the number of its partition: 1 to 12
	// Capacity is the number of words of a partition, at least HalvesRoomMin. It should not be near a multiple of a
	// power of two: otherwise the growing ends of the partitions share few sets of the first-level cache.
	Capacity int
	Keep     int // bits of a fingerprint that a word keeps, 32 to 63; the row has the other bits
}

// NewHalfPartitions returns empty partitions, 2^bits for each half. Each has space for some words, which keep some
// bits of a fingerprint. The caller sets Words to a slice of the length of Size.
func NewHalfPartitions(bits, capacity, keep int) *HalfPartitions {
	p := &HalfPartitions{Next: make([]uint64, 2<<bits), Bits: bits, Capacity: capacity, Keep: keep}
	for i := range p.Next {
		p.Next[i] = uint64(i * capacity)
	}
	return p
}

// Size returns the number of words of the partitions of both halves.
func (p *HalfPartitions) Size() int { return len(p.Next) * p.Capacity }

// Take returns the words of partition i in row order and empties it. The partitions of half 0 come first. The words
// are valid until the next call of ScatterHalves.
func (p *HalfPartitions) Take(i int) []uint64 {
	start, end := uint64(i*p.Capacity), p.Next[i]
	p.Next[i] = start
	return p.Words[start:end]
}

// HalvesRoomMin is the minimum space of a partition. It is the number of fingerprints per call of assembly, some 5
// microseconds.
const HalvesRoomMin = 2048

// ScatterHalves appends each fingerprint to its two partitions. The first one has number row. It stops if a partition
// may not have space for the next HalvesRoomMin words, or for the rest of src. It returns the number of completed
// fingerprints, and the index of that partition, or -1 if all are done. The caller must empty the partition by
// [HalfPartitions.Take] before the next call. ScatterHalves panics if rows do not fit in the 64-Keep bits of a word,
// or the partitions contradict HalfPartitions.
//
// A fingerprint takes 3 cycles if the growing ends of the partitions stay in the first-level cache: 8 KiB for 64
// partitions per half.
func ScatterHalves(p *HalfPartitions, src []uint64, row uint64) (done, full int) {
	p.check()
	checkRows(src, row, p.Keep)
	raceRead(src)
	raceWrite(p.Next)
	raceWrite(p.Words)
	for done < len(src) {
		part := src[done:min(done+HalvesRoomMin, len(src))]
		if full := p.full(len(part)); full >= 0 {
			return done, full
		}
		scatterHalves(p, part, row+uint64(done))
		done += len(part)
	}
	return done, -1
}

// full returns a partition that may not have space for n more words, or -1.
func (p *HalfPartitions) full(n int) int {
	end := uint64(p.Capacity - n)
	for i, next := range p.Next {
		if next > end {
			return i
		}
		end += uint64(p.Capacity)
	}
	return -1
}

// check panics if the slices are inconsistent.
func (p *HalfPartitions) check() {
	if p.Bits < 1 || p.Bits > 12 || p.Keep < 32 || p.Keep > 63 || p.Capacity < HalvesRoomMin ||
		len(p.Next) != 2<<p.Bits || len(p.Words) != p.Size() {
		panic(fmt.Sprintf("asm: %d words and %d next ones for twice 2^%d partitions of %d words that keep %d bits",
			len(p.Words), len(p.Next), p.Bits, p.Capacity, p.Keep))
	}
}

// checkRows panics if the rows of src do not fit above the kept bits of a word.
func checkRows(src []uint64, row uint64, keep int) {
	if last := row + uint64(len(src)) - 1; len(src) > 0 && bits.Len64(last) > 64-keep {
		panic(fmt.Sprintf("asm: rows %d to %d do not fit %d bits", row, last, 64-keep))
	}
}
