package engine

import (
	"fmt"
	"math"

	"ndd/permute"
)

// designSeed is the seed of designs made here. It is stored with the index.
const designSeed = 1

// ChooseDesign is the design for n fingerprints and distance k whose queries
// should take least time in the huffman layout, where every probe decodes at
// least one block: about 1 us a probe and 4 ns a candidate. tables > 0 asks
// for a design of exactly that many: the paper's where it has one.
func ChooseDesign(n uint64, k, tables int) (permute.Design, error) {
	if k < 0 || k > permute.MaxK {
		return permute.Design{}, fmt.Errorf("k = %d: must be 0 to %d", k, permute.MaxK)
	}
	if tables > 0 && k == 3 {
		if d, err := permute.Paper(tables, designSeed); err == nil {
			return d, nil
		}
	}
	const probeCost, candidateCost = 1000.0, 4.0 // ns
	var best permute.Design
	least := math.Inf(1)
	var have []int
	for _, d := range permute.Catalogue(k, designSeed) {
		have = append(have, len(d.Tables))
		if tables > 0 && len(d.Tables) != tables {
			continue
		}
		cost := 0.0
		for _, t := range d.Tables {
			leading := t.Leading()
			if t.Radius > 0 {
				leading = min(leading, int(math.Log2(float64(n)/200+1)))
			}
			probes := float64(permute.Ball(leading, t.Radius))
			cost += probes * (probeCost + candidateCost*float64(n)*math.Ldexp(1, -leading))
		}
		if cost < least {
			best, least = d, cost
		}
	}
	if math.IsInf(least, 1) {
		return best, fmt.Errorf("no design of %d tables for k = %d: there are designs of %v", tables, k, have)
	}
	return best, nil
}
