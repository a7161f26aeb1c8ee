package engine

import (
	"ndd/engine/plan"
	"ndd/permute"
)

// designSeed is the seed of designs made here. It is stored with the index.
const designSeed = 1

// ChooseDesign is the design for n fingerprints and distance k whose tables are
// expected to take the least bytes times time on this machine; see package
// plan for a choice by memory, and for the reasons. tables > 0 asks for a design of
// exactly that many.
func ChooseDesign(n uint64, k, tables int) (permute.Design, error) {
	machine, err := plan.Here(n)
	if err != nil {
		return permute.Design{}, err
	}
	p, err := plan.New(plan.Request{Fingerprints: n, K: k, Tables: tables, IDs: plan.IDsRows, Seed: designSeed, Machine: machine})
	if err != nil {
		return permute.Design{}, err
	}
	return p.Choice.Design, nil
}
