package scan

import (
	"math"
	"math/bits"

	"example.org/ndd/asm"
	"example.org/ndd/engine/memory"
	"example.org/ndd/permute"
)

// A prefilter excludes fingerprints that cannot be near a query. Two fingerprints within k bits differ in at most
// (k-1)/2 bits of the upper half, or in at most k-1-(k-1)/2 bits of the lower half. Each half has a bitmap of
// 2^mapBits bits. A bit is set if its number is within that distance of the leading bits of a query's half. For
// 1 M queries and k = 3, one bit in nine of 2^28 is set.
//
//	fingerprint        | upper half | lower half |
//	                        |             |         scattered by their leading bits,
//	maps of 2^28 bits  [.1......]     [....1...]    so that a partition's part of the map is near
//	                        |             |
//	tables             2 of 16 bits   2 of 16 bits  only for candidates
//
// A candidate is a fingerprint with a half whose bit is set. Nearly all candidates are within the radius of a query in
// that half. Tables whose leading bits are bits of the half find the query.
type prefilter [2][]uint64

const (
	// mapBitsMin is log2 of the bits of the smallest map, where each partition has 64 cache lines.
	mapBitsMin = 22
	// partitionMapBits is log2 of the bits of a partition's part of a map: an eighth of a second-level cache of 2 MiB.
	partitionMapBits = 21
	// filteredPrints is the number of fingerprints that are scattered before they are filtered. Filtering them reads
	// both maps from memory: 8 bytes a fingerprint for maps of 2^28 bits.
	filteredPrints = 1 << halfRowBits
	// filteredPrintsMin is the minimum number of fingerprints that are mapped together.
	filteredPrintsMin = 1 << 16
	// halfRowBits is the number of bits for the row in the word of a half.
	halfRowBits = 23
	// candidateBits is log2 of the number of candidates that are joined together.
	candidateBits = 20
)

// Measured costs of a prefilter, in ns, at 2 GHz (BenchmarkMap; go run ./bench scan).
const (
	scatterHalvesCost = 4.4  // scatter a fingerprint into two partitions
	filterCost        = 1.6  // filter a word
	farMapCost        = 2.0  // additional cost of a word for each doubling of a partition's part of the map above 2^22 bits
	mapLineCost       = 12.0 // read a cache line of the map, once for each part of F
	candidateCost     = 13.0 // a candidate, without its tables
	buildLineCost     = 100  // build a cache line of the map
	allocateCost      = 5    // allocate the partitions, a fingerprint
	// printsUnknown is the assumed number of fingerprints of F if it is unknown.
	printsUnknown = 1 << 28
)

// radii returns the maximum number of different bits in each half.
func radii(k int) [2]int { return [2]int{(k - 1) / 2, k - 1 - (k-1)/2} }

// prefilterStrategy returns the strategy with maps of 2^mapBits bits.
func prefilterStrategy(w workload, mapBits int) strategy {
	lines := 2 * math.Ldexp(1, mapBits-9) // cache lines of both maps
	fingerprints := uint64(printsUnknown)
	if w.fingerprints > 0 {
		fingerprints = w.fingerprints
	}
	s := strategy{mapBits: mapBits,
		part: int(min(max(fingerprints, filteredPrintsMin), filteredPrints))}
	far := max(0, float64(mapBits-halfPartitionBits(mapBits)-22))
	s.cost = scatterHalvesCost + 2*(filterCost+farMapCost*far) + mapLineCost*lines/float64(s.part) +
		(buildLineCost*lines+allocateCost*float64(s.part))/float64(fingerprints)
	for half, radius := range radii(w.k) {
		set := 1 - math.Exp(-float64(w.queries)*math.Ldexp(float64(permute.Ball(mapBits, radius)), -mapBits))
		g, cost := halfGroup(w.queries, half, radius)
		s.groups = append(s.groups, g)
		s.cost += set * cost
	}
	return s
}

// halfGroup returns the cheapest group of tables for the candidates of a half, and its cost for each of them.
func halfGroup(queries, half, radius int) (best group, lowestCost float64) {
	lowestCost = math.Inf(1)
	for blocks := radius + 1; blocks <= radius+3; blocks++ {
		g := group{mask: 0xffffffff << (32 * (1 - half)), radius: radius, tables: halfTables(half, radius, blocks)}
		if cost := candidateCost + g.chooseLayouts(queries, true); cost < lowestCost {
			best, lowestCost = g, cost
		}
	}
	return best, lowestCost
}

// halfTables divides a half into blocks. It returns a table for every choice of radius blocks: the other blocks are its
// leading bits.
func halfTables(half, radius, blocks int) (list []permute.Table) {
	for chosen := uint(1); chosen < 1<<blocks; chosen++ {
		if bits.OnesCount(chosen) != blocks-radius {
			continue
		}
		mask := uint64(0)
		for b := range blocks {
			if chosen>>b&1 != 0 {
				// Block 0 has the highest bits of the half.
				from, to := 32-32*b/blocks, 32-32*(b+1)/blocks
				mask |= 1<<from - 1<<to
			}
		}
		list = append(list, permute.Table{Mask: mask << (32 * (1 - half))})
	}
	return list
}

// halfKey returns the leading bits of a half of a fingerprint, as many as the word of a half holds, followed by zeros.
func halfKey(x uint64, half int) uint64 {
	return bits.RotateLeft64(x, 32*(1-half)) << halfRowBits
}

// halfPartitionBits returns log2 of the number of partitions of a half for maps of 2^mapBits bits. The write positions
// of more than 2^8 partitions would not fit in the first-level cache.
func halfPartitionBits(mapBits int) int {
	return min(max(mapBits-partitionMapBits, 6), 8)
}

// halves returns the partitions of both halves, without their memory. Their starts are an odd number of cache lines
// apart: at multiples of a power of two, the lines that are written would share few sets of the first-level cache.
func (s *strategy) halves() *asm.HalfPartitions {
	partitionBits := halfPartitionBits(s.mapBits)
	mean := math.Ldexp(float64(s.part), -partitionBits)
	room := int(mean+8*math.Sqrt(mean)) + 2*asm.HalvesRoomMin
	return asm.NewHalfPartitions(partitionBits, room&^7|8, 64-halfRowBits)
}

// newPrefilter builds the maps for the distinct queries.
func (t *tables) newPrefilter(s strategy) (_ *prefilter, err error) {
	p := new(prefilter)
	for half := range p {
		marks := memory.Alloc[uint64](&t.memory, 1<<(s.mapBits-6), &err)
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

// dilateTimes sets every bit whose number differs in at most radius bits from the number of a set bit.
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

// dilate sets every bit of dst whose number differs in at most one bit from the number of a set bit of src. Both
// slices have the same number of words, 8 or a larger power of two. Eight words are computed at a time. The differing
// bit of the number selects another bit of the word, another of the eight words, or another group of eight.
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
