package scan

import (
	"math"

	"ndd/asm"
	"ndd/permute"
)

// layout says how the table of a design's mask is laid out for some number of
// queries.
type layout struct {
	bits  int // log2 of the buckets
	piles int // log2 of the piles; 0: keys are joined as they come
	room  int // log2 of the words in a pile
	bytes uint64
	cost  float64 // ns for a fingerprint
}

// What a fingerprint was measured to take in one table, in ns, at 2 GHz with AVX-512
// (BenchmarkLayout): with all keys as they come, and with piles; and for each vector
// of 16 lanes more.
const (
	directCost = 1.3
	vectorCost = 0.6
	dealtCost  = 2.6
	dealtMore  = 0.9
	pileCost   = 0.9  // for each doubling of the least number of piles
	longCost   = 25.0 // where a bucket is long
	lineCost   = 2.0  // for a line from the outer cache
)

const (
	// nearBytes of a table are joined without piles: most of a second-level cache.
	nearBytes = 3 << 19
	// pilesLeast is log2 of the number of piles: of 64, the places where they grow
	// stay in the first-level cache, and a part of 1 MiB of a table in the second.
	pilesLeast = 6
	// roomBits is log2 of the words of all piles: 16 MiB.
	roomBits = 21
	// rowBits are the bits that a word must have for its row in a part.
	rowBits = roomBits
	// bucketBitsMax keeps a table's buckets within some megabytes.
	bucketBitsMax = 22
)

// choose takes the design that should cost least for each fingerprint that passes
// by. Designs qualify whose tables have radius 0; so does one table that has all
// queries in one bucket.
func choose(queries, k int) (best permute.Design, layouts []layout) {
	least := math.Inf(1)
	for _, d := range permute.Catalogue(k, 1) {
		var list []layout
		cost := 0.0
		for _, t := range d.Tables {
			l := layoutFor(queries, t)
			list = append(list, l)
			cost += l.cost
		}
		if cost < least {
			best, layouts, least = d, list, cost
		}
	}
	return best, layouts
}

// layoutFor finds the number of buckets that costs least.
func layoutFor(queries int, t permute.Table) (best layout) {
	leading := min(t.Leading(), bucketBitsMax)
	if t.Radius > 0 {
		leading = 0
	}
	best.cost = math.Inf(1)
	for bits := 0; bits <= leading; bits++ {
		if l := layoutOf(queries, bits); l.cost < best.cost {
			best = l
		}
	}
	return best
}

// layoutOf is the layout of 2^bits buckets, and its cost, if the queries are
// random.
func layoutOf(queries, bits int) layout {
	mean := math.Ldexp(float64(queries), -bits)
	vectors := math.Ceil((mean + 2.7*math.Sqrt(mean)) / 16) // one in 300 has more
	l := layout{bits: bits}
	l.bytes = uint64(math.Ldexp(4+64*math.Ceil((mean+8)/16), bits))
	l.cost = directCost + vectorCost*vectors
	if l.bytes > nearBytes {
		l.piles = max(pilesLeast, bits+32+rowBits-64)
		l.room = roomBits - l.piles
		lines := math.Ldexp(float64(l.bytes)/64, -roomBits) // a word
		l.cost = dealtCost + dealtMore*vectors + pileCost*float64(l.piles-pilesLeast) + lineCost*lines
	}
	if vectors > asm.JoinLanes/16 {
		l.cost += longCost
	}
	return l
}

// keep is how many bits of a key the words of piles keep.
func (l *layout) keep() int { return 32 + l.bits - l.piles }

// words is how many words the piles need.
func (l *layout) words() int {
	if l.piles == 0 {
		return 0
	}
	return 1 << (l.piles + l.room)
}

// compared is the bits of a key that are compared at first: those that follow the
// bucket's, or the low ones where there are no piles.
func (l *layout) compared(key uint64) uint32 {
	if l.piles == 0 {
		return uint32(key)
	}
	return uint32(key >> (32 - l.bits))
}
