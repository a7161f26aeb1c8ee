package scan

import (
	"fmt"
	"math"
	"math/bits"

	"ndd/asm"
	"ndd/engine/memory"
	"ndd/permute"
)

// A sieve tells which fingerprints cannot be near a query. Two that differ in at most k bits
// differ in at most (k-1)/2 of one half, or at most k-1-(k-1)/2 of the other. For each half there is a
// map of 2^bits bits, of which one is set where some query's half begins with its number, but
// for so many flips: of 1 M queries, k = 3, one bit in nine of 2^28.
//
//	fingerprint        | upper half | lower half |
//	                        |             |         dealt by their leading bits,
//	maps of 2^28 bits  [.1......]     [....1...]    so that a pile's part of the map is near
//	                        |             |
//	tables             2 of 16 bits   2 of 16 bits  only for what is left
//
// What is left of a half is within radius of some query in nearly all of it, which is found
// in tables whose leading bits are bits of that half.
type sieve [2][]uint64

const (
	// sieveBitsLeast is log2 of the smallest map: one that a pile has 64 lines of.
	sieveBitsLeast = 22
	// pileMapBits is log2 of the bits of a pile's part of a map: an eighth of a second-level
	// cache of 2 MiB.
	pileMapBits = 21
	// sievePrints is how many fingerprints are dealt before they are sifted: each reads its
	// share of the maps from memory, 8 bytes of 2^28 bits.
	sievePrints = 1 << sieveRowBits
	// sieveLeast is how many piles take at least.
	sieveLeast = 1 << 16
	// sieveRowBits of a word are for the row.
	sieveRowBits = 23
	// siftedBits is log2 of how many fingerprints that are left are joined together.
	siftedBits = 20
)

// What a sieve was measured to take, in ns, at 2 GHz (BenchmarkMap, BenchmarkBatch).
const (
	halvesCost = 4.4  // to deal a fingerprint onto two piles
	siftCost   = 1.6  // for a word
	mapLine    = 12.0 // for a line of the map, for each part
	farMap     = 2.0  // for a word and each doubling of a pile's part of the map beyond 2^22 bits
	siftedCost = 13.0 // for what is left, besides the tables
	dilateCost = 100  // for a line of the map when it is made
	takeCost   = 5    // for the memory of the piles of a fingerprint
	// printsMany is how long F is taken to be where that is not known.
	printsMany = 1 << 28
)

// radii are how many bits of each half may differ.
func radii(k int) [2]int { return [2]int{(k - 1) / 2, k - 1 - (k-1)/2} }

// sieved is the plan with a sieve of 2^bits bits.
func sieved(w job, bits int) plan {
	lines := 2 * math.Ldexp(1, bits-9) // of both maps
	prints := uint64(printsMany)
	if w.prints > 0 {
		prints = w.prints
	}
	p := plan{name: fmt.Sprintf("sieve-%d", bits), bits: bits, part: int(min(max(prints, sieveLeast), sievePrints))}
	far := max(0, float64(bits-pilesOf(bits)-22))
	p.cost = halvesCost + 2*(siftCost+farMap*far) + mapLine*lines/float64(p.part) +
		(dilateCost*lines+takeCost*float64(p.part))/float64(prints)
	for half, radius := range radii(w.k) {
		set := 1 - math.Exp(-float64(w.queries)*math.Ldexp(float64(permute.Ball(bits, radius)), -bits))
		var best group
		least := math.Inf(1)
		for blocks := radius + 1; blocks <= radius+3; blocks++ {
			g := group{mask: 0xffffffff << (32 * (1 - half)), radius: radius, tables: halfTables(half, radius, blocks)}
			if cost := siftedCost + g.lay(w.queries, true); cost < least {
				best, least = g, cost
			}
		}
		p.groups = append(p.groups, best)
		p.cost += set * least
	}
	return p
}

// halfTables cuts a half into blocks, of which all but radius lead, in every combination.
func halfTables(half, radius, blocks int) (list []permute.Table) {
	for chosen := uint(1); chosen < 1<<blocks; chosen++ {
		if bits.OnesCount(chosen) != blocks-radius {
			continue
		}
		mask := uint64(0)
		for b := range blocks {
			if chosen>>b&1 != 0 {
				// The first block is at the front of the half.
				from, to := 32-32*b/blocks, 32-32*(b+1)/blocks
				mask |= 1<<from - 1<<to
			}
		}
		list = append(list, permute.Table{Mask: mask << (32 * (1 - half))})
	}
	return list
}

// siftedKey is what a word of a half knows of a fingerprint, from the top; zeros follow.
func siftedKey(x uint64, half int) uint64 {
	return bits.RotateLeft64(x, 32*(1-half)) << sieveRowBits
}

// newSieve makes the maps.
func (t *tables) newSieve(p plan) (*sieve, error) {
	s := new(sieve)
	for half := range s {
		var raw *memory.Buffer[uint64]
		marks, err := take[uint64](t, 1<<(p.bits-6))
		if err != nil {
			return nil, err
		}
		for _, q := range t.distinct {
			bit := uint32(q>>(32*(1-half))) >> (32 - p.bits)
			marks[bit>>6] |= 1 << (bit & 63)
		}
		for range p.groups[half].radius {
			if raw == nil {
				if raw, err = memory.Make[uint64](len(marks)); err != nil {
					return nil, err
				}
			}
			copy(raw.Data, marks)
			dilate(marks, raw.Data)
		}
		raw.Free()
		s[half] = marks
	}
	return s, nil
}

// dilate sets the bits of dst whose number differs in at most one bit from that of a bit of
// src. Both have the same number of words, 8 or a larger power of two. Eight words are made at a
// time: their numbers differ in the word, in the place among the eight, or before that.
func dilate(dst, src []uint64) {
	dst = dst[:len(src)]
	for i := 0; i+8 <= len(src); i += 8 {
		s := (*[8]uint64)(src[i:])
		y0 := dilateWord(s[0]) | s[1] | s[2] | s[4]
		y1 := dilateWord(s[1]) | s[0] | s[3] | s[5]
		y2 := dilateWord(s[2]) | s[3] | s[0] | s[6]
		y3 := dilateWord(s[3]) | s[2] | s[1] | s[7]
		y4 := dilateWord(s[4]) | s[5] | s[6] | s[0]
		y5 := dilateWord(s[5]) | s[4] | s[7] | s[1]
		y6 := dilateWord(s[6]) | s[7] | s[4] | s[2]
		y7 := dilateWord(s[7]) | s[6] | s[5] | s[3]
		for j := 8; j < len(src); j <<= 1 {
			o := (*[8]uint64)(src[i^j:])
			y0 |= o[0]
			y1 |= o[1]
			y2 |= o[2]
			y3 |= o[3]
			y4 |= o[4]
			y5 |= o[5]
			y6 |= o[6]
			y7 |= o[7]
		}
		*(*[8]uint64)(dst[i:]) = [8]uint64{y0, y1, y2, y3, y4, y5, y6, y7}
	}
}

// dilateWord is dilate in a word.
func dilateWord(x uint64) uint64 {
	y := x | x>>1&0x5555555555555555 | x&0x5555555555555555<<1
	y |= x>>2&0x3333333333333333 | x&0x3333333333333333<<2
	y |= x>>4&0x0f0f0f0f0f0f0f0f | x&0x0f0f0f0f0f0f0f0f<<4
	y |= x>>8&0x00ff00ff00ff00ff | x&0x00ff00ff00ff00ff<<8
	y |= x>>16&0x0000ffff0000ffff | x&0x0000ffff0000ffff<<16
	return y | bits.RotateLeft64(x, 32)
}

// pilesOf is log2 of the piles of a half for maps of 2^bits bits: more than 2^8 places where piles
// grow fit no near cache.
func pilesOf(bits int) int { return min(max(bits-pileMapBits, pilesLeast), 8) }

// halves returns how the partitions of a mapper's halves lie in memory.
func (p *plan) halves() halvesLayout {
	piles := pilesOf(p.bits)
	mean := math.Ldexp(float64(p.part), -piles)
	return halvesLayout{bits: piles, room: int(mean+8*math.Sqrt(mean)) + 2*asm.HalvesRoomMin, keep: 64 - sieveRowBits}
}
