package lists

import (
	"cmp"
	"context"
	"math"
	"slices"

	"ndd/engine/storage/store"
)

// Sets calls yield with the sets of the documents, in order; documents without signatures are left
// out. A set is valid during the call. At most room bytes of sets are held at a time, 0 for all of
// them: the lists are read once for each such part. The error is of ctx or of yield, or wraps
// [store.ErrCorrupt].
func (l *Lists) Sets(ctx context.Context, room uint64, yield func(doc uint32, set []uint64) error) (err error) {
	defer store.CatchFault(&err)()
	docs := l.documents.members()
	n := len(l.documents.docs)
	g := gatherer{lists: l, starts: make([]uint64, n), filled: make([]uint32, n)}
	for len(docs) > 0 {
		n := g.begin(docs, room)
		if err := l.postings(ctx, g.add); err != nil {
			return err
		}
		for _, m := range docs[:n] {
			set, err := g.set(m.rank)
			if err != nil {
				return err
			}
			if err := yield(m.doc, set); err != nil {
				return err
			}
		}
		docs = docs[n:]
	}
	return nil
}

// A member is a document and the rank that has its set.
type member struct{ doc, rank uint32 }

// members returns all documents with a set, in order of their numbers.
func (d *documents) members() (all []member) {
	for rank, doc := range d.docs {
		group := d.equal[uint32(rank)]
		if group == nil {
			all = append(all, member{doc, uint32(rank)})
		}
		for _, doc := range group {
			all = append(all, member{doc, uint32(rank)})
		}
	}
	slices.SortFunc(all, func(a, b member) int { return cmp.Compare(a.doc, b.doc) })
	return all
}

// A gatherer turns lists into the sets of some ranks.
type gatherer struct {
	lists  *Lists
	starts []uint64 // by rank: where its set begins in values; absent for ranks of other parts
	filled []uint32 // by rank: signatures so far
	values []uint64
}

const absent = math.MaxUint64

// begin starts the next part of docs and returns its length, at least 1.
func (g *gatherer) begin(docs []member, room uint64) (n int) {
	for rank := range g.starts {
		g.starts[rank], g.filled[rank] = absent, 0
	}
	sum := uint64(0)
	for _, m := range docs {
		if g.starts[m.rank] == absent {
			size := uint64(g.lists.documents.sizes[m.rank])
			if n > 0 && room > 0 && 8*(sum+size) > room {
				break
			}
			g.starts[m.rank] = sum
			sum += size
		}
		n++
	}
	g.values = slices.Grow(g.values[:0], int(sum))[:sum]
	return n
}

// add adds a signature of a rank if it is of the part.
func (g *gatherer) add(rank uint32, hash uint64) error {
	if g.starts[rank] == absent {
		return nil
	}
	if g.filled[rank] == g.lists.documents.sizes[rank] {
		return g.lists.lists.Corrupt(0, "document %d has more than %d signatures", g.lists.documents.docs[rank],
			g.filled[rank])
	}
	g.values[g.starts[rank]+uint64(g.filled[rank])] = hash
	g.filled[rank]++
	return nil
}

func (g *gatherer) set(rank uint32) ([]uint64, error) {
	size := g.lists.documents.sizes[rank]
	if g.filled[rank] != size {
		return nil, g.lists.lists.Corrupt(0, "document %d has %d signatures, not %d", g.lists.documents.docs[rank],
			g.filled[rank], size)
	}
	set := g.values[g.starts[rank] : g.starts[rank]+uint64(size)]
	slices.Sort(set) // signatures of one document stand before those of several
	return set, nil
}
