package signature

import "slices"

// Batch is how many signatures a selector hands on at a time, at least, of a text whose signatures are gathered.
const Batch = 4096

// A Gatherer makes the set of the signatures of a long text of batches of them: without their places, and those that occur again
// dropped whenever it is full, so that it takes no more than three times the set, where a slice of all signatures takes five times
// as much. The zero value is empty.
type Gatherer struct {
	Bag    bool // as [AppendBag] makes it; default: as [AppendSet]
	hashes []uint64
}

// gatherFirst is how many hashes a Gatherer has room for at first.
const gatherFirst = 1 << 16

// Add adds signatures.
func (g *Gatherer) Add(batch []Signature) {
	if len(g.hashes)+len(batch) > cap(g.hashes) {
		g.makeRoom(len(batch))
	}
	for i := range batch {
		g.hashes = append(g.hashes, batch[i].Hash)
	}
}

// makeRoom drops what occurs again, and doubles the room where that leaves less than half of it.
func (g *Gatherer) makeRoom(more int) {
	if !g.Bag {
		slices.Sort(g.hashes)
		g.hashes = slices.Compact(g.hashes)
	}
	if need := len(g.hashes) + more; need > cap(g.hashes)/2 {
		g.hashes = slices.Grow(g.hashes, max(2*need, gatherFirst)-len(g.hashes))
	}
}

// Set returns the set, and forgets it.
func (g *Gatherer) Set() []uint64 {
	set := g.hashes
	g.hashes = nil
	slices.Sort(set)
	if g.Bag {
		return bagOf(set)
	}
	return slices.Compact(set)
}
