package signature

import "slices"

// Batch is how many signatures a selector hands on at a time, at least, of a text whose signatures are gathered.
const Batch = 4096

// Batches is the part of a selector that hands signatures on while it appends them. It reuses its memory.
type Batches struct {
	yield func([]Signature) // nil: they are held
	batch []Signature
}

// Each calls yield with what add appends, the signatures of a text in order, [Batch] or somewhat more at a time; they are valid
// until yield returns. The add of a selector calls [Batches.Pass] from time to time.
func (b *Batches) Each(yield func([]Signature), add func(dst []Signature) []Signature) {
	b.yield = yield
	last := add(b.batch[:0])
	b.yield = nil
	yield(last)
	b.batch = last[:0]
}

// Pass passes signatures on if they are to be, and returns what to append further ones to.
func (b *Batches) Pass(signatures []Signature) []Signature {
	if b.yield == nil || len(signatures) < Batch {
		return signatures
	}
	b.yield(signatures)
	return signatures[:0]
}

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
