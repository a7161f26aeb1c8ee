package scan

import (
	"math"

	"ndd/asm"
	"ndd/permute"
)

// A layout says how the table of a design's mask is laid out for some number of
// queries, and what it is estimated to cost.
type layout struct {
	bucketBits    int // log2 of the buckets
	partitionBits int // log2 of the partitions; 0: keys are joined as they come
	roomBits      int // log2 of the words that a partition has room for
	dropBits      int // low bits of a key that are not compared

	vectors float64 // of 16 lanes that a fingerprint is compared with
	bytes   uint64  // of the table
	cost    float64 // ns for each fingerprint of F
}

// What a fingerprint was measured to take in one table, in ns, at 2 GHz with AVX-512
// (BenchmarkLayout, least of five).
const (
	directCost        = 1.3  // to join it as it comes
	directVectorCost  = 0.6  // and for each vector of 16 lanes
	distanceCost      = 0.3  // and for each doubling of a table beyond 32 KiB
	scatterCost       = 3.3  // to scatter it into partitions and join it there
	scatterVectorCost = 1.1  // and for each vector of 16 lanes
	partitionsCost    = 3.0  // and where there are more than the fewest partitions
	partitionCost     = 2.0  // and for each doubling of them
	lineCost          = 2.0  // and for a cache line of the table from the outer cache
	longCost          = 25.0 // where a bucket is long
)

const (
	// directBytesMax is the largest table that is joined without partitions: most of a second-level cache.
	directBytesMax = 3 << 19
	// partitionBitsMin is log2 of the fewest partitions: of 64, the places where they grow
	// stay in the first-level cache, and a part of 1 MiB of a table in the second.
	partitionBitsMin = 6
	// scatterBits is log2 of the words of all partitions: 16 MiB.
	scatterBits = 21
	// rowBits are the bits that a word must have for its row in a part.
	rowBits = scatterBits
	// bucketBitsMax keeps a table's buckets within some megabytes.
	bucketBitsMax = 22
)

// bestLayout returns the layout with the number of buckets that costs least. prefiltered says that the table is for
// what a prefilter lets pass, and first that it is the first of its group.
func bestLayout(queries int, t permute.Table, prefiltered, first bool) (best layout) {
	leading := min(t.Leading(), bucketBitsMax)
	if t.Radius > 0 {
		leading = 0
	}
	best.cost = math.Inf(1)
	for bucketBits := 0; bucketBits <= leading; bucketBits++ {
		l := layoutOf(queries, bucketBits)
		if prefiltered {
			l.prefilter(first)
		}
		if l.cost < best.cost {
			best = l
		}
	}
	return best
}

// layoutOf returns the layout of 2^bucketBits buckets, with its cost if the queries are
// random.
func layoutOf(queries, bucketBits int) layout {
	mean := math.Ldexp(float64(queries), -bucketBits)
	vectors := math.Ceil((mean + 2.7*math.Sqrt(mean)) / 16) // one in 300 has more
	l := layout{bucketBits: bucketBits, vectors: vectors}
	l.bytes = uint64(math.Ldexp(4+64*math.Ceil((mean+8)/16), bucketBits))
	l.cost = directCost + directVectorCost*vectors + distanceCost*max(0, math.Log2(float64(l.bytes)/(32<<10)))
	if l.bytes > directBytesMax {
		l.partition()
	}
	if vectors > asm.JoinLanesMax/asm.JoinVector {
		l.cost += longCost
	}
	return l
}

// partition makes it a layout whose keys are scattered into partitions before they are joined.
func (l *layout) partition() {
	l.partitionBits = max(partitionBitsMin, l.bucketBits+32+rowBits-64)
	l.roomBits = scatterBits - l.partitionBits
	l.dropBits = 32 - l.bucketBits
	l.cost = scatterCost + scatterVectorCost*l.vectors + lineCost*l.linesPerWord(scatterBits)
	if l.partitionBits > partitionBitsMin {
		l.cost += partitionsCost + partitionCost*float64(l.partitionBits-partitionBitsMin)
	}
}

// linesPerWord returns how many cache lines the table has for each of 2^wordBits words.
func (l *layout) linesPerWord(wordBits int) float64 {
	return math.Ldexp(float64(l.bytes)/64, -wordBits)
}

// prefilter makes it the layout of a table for what a prefilter lets pass: keys that end in zeros. They come
// in order of the leading bits of the first table, which needs no partitions.
func (l *layout) prefilter(first bool) {
	l.dropBits = 32 - l.bucketBits
	if first && l.partitionBits > 0 {
		l.cost = directCost + scatterVectorCost*l.vectors + lineCost*l.linesPerWord(candidateBits)
		l.partitionBits, l.roomBits = 0, 0
	}
}

// keptBits returns how many bits of a key the words of partitions keep.
func (l *layout) keptBits() int { return 32 + l.bucketBits - l.partitionBits }

// partitionWords returns how many words all partitions need.
func (l *layout) partitionWords() int {
	if l.partitionBits == 0 {
		return 0
	}
	return 1 << (l.partitionBits + l.roomBits)
}

// compared returns the bits of a key that are compared at first: those that follow the
// bucket's, or the low ones of a whole key where there are no partitions.
func (l *layout) compared(key uint64) uint32 { return uint32(key >> l.dropBits) }
