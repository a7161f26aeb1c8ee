package asm

import (
	"fmt"
	"math/bits"
)

// Halves are fingerprints dealt out twice, by the leading bits of their upper half and by
// those of their lower half, in one pass over them.
//
//	fingerprint      | upper half ............. | lower half ............. |
//	word, half 0     | row .... | other half's | upper half: pile ........ |
//	word, half 1     | row .... | other half's | lower half: pile ........ |
//	                            `------ Keep bits ------------------------'
//
// A word has in its low 32 bits the half that it was dealt by, above it the low bits of the
// other, and above Keep bits the fingerprint's row. Piles do not begin at multiples of a
// power of two, since then the lines where they grow would share few sets of the first-level
// cache. A Halves belongs to one goroutine.
type Halves struct {
	words []uint64
	next  []uint64 // of each pile, half 0's first: where its next word goes
	bits  int      // log2 of the piles of a half
	room  int      // words that a pile takes
	keep  int
}

// HalvesOptions say how to deal.
type HalvesOptions struct {
	Bits int // leading bits of a half that make the number of its pile: 1 to 12
	Room int // words that a pile takes: HalvesCall at least
	Keep int // bits of a fingerprint that a word keeps, 32 to 63; the row has the others
}

// HalvesCall is how many fingerprints one call into assembly takes, some 5
// microseconds, and the least room of a pile.
const HalvesCall = 2048

// HalvesWords is how many words the piles of both halves need.
func HalvesWords(o HalvesOptions) int { return 2 << o.Bits * o.pitch() }

// pitch is the distance of two piles: an odd number of cache lines.
func (o *HalvesOptions) pitch() int { return o.Room&^7 | 8 }

// NewHalves makes empty piles in words, of which there must be HalvesWords(o); it panics otherwise.
func NewHalves(words []uint64, o HalvesOptions) *Halves {
	if o.Bits < 1 || o.Bits > 12 || o.Keep < 32 || o.Keep > 63 || o.Room < HalvesCall || len(words) != HalvesWords(o) {
		panic(fmt.Sprintf("asm: %d words for twice 2^%d piles of %d words that keep %d bits", len(words), o.Bits, o.Room, o.Keep))
	}
	h := &Halves{words: words, next: make([]uint64, 2<<o.Bits), bits: o.Bits, room: o.pitch(), keep: o.Keep}
	for i := range h.next {
		h.next[i] = uint64(i * h.room)
	}
	return h
}

// Deal puts each fingerprint, the first of which has number row, on its two piles. It stops
// where a pile might not take more and returns how many are done and which pile that is, of
// which half; half is -1 if all are done. Take must empty the pile before Deal goes on. Rows must fit the 64-Keep
// bits that a word has for them.
//
// Napkin: 7 operations for each word and 3 for the fingerprint, two of three of them on any
// port: 3 cycles a fingerprint, as long as the lines where piles grow, 8 KiB of 64 piles a half,
// stay in the first-level cache. No branch depends on the fingerprints.
func (h *Halves) Deal(src []uint64, row uint64) (done, half, pile int) {
	if len(src) > 0 && (row+uint64(len(src))-1)>>(64-h.keep) != 0 {
		panic(fmt.Sprintf("asm: rows %d to %d do not fit %d bits", row, row+uint64(len(src))-1, 64-h.keep))
	}
	raceRead(src)
	raceWrite(h.next)
	raceWrite(h.words)
	for done < len(src) {
		part := src[done:min(done+HalvesCall, len(src))]
		if full := h.full(len(part)); full >= 0 {
			return done, full >> h.bits, full & (1<<h.bits - 1)
		}
		halves(h, part, row+uint64(done))
		done += len(part)
	}
	return done, -1, -1
}

// full is a pile that might not take so many words, -1 if all do.
func (h *Halves) full(n int) int {
	end := uint64(h.room - n)
	for i, at := range h.next {
		if at > end {
			return i
		}
		end += uint64(h.room)
	}
	return -1
}

// Len is the number of piles of a half.
func (h *Halves) Len() int { return 1 << h.bits }

// Take is the words of a pile, in order of their rows. The pile is empty then; the words
// stay what they are until the next call of Deal.
func (h *Halves) Take(half, pile int) []uint64 {
	i := half<<h.bits | pile
	from, to := uint64(i*h.room), h.next[i]
	h.next[i] = from
	return h.words[from:to]
}

// Row is the row of a word.
func (h *Halves) Row(word uint64) uint64 { return word >> h.keep }

// Known is what a word of a half knows of its fingerprint; the other bits are 0.
func (h *Halves) Known(word uint64, half int) uint64 {
	return bits.RotateLeft64(word&(1<<h.keep-1), 32*(1-half))
}

// Sift copies those words to dst whose bit is set in the map, and returns how many. A word's
// bit has the number that its half begins with: as many bits as number those of the map, a
// power of two from 128 to 2^32. dst may be words; it panics if it is shorter.
//
// Napkin: 7 operations for each word and no branch, 1.5 cycles, and a line of the map from
// wherever that is.
func (h *Halves) Sift(dst, words, bitmap []uint64) int {
	n := bits.Len(uint(len(bitmap))) + 5
	if len(bitmap) < 2 || len(bitmap)&(len(bitmap)-1) != 0 || n > 32 || len(dst) < len(words) {
		panic(fmt.Sprintf("asm: %d words to %d by a map of %d words", len(words), len(dst), len(bitmap)))
	}
	raceRead(words)
	raceRead(bitmap)
	raceWrite(dst[:len(words)])
	kept := 0
	for done := 0; done < len(words); done += siftCall {
		part := words[done:min(done+siftCall, len(words))]
		kept += sift(dst[kept:], part, bitmap, uint64(32-n))
	}
	return kept
}

// siftCall is how many words one call into assembly takes: some 20 microseconds.
const siftCall = 8192
