package scan

import (
	"math"

	"ndd/asm"
	"ndd/permute"
)

// A workload is what a strategy is chosen for.
type workload struct {
	queries, k   int
	fingerprints uint64 // of F; 0: it is not known
	noPrefilter  bool   // which takes memory
	seed         uint64 // of the tables; answers do not depend on it
}

// A strategy says how queries are answered: by which tables in which layouts, behind a prefilter or
// not.
type strategy struct {
	mapBits int     // log2 of the bits of a prefilter's map; 0: there is no prefilter
	part    int     // fingerprints that are mapped together
	cost    float64 // ns for each fingerprint of F
	groups  []group // one for each half behind a prefilter, else one
}

// A group of tables finds what differs from a query in at most radius bits of the mask, and
// is only joined with fingerprints for which that may be: all of them where there is no prefilter.
type group struct {
	mask    uint64
	radius  int
	tables  []permute.Table
	layouts []layout // of each table
}

// chooseStrategy returns the strategy that should cost least for each fingerprint of F.
func chooseStrategy(w workload) strategy {
	best := strategy{cost: math.Inf(1)}
	for _, d := range permute.Catalogue(w.k, w.seed) {
		g := group{tables: d.Tables}
		if cost := g.chooseLayouts(w.queries, false); cost < best.cost {
			best = strategy{part: partPrints, cost: cost, groups: []group{g}}
		}
	}
	for mapBits := mapBitsMin; mapBits <= 32 && w.k > 0 && !w.noPrefilter; mapBits++ {
		if s := prefilterStrategy(w, mapBits); s.cost < best.cost {
			best = s
		}
	}
	return best
}

// chooseLayouts chooses the layouts of the group's tables, and returns their cost. A table of
// radius 0 has buckets by its leading bits; one of a larger radius has all queries in one bucket.
func (g *group) chooseLayouts(queries int, prefiltered bool) (cost float64) {
	for i, t := range g.tables {
		leading := min(t.Leading(), bucketBitsMax)
		if t.Radius > 0 {
			leading = 0
		}
		best := layout{cost: math.Inf(1)}
		for bucketBits := 0; bucketBits <= leading; bucketBits++ {
			if l := layoutOf(queries, bucketBits, prefiltered, i == 0); l.cost < best.cost {
				best = l
			}
		}
		g.layouts = append(g.layouts, best)
		cost += best.cost
	}
	return cost
}

// A layout says how one table is laid out for some number of queries.
type layout struct {
	bucketBits int     // log2 of the buckets
	dropBits   int     // low bits of a key that are not compared at first
	bytes      uint64  // of the table
	cost       float64 // ns for each fingerprint of F
}

// Measured costs of a fingerprint in one table, in ns, at 2 GHz with AVX-512 (BenchmarkLayout,
// least of five).
const (
	directCost   = 1.3  // joining it
	vectorCost   = 0.6  // and for each vector of 16 lanes
	distanceCost = 0.3  // and for each doubling of a table beyond 32 KiB
	farCost      = 0.25 // and of one beyond nearBytes
	lineCost     = 2.0  // for a cache line of a far table that is read in order
	longCost     = 25.0 // where a bucket is long
)

const (
	// nearBytes is most of a second-level cache.
	nearBytes = 3 << 19
	// bucketBitsMax keeps a table's buckets within some megabytes.
	bucketBitsMax = 22
)

// layoutOf returns the layout of 2^bucketBits buckets, with its cost if the queries are random.
// Behind a prefilter keys end in zeros, and come in order of the leading bits of the first table.
func layoutOf(queries, bucketBits int, prefiltered, first bool) layout {
	mean := math.Ldexp(float64(queries), -bucketBits)
	vectors := math.Ceil((mean + 2.7*math.Sqrt(mean)) / 16) // one in 300 has more
	l := layout{bucketBits: bucketBits, bytes: uint64(math.Ldexp(4+64*math.Ceil((mean+8)/16), bucketBits))}
	if prefiltered {
		l.dropBits = 32 - bucketBits
	}
	l.cost = directCost + vectorCost*vectors
	switch size := float64(l.bytes); {
	case size > nearBytes && prefiltered && first:
		l.cost += lineCost * math.Ldexp(size/64, -candidateBits)
	default:
		l.cost += distanceCost*max(0, math.Log2(size/(32<<10))) + farCost*max(0, math.Log2(size/nearBytes))
	}
	if vectors > asm.JoinLanesMax/asm.JoinVector {
		l.cost += longCost
	}
	return l
}
