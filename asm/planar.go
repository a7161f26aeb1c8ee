package asm

import (
	"fmt"
	"math/bits"
)

// PlanarTable is what a probe reads of a planar table (package engine/index/table has its
// format): where buckets begin, and the low 16 bits of every key. No kernel changes it.
//
//	bucket b  = the top BucketBits bits of a key
//	line l    = b/PerLine: its buckets share a line of Lines, words 8l to 8l+7
//	extent(b)    = Low[start(b):start(b+1)]
//
//	line    | base | wide | 0 | 110 0 10 0 0 1110 ...  0 0 0 |
//	bits      40     1     23   448
//
// base is the rank of the line's first key, in the lowest bits of word 0. Words 1
// to 7 hold a 1 for each key and a 0 behind the last key of each bucket, lowest
// bit first: with e the place of zero number j, bucket j of the line ends at rank
// base + e - j and has as many keys as there are ones right before e. A line whose
// keys and buckets are more than 448 is wide: the caller has its buckets' starts
// elsewhere. A line behind the last has the number of keys for its base.
type PlanarTable struct {
	Lines      []uint64 // 8 words for each PerLine of 1<<BucketBits buckets, and 8 more
	Low        []uint16 // Keys + PlanarPad or more
	Keys       uint64   // at most PlanarKeysMax
	BucketBits uint     // 1 to PlanarBucketBitsMax
	PerLine    uint64   // buckets a line, 2 to PlanarLineBits
	Inverse    uint64   // PlanarInverse(PerLine)
}

const (
	// PlanarWide, in the first word of a line, marks one whose buckets begin
	// elsewhere.
	PlanarWide = 1 << 40
	// PlanarKeysMax is the largest base.
	PlanarKeysMax = 1<<40 - 1
	// PlanarBucketBitsMax is the most bits of a bucket: up to 2^55 the quotient by
	// the inverse is exact.
	PlanarBucketBitsMax = 48
	// PlanarLineBits is how many keys and buckets a line holds together.
	PlanarLineBits = 448
	// PlanarBucketMax is the most keys of a bucket that PlanarLocate takes: their ones
	// are looked for in eight bytes that may have seven bits behind them.
	PlanarBucketMax = 55
	// PlanarPad is how many elements of Low stand behind the last key, so that a
	// kernel may load a whole register at any of them.
	PlanarPad = 32
	// PlanarLongest is the longest extent that PlanarScan takes.
	PlanarLongest = 1024
)

// PlanarInverse returns the number by which the kernels divide by perLine, 2 or more: b*inverse>>64 is b/perLine for
// every bucket b.
func PlanarInverse(perLine uint64) uint64 { return ^uint64(0)/perLine + 1 }

// A PlanarProbe looks in one bucket for keys near Key: the query with a pattern of flips
// applied to its leading bits.
type PlanarProbe struct {
	Key   uint64
	Limit uint16 // a key whose low 16 bits differ in at most this many is a hit; 0 to 64
	Table uint16 // these two are the caller's; not looked at
	Query uint32
}

// A PlanarExtent is the part of Low that a probe reads.
type PlanarExtent struct {
	Start uint64
	Len   uint32
	Probe uint32 // index of the probe
}

// A PlanarHit is an element of Low that a probe asked for.
type PlanarHit struct {
	Pos   uint64 // its index in Low: the key's rank
	Probe uint64 // index of the probe
}

// checkLines panics when there are fewer lines than a kernel may read: a programmer's error. The last line that it
// reads is the one that the last bucket's multiplication gives, and Lines has one more.
func (p *PlanarTable) checkLines() {
	last, _ := bits.Mul64(1<<p.BucketBits-1, p.Inverse)
	if uint64(len(p.Lines)) < 8*(last+2) || p.BucketBits-1 >= PlanarBucketBitsMax || p.PerLine-2 > PlanarLineBits-2 {
		p.panic()
	}
}

// checkLow panics when Low has not the keys and the padding behind them: a programmer's error.
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

// PlanarLocate writes to extents the extent of each of the probes from first on whose bucket
// is not empty, with the probe's index. It stops before a
// probe whose line is wide or damaged, or whose bucket has more than PlanarBucketMax
// keys. It returns how many extents it wrote and how many probes it has done. extents must
// be as long as probes[first:].
//
// Meanwhile it prefetches the lines of other probes, which the next call will locate in the table next, one for each
// that is located: ahead is empty, or at least as long as probes[first:]. Where PlanarLocate stops, one more may have
// been prefetched.
//
// A probe takes 20 cycles and one line of Lines. Prefetching the lines of the probes ahead takes 17
// ns a probe, n = 1e8, where [PlanarPrefetchLines] and waiting for them takes 23.
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

// PlanarPrefetchExtents prefetches what PlanarScan will read for the extents.
func PlanarPrefetchExtents(p *PlanarTable, extents []PlanarExtent) {
	p.checkLow()
	if len(extents) > 0 {
		planarPrefetchExtents(p, extents)
	}
}

// PlanarScan finds the elements of the extents that differ from their probe's low 16 bits
// in at most its limit, in the order of extents and positions. It returns how many
// hits it wrote and how many extents are done; done < len(extents) means that dst might
// have no room for what the next extent holds. As long as dst has room for
// PlanarLongest hits, every call makes progress. An extent that is longer than
// PlanarLongest, not within the keys or of no probe is a programmer's error and
// panics.
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

// annotate tells the race detector of the extents that a scan may read.
func (p *PlanarTable) annotate(extents []PlanarExtent) {
	for _, r := range extents {
		if r.Start <= p.Keys && uint64(r.Len) <= p.Keys-r.Start {
			raceRead(p.Low[r.Start:][:r.Len])
		}
	}
}

// planarCall is how many extents one call into assembly takes: at most 128 KiB.
const planarCall = 64
