package asm

import (
	"fmt"
	"math/bits"
)

// HalfPartitions configures [ScatterHalves]: each fingerprint goes into two partitions, by the leading bits of its
// upper half and by those of its lower half, in one pass over them.
//
//	fingerprint      | upper half ............. | lower half ............. |
//	word, half 0     | row .... | other half's | upper half: partition ... |
//	word, half 1     | row .... | other half's | lower half: partition ... |
//	                            `------ Keep bits ------------------------'
//
// A word has in its low 32 bits the half that numbers its partition, above it the low bits of the
// other, and above Keep bits the fingerprint's row.
type HalfPartitions struct {
	Words []uint64 // Room words for each partition of half 0, then of half 1
	Next  []uint64 // by partition, those of half 0 first: the index in Words of its next word. ScatterHalves moves it on
	Bits  int      // leading bits of a half that number its partition: 1 to 12
	// Room is how many words a partition takes, HalvesRoomMin at least. It should not be near a multiple of a power
	// of two: the lines where partitions grow would share few sets of the first-level cache.
	Room int
	Keep int // bits of a fingerprint that a word keeps, 32 to 63; the row has the others
}

// NewHalfPartitions returns empty partitions, 2^bits for each half, with room for some words that keep some bits of a
// fingerprint; the caller sets Words to as many as Size says.
func NewHalfPartitions(bits, room, keep int) *HalfPartitions {
	p := &HalfPartitions{Next: make([]uint64, 2<<bits), Bits: bits, Room: room, Keep: keep}
	for i := range p.Next {
		p.Next[i] = uint64(i * room)
	}
	return p
}

// Size returns how many words the partitions of both halves have room for.
func (p *HalfPartitions) Size() int { return len(p.Next) * p.Room }

// Take empties a partition, those of half 1 behind those of half 0, and returns its words, in order of their rows. They
// stay what they are until the next fingerprints are scattered.
func (p *HalfPartitions) Take(i int) []uint64 {
	from, to := uint64(i*p.Room), p.Next[i]
	p.Next[i] = from
	return p.Words[from:to]
}

// HalvesRoomMin is the least room of a partition: it is how many fingerprints one call into assembly takes, some 5
// microseconds.
const HalvesRoomMin = 2048

// ScatterHalves appends each fingerprint, the first of which has number row, to its two partitions. It stops
// where a partition might not take the next HalvesRoomMin words, or the rest of src, and returns how many are done
// and which partition that is, for [HalfPartitions.Take], which the caller must call before the next; -1 if all are
// done. Rows that do not fit the 64-Keep bits that a word has for them, and partitions that do not satisfy
// HalfPartitions, are a programmer's error and panic.
//
// A fingerprint takes 3 cycles, as long as the lines where partitions grow, 8 KiB of 64 partitions a
// half, stay in the first-level cache.
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

// full returns a partition that might not take n words more, -1 if all do.
func (p *HalfPartitions) full(n int) int {
	end := uint64(p.Room - n)
	for i, at := range p.Next {
		if at > end {
			return i
		}
		end += uint64(p.Room)
	}
	return -1
}

// check panics when the slices do not make partitions.
func (p *HalfPartitions) check() {
	if p.Bits < 1 || p.Bits > 12 || p.Keep < 32 || p.Keep > 63 || p.Room < HalvesRoomMin ||
		len(p.Next) != 2<<p.Bits || len(p.Words) != p.Size() {
		panic(fmt.Sprintf("asm: %d words and %d next ones for twice 2^%d partitions of %d words that keep %d bits",
			len(p.Words), len(p.Next), p.Bits, p.Room, p.Keep))
	}
}

// checkRows panics when the rows of src do not fit above the bits that a word keeps.
func checkRows(src []uint64, row uint64, keep int) {
	if last := row + uint64(len(src)) - 1; len(src) > 0 && bits.Len64(last) > 64-keep {
		panic(fmt.Sprintf("asm: rows %d to %d do not fit %d bits", row, last, 64-keep))
	}
}
