package scan

import (
	"math"

	"example.org/ndd/asm"
	"example.org/ndd/permute"
)

// A workload has the numbers that determine a strategy.
type workload struct {
	queries, k   int
	fingerprints uint64 // number of fingerprints of F; 0: unknown
	noPrefilter  bool   // no prefilter, to save memory
	seed         uint64 // seed of the tables' masks; answers do not depend on it
}

// A strategy has the tables that answer queries, their layouts, and whether a prefilter precedes them.
type strategy struct {
	mapBits int     // log2 of the bits of a prefilter's map; 0: there is no prefilter
	part    int     // fingerprints that are mapped together
	cost    float64 // ns a fingerprint of F
	groups  []group // two groups with a prefilter, one for each half; otherwise one
}

// A group of tables finds the fingerprints that differ from a query in at most radius bits of the mask. With a
// prefilter, it is joined only with fingerprints that pass the prefilter.
type group struct {
	mask    uint64
	radius  int
	tables  []permute.Table
	layouts []layout // layout of each table
}

// chooseStrategy returns the strategy with the lowest estimated cost.
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

// chooseLayouts chooses the layouts of the group's tables, and returns their cost. A table of radius 0 has buckets
// by its leading bits. A table of a larger radius has one bucket with all queries.
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

// A layout is the arrangement of one table in memory.
type layout struct {
	bucketBits int     // log2 of the number of buckets
	dropBits   int     // low bits of a key that the first comparison ignores
	bytes      uint64  // size of the table
	cost       float64 // ns a fingerprint of F
}

// Measured costs of joining a fingerprint with one table, in ns, at 2 GHz with AVX-512 (BenchmarkLayout, minimum of
// five runs).
const (
	directCost   = 1.3  // each fingerprint
	vectorCost   = 0.6  // each vector of 16 lanes
	distanceCost = 0.3  // each doubling of the table's size above 32 KiB
	farCost      = 0.25 // each doubling above nearBytes
	lineCost     = 2.0  // each cache line of a larger table, if lines are read in order
	longCost     = 25.0 // each fingerprint, if buckets are long
)

const (
	// nearBytes is three quarters of a second-level cache of 2 MiB.
	nearBytes = 3 << 19
	// bucketBitsMax limits the buckets of a table to some megabytes.
	bucketBitsMax = 22
)

// layoutOf returns the layout with 2^bucketBits buckets, and its cost for random queries. After a prefilter, keys end
// in zeros, and arrive in order of the leading bits of the first table.
func layoutOf(queries, bucketBits int, prefiltered, first bool) layout {
	mean := math.Ldexp(float64(queries), -bucketBits)
	vectors := math.Ceil((mean + 2.7*math.Sqrt(mean)) / 16) // one bucket in 300 has more
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
