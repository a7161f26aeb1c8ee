package asm

import (
	"fmt"
	"math/bits"
)

// A PlanarTable is the part of a planar table that a probe reads: the starts of buckets, and the low 16 bits of every
// key. Package engine/index/table describes the format. No kernel changes it.
//
//	bucket b  = the top BucketBits bits of a key
//	line l    = b/PerLine: its buckets share a line of Lines, words 8l to 8l+7
//	extent(b)    = Low[start(b):start(b+1)]
//
//	line    | base | wide | 0 | 110 0 10 0 0 1110 ...  0 0 0 |
//	bits      40     1     23   448
//
// base is the rank of the line's first key, in the lowest bits of word 0. Words 1 to 7 have a 1 for each key and a 0
// after the last key of each bucket, lowest bit first. Let e be the position of zero number j. Then bucket j of the
// line ends at rank base + e - j, and its number of keys is the number of consecutive ones before e. A line whose
// keys and buckets are more than 448 is wide: the caller has the starts of its buckets. The sentinel line after the
// last one has the number of keys as its base.
type PlanarTable struct {
	Lines      []uint64 // 8 words for each PerLine of 1<<BucketBits buckets, and 8 more for the sentinel
	Low        []uint16 // at least Keys + PlanarPad elements
	Keys       uint64   // at most PlanarKeysMax
	BucketBits uint     // 1 to PlanarBucketBitsMax
	PerLine    uint64   // buckets per line, 2 to PlanarLineBits
	Inverse    uint64   // PlanarInverse(PerLine)
}

const (
	// PlanarWide, in the first word of a line, marks a line without the starts of its buckets.
	PlanarWide = 1 << 40
	// PlanarKeysMax is the maximum base.
	PlanarKeysMax = 1<<40 - 1
	// PlanarBucketBitsMax is the maximum number of bucket bits: up to 2^55 the quotient by the inverse is exact.
	PlanarBucketBitsMax = 48
	// PlanarLineBits is the maximum number of keys and buckets of a line.
	PlanarLineBits = 448
	// PlanarBucketMax is the maximum number of keys of a bucket for PlanarLocate. It searches the ones of the
	// keys in eight bytes, in which up to seven other bits may follow them.
	PlanarBucketMax = 55
	// PlanarPad is the number of padding elements at the end of Low. With them a kernel may load a whole register at
	// any key.
	PlanarPad = 32
	// PlanarLongest is the maximum length of an extent for PlanarScan.
	PlanarLongest = 1024
)

// PlanarInverse returns the factor by which the kernels divide by perLine, which is at least 2: b*inverse>>64 is
// b/perLine for every bucket b.
func PlanarInverse(perLine uint64) uint64 { return ^uint64(0)/perLine + 1 }

// A PlanarProbe searches one bucket for keys near Key. Key is the query with a pattern of flips applied to its
// leading bits.
type PlanarProbe struct {
	Key   uint64
	Limit uint16 // maximum number of different bits among the low 16 bits of a hit; 0 to 64
	Table uint16 // Table and Query are data of the caller
	Query uint32
}

// A PlanarExtent is the part of Low that a probe reads.
type PlanarExtent struct {
	Start uint64
	Len   uint32
	Probe uint32 // index of the probe
}

// A PlanarHit is an element of Low that matches a probe.
type PlanarHit struct {
	Pos   uint64 // index in Low, which is the rank of the key
	Probe uint64 // index of the probe
}

// checkLines panics if Lines is shorter than the kernels need. The last line that they read is the line of the last
// bucket, and Lines has one more.
func (p *PlanarTable) checkLines() {
	last, _ := bits.Mul64(1<<p.BucketBits-1, p.Inverse)
	if uint64(len(p.Lines)) < 8*(last+2) || p.BucketBits-1 >= PlanarBucketBitsMax || p.PerLine-2 > PlanarLineBits-2 {
		p.panic()
	}
}

// checkLow panics if Low is too short for the keys and the padding.
func (p *PlanarTable) checkLow() {
	if uint64(len(p.Low)) < PlanarPad || p.Keys > uint64(len(p.Low))-PlanarPad {
		p.panic()
	}
}

func (p *PlanarTable) panic() {
	panic(fmt.Sprintf("asm: planar table of %d keys, %d bucket bits, %d buckets a line, %d words of lines, %d low words",
		p.Keys, p.BucketBits, p.PerLine, len(p.Lines), len(p.Low)))
}

// PlanarPrefetchLines prefetches the lines that PlanarLocate will read for the probes.
func PlanarPrefetchLines(p *PlanarTable, probes []PlanarProbe) {
	p.checkLines()
	if len(probes) > 0 {
		planarPrefetchLines(p, probes)
	}
}

// PlanarLocate writes the extents of the probes from first on to extents, with the index of the probe. It skips empty
// buckets. It stops before a probe whose line is wide or damaged, or whose bucket has more than PlanarBucketMax keys.
// It returns the numbers of extents and of completed probes. extents must have the length of probes[first:].
//
// Meanwhile it prefetches one line per probe for the next call, which locates the probes ahead in the table next.
// ahead is empty, or at least as long as probes[first:]. When PlanarLocate stops, it may have prefetched one more
// line.
//
// A probe takes 20 cycles and one line of Lines. With n = 1e8, prefetching the lines of the probes ahead takes 17 ns
// per probe. [PlanarPrefetchLines] and waiting for the lines takes 23.
func PlanarLocate(p *PlanarTable, extents []PlanarExtent, probes []PlanarProbe, first int, next *PlanarTable,
	ahead []PlanarProbe) (found, done int) {
	p.checkLines()
	n := len(probes) - first
	if n <= 0 {
		return 0, 0
	}
	if len(ahead) > 0 {
		next.checkLines()
		ahead = ahead[:n]
	}
	extents = extents[:n]
	raceRead(probes)
	raceWrite(extents)
	if raceEnabled {
		for _, probe := range probes[first:] {
			raceRead(p.Lines[8*(probe.Key>>(64-p.BucketBits)/p.PerLine):][:8])
		}
	}
	return planarLocate(p, extents, probes[first:], uint64(first), next, ahead)
}

// PlanarPrefetchExtents prefetches the elements that PlanarScan will read for the extents.
func PlanarPrefetchExtents(p *PlanarTable, extents []PlanarExtent) {
	p.checkLow()
	if len(extents) > 0 {
		planarPrefetchExtents(p, extents)
	}
}

// PlanarScan finds the elements of the extents that differ from their probe's low 16 bits in at most its limit. Hits
// are in order of extents and positions. It returns the numbers of hits and of completed extents. If done <
// len(extents), dst may not have space for the hits of the next extent. If dst has space for PlanarLongest hits, every
// call makes progress. PlanarScan panics if an extent is longer than PlanarLongest, is not within the keys, or has no
// probe.
//
// With AVX-512 an extent of up to 32 elements takes five cycles.
func PlanarScan(p *PlanarTable, dst []PlanarHit, extents []PlanarExtent, probes []PlanarProbe) (hits, done int) {
	p.checkLow()
	raceRead(probes)
	raceRead(extents)
	raceWrite(dst)
	if raceEnabled {
		p.annotate(extents)
	}
	for done < len(extents) {
		n := min(len(extents)-done, planarCall)
		found, ready := planarScan(p, dst[hits:], extents[done:done+n], probes)
		hits += found
		done += ready
		if ready == n {
			continue
		}
		if r := extents[done]; r.Len > PlanarLongest || r.Start > p.Keys || uint64(r.Len) > p.Keys-r.Start ||
			uint64(r.Probe) >= uint64(len(probes)) {
			panic(fmt.Sprintf("asm: extent of %d elements from %d of %d keys, of probe %d of %d", r.Len, r.Start, p.Keys,
				r.Probe, len(probes)))
		}
		break
	}
	return hits, done
}

// annotate annotates the extents of a scan for the race detector.
func (p *PlanarTable) annotate(extents []PlanarExtent) {
	for _, r := range extents {
		if r.Start <= p.Keys && uint64(r.Len) <= p.Keys-r.Start {
			raceRead(p.Low[r.Start:][:r.Len])
		}
	}
}

// planarCall is the maximum number of extents per call of assembly: at most 128 KiB.
const planarCall = 64
