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
	drop  int // low bits of a key that are not looked at

	vectors float64 // of 16 lanes that a fingerprint is compared with
	bytes   uint64
	cost    float64 // ns for a fingerprint
}

// What a fingerprint was measured to take in one table, in ns, at 2 GHz with AVX-512
// (BenchmarkLayout, least of five): with all keys as they come, and with piles; and for each vector
// of 16 lanes more.
const (
	directCost = 1.3
	vectorCost = 0.6
	nearCost   = 0.3 // for each doubling of a table beyond 32 KiB
	dealtCost  = 3.3
	dealtMore  = 1.1
	pilesCost  = 3.0  // for more than the least number of piles
	pileCost   = 2.0  // and for each doubling of it
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

// A plan is how queries are answered.
type plan struct {
	name   string  // of the design
	bits   int     // log2 of the bits of a sieve's map; 0: there is no sieve
	part   int     // fingerprints that are mapped together
	cost   float64 // ns for a fingerprint
	groups []group
}

// A group of tables finds what differs from a query in at most radius bits of the mask, and
// is only asked for fingerprints for which that may be: all of them where there is no sieve.
type group struct {
	mask    uint64
	radius  int
	tables  []permute.Table
	layouts []layout
}

// A job is what a plan is for.
type job struct {
	queries, k int
	prints     uint64 // of F, 0 where it is not known
	plain      bool   // without a sieve, which takes more memory
}

// choose takes the plan that should cost least for each fingerprint that passes by.
func choose(w job) plan {
	best := plan{cost: math.Inf(1)}
	for _, d := range permute.Catalogue(w.k, 1) {
		g := group{tables: d.Tables}
		if cost := g.lay(w.queries, false); cost < best.cost {
			best = plan{name: d.Name, part: partPrints, cost: cost, groups: []group{g}}
		}
	}
	for bits := sieveBitsLeast; bits <= 32 && w.k > 0 && !w.plain; bits++ {
		if p := sieved(w, bits); p.cost < best.cost {
			best = p
		}
	}
	return best
}

// lay chooses the layouts of the group's tables, and returns what they cost. Tables qualify that
// have radius 0; so does one that has all queries in one bucket.
func (g *group) lay(queries int, sieved bool) (cost float64) {
	for i, t := range g.tables {
		l := layoutFor(queries, t, sieved, i == 0)
		g.layouts = append(g.layouts, l)
		cost += l.cost
	}
	return cost
}

// layoutFor finds the number of buckets that costs least. first is that the table is the first of
// a sieve's group.
func layoutFor(queries int, t permute.Table, sieved, first bool) (best layout) {
	leading := min(t.Leading(), bucketBitsMax)
	if t.Radius > 0 {
		leading = 0
	}
	best.cost = math.Inf(1)
	for bits := 0; bits <= leading; bits++ {
		l := layoutOf(queries, bits)
		if sieved {
			l.sift(first)
		}
		if l.cost < best.cost {
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
	l := layout{bits: bits, vectors: vectors}
	l.bytes = uint64(math.Ldexp(4+64*math.Ceil((mean+8)/16), bits))
	l.cost = directCost + vectorCost*vectors + nearCost*max(0, math.Log2(float64(l.bytes)/(32<<10)))
	if l.bytes > nearBytes {
		l.piles = max(pilesLeast, bits+32+rowBits-64)
		l.room = roomBits - l.piles
		l.drop = 32 - bits
		lines := math.Ldexp(float64(l.bytes)/64, -roomBits) // a word
		l.cost = dealtCost + dealtMore*vectors + lineCost*lines
		if l.piles > pilesLeast {
			l.cost += pilesCost + pileCost*float64(l.piles-pilesLeast)
		}
	}
	if vectors > asm.JoinLanesMax/asm.JoinVector {
		l.cost += longCost
	}
	return l
}

// sift makes it the layout of a table for what a sieve leaves: keys that end in zeros. They come
// in order of the leading bits of the first table, which needs no piles.
func (l *layout) sift(first bool) {
	l.drop = 32 - l.bits
	if first && l.piles > 0 {
		l.cost = directCost + dealtMore*l.vectors + lineCost*math.Ldexp(float64(l.bytes)/64, -siftedBits)
		l.piles, l.room = 0, 0
	}
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
// bucket's, or the low ones of a whole key where there are no piles.
func (l *layout) compared(key uint64) uint32 { return uint32(key >> l.drop) }
