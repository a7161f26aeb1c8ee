package scan

import (
	"math"

	"ndd/permute"
)

// A workload is what a strategy is chosen for.
type workload struct {
	queries, k   int
	fingerprints uint64 // of F; 0: it is not known
	noPrefilter  bool   // which takes memory
}

// A strategy says how queries are answered: by which tables in which layouts, behind a prefilter or not.
type strategy struct {
	name    string  // of the design, or the prefilter
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
	for _, d := range permute.Catalogue(w.k, 1) {
		g := group{tables: d.Tables}
		if cost := g.chooseLayouts(w.queries, false); cost < best.cost {
			best = strategy{name: d.Name, part: partPrints, cost: cost, groups: []group{g}}
		}
	}
	for mapBits := mapBitsMin; mapBits <= 32 && w.k > 0 && !w.noPrefilter; mapBits++ {
		if s := prefilterStrategy(w, mapBits); s.cost < best.cost {
			best = s
		}
	}
	return best
}

// chooseLayouts chooses the layouts of the group's tables, and returns what they cost. Tables qualify that
// have radius 0; so does one that has all queries in one bucket.
func (g *group) chooseLayouts(queries int, prefiltered bool) (cost float64) {
	for i, t := range g.tables {
		l := bestLayout(queries, t, prefiltered, i == 0)
		g.layouts = append(g.layouts, l)
		cost += l.cost
	}
	return cost
}

// CostNS returns what the model of this package estimates that a fingerprint of F costs one goroutine of this machine, in
// nanoseconds, for so many queries and fingerprints: with the tables that are built before.
func CostNS(queries, k int, fingerprints uint64) float64 {
	return chooseStrategy(workload{queries: queries, k: k, fingerprints: fingerprints}).cost
}
