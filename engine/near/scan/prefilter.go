package scan

import (
	"math"
	"math/bits"

	"ndd/asm"
	"ndd/engine/memory"
	"ndd/permute"
)

// A prefilter excludes fingerprints that cannot be near a query. Two that differ in at most k bits
// differ in at most (k-1)/2 of one half, or at most k-1-(k-1)/2 of the other. For each half there
// is a bit map with 2^mapBits bits; a bit is set if its number is within that distance of the
// leading bits of some query's half: of 1 M queries, k = 3, one bit in nine of 2^28.
//
//	fingerprint        | upper half | lower half |
//	                        |             |         scattered by their leading bits,
//	maps of 2^28 bits  [.1......]     [....1...]    so that a partition's part of the map is near
//	                        |             |
//	tables             2 of 16 bits   2 of 16 bits  only for candidates
//
// A candidate is a fingerprint of which a map lets one half pass. Nearly all are within radius of
// some query in that half, and tables whose leading bits are bits of the half find which.
type prefilter [2][]uint64

const (
	// mapBitsMin is log2 of the bits of the smallest map: one of which each partition has 64 cache
	// lines.
	mapBitsMin = 22
	// partitionMapBits is log2 of the bits of a partition's part of a map: an eighth of a
	// second-level cache of 2 MiB.
	partitionMapBits = 21
	// filteredPrints is how many fingerprints are scattered before they are filtered: each reads
	// its share of the maps from memory, 8 bytes of 2^28 bits.
	filteredPrints = 1 << halfRowBits
	// filteredPrintsMin is how many are mapped together at least.
	filteredPrintsMin = 1 << 16
	// halfRowBits of a half's word are for the row.
	halfRowBits = 23
	// candidateBits is log2 of how many candidates are joined together.
	candidateBits = 20
)

// What a prefilter was measured to take, in ns, at 2 GHz (BenchmarkMap; go run ./bench scan).
const (
	scatterHalvesCost = 4.4  // to scatter a fingerprint into two partitions
	filterCost        = 1.6  // for a word
	farMapCost        = 2.0  // for a word and each doubling of a partition's part of the map beyond 2^22 bits
	mapLineCost       = 12.0 // for a cache line of the map, for each part
	candidateCost     = 13.0 // for a candidate, besides the tables
	buildLineCost     = 100  // for a cache line of the map when it is built
	allocateCost      = 5    // for the memory of the partitions of a fingerprint
	// printsUnknown is how many fingerprints F is taken to have where that is not known.
	printsUnknown = 1 << 28
)

// radii returns how many bits of each half may differ.
func radii(k int) [2]int { return [2]int{(k - 1) / 2, k - 1 - (k-1)/2} }

// prefilterStrategy returns the strategy with maps of 2^mapBits bits.
func prefilterStrategy(w workload, mapBits int) strategy {
	lines := 2 * math.Ldexp(1, mapBits-9) // of both maps
	prints := uint64(printsUnknown)
	if w.fingerprints > 0 {
		prints = w.fingerprints
	}
	s := strategy{mapBits: mapBits,
		part: int(min(max(prints, filteredPrintsMin), filteredPrints))}
	far := max(0, float64(mapBits-halfPartitionBits(mapBits)-22))
	s.cost = scatterHalvesCost + 2*(filterCost+farMapCost*far) + mapLineCost*lines/float64(s.part) +
		(buildLineCost*lines+allocateCost*float64(s.part))/float64(prints)
	for half, radius := range radii(w.k) {
		set := 1 - math.Exp(-float64(w.queries)*math.Ldexp(float64(permute.Ball(mapBits, radius)), -mapBits))
		g, cost := halfGroup(w.queries, half, radius)
		s.groups = append(s.groups, g)
		s.cost += set * cost
	}
	return s
}

// halfGroup returns the group of tables for the candidates of a half that costs least, and what it
// costs each.
func halfGroup(queries, half, radius int) (best group, least float64) {
	least = math.Inf(1)
	for blocks := radius + 1; blocks <= radius+3; blocks++ {
		g := group{mask: 0xffffffff << (32 * (1 - half)), radius: radius, tables: halfTables(half, radius, blocks)}
		if cost := candidateCost + g.chooseLayouts(queries, true); cost < least {
			best, least = g, cost
		}
	}
	return best, least
}

// halfTables cuts a half into blocks and returns a table for every choice of all but radius of
// them, which lead.
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

// halfKey returns what a word of a half has of a fingerprint, from the top; zeros follow.
func halfKey(x uint64, half int) uint64 {
	return bits.RotateLeft64(x, 32*(1-half)) << halfRowBits
}

// halfPartitionBits returns log2 of the partitions of a half for maps of 2^mapBits bits: more than
// 2^8 places where partitions grow fit no near cache.
func halfPartitionBits(mapBits int) int {
	return min(max(mapBits-partitionMapBits, 6), 8)
}

// halves returns the partitions of a mapper's halves, without their memory. They are an odd number
// of cache lines apart: at multiples of a power of two, the lines where they grow would share few
// sets of the first-level cache.
func (s *strategy) halves() *asm.HalfPartitions {
	partitionBits := halfPartitionBits(s.mapBits)
	mean := math.Ldexp(float64(s.part), -partitionBits)
	room := int(mean+8*math.Sqrt(mean)) + 2*asm.HalvesRoomMin
	return asm.NewHalfPartitions(partitionBits, room&^7|8, 64-halfRowBits)
}

// newPrefilter builds the maps of the distinct queries.
func (t *tables) newPrefilter(s strategy) (_ *prefilter, err error) {
	p := new(prefilter)
	for half := range p {
		marks := memory.In[uint64](&t.memory, 1<<(s.mapBits-6), &err)
		if err != nil {
			return nil, err
		}
		for _, q := range t.distinct {
			bit := uint32(q>>(32*(1-half))) >> (32 - s.mapBits)
			marks[bit>>6] |= 1 << (bit & 63)
		}
		if err := dilateTimes(marks, s.groups[half].radius); err != nil {
			return nil, err
		}
		p[half] = marks
	}
	return p, nil
}

// dilateTimes sets the bits whose number differs in at most radius bits from that of a bit that is
// set.
func dilateTimes(marks []uint64, radius int) error {
	if radius == 0 {
		return nil
	}
	before, err := memory.Make[uint64](len(marks))
	if err != nil {
		return err
	}
	defer before.Free()
	for range radius {
		copy(before.Data, marks)
		dilate(marks, before.Data)
	}
	return nil
}

// dilate sets the bits of dst whose number differs in at most one bit from that of a bit of src.
// Both have the same number of words, 8 or a larger power of two. Eight words are computed at a
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

func dilateWord(x uint64) uint64 {
	y := x | x>>1&0x5555555555555555 | x&0x5555555555555555<<1
	y |= x>>2&0x3333333333333333 | x&0x3333333333333333<<2
	y |= x>>4&0x0f0f0f0f0f0f0f0f | x&0x0f0f0f0f0f0f0f0f<<4
	y |= x>>8&0x00ff00ff00ff00ff | x&0x00ff00ff00ff00ff<<8
	y |= x>>16&0x0000ffff0000ffff | x&0x0000ffff0000ffff<<16
	return y | bits.RotateLeft64(x, 32)
}
