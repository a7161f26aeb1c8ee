package postings

import (
	"context"
	"slices"
	"sort"
	"sync/atomic"

	"example.org/ndd/engine/storage/spill"
)

// prefixes are the postings of the rarest signatures of each document, grouped by
// signature. The most frequent signature comes first.
type prefixes struct {
	lists  spill.Column[uint32]
	pieces []uint64 // offsets of about every pieceSize numbers, and the end
	docs   []prefix // prefix of each document, by rank
	list   []uint32 // buffer of add
}

// A prefix counts the signatures of a document from the most frequent one on.
type prefix struct {
	seen  int32 // counter; starts below 0. Signatures with a count of 0 or more find the document
	finds int32 // signatures with this count or a higher one also find larger documents
}

// pieceSize is about the number of numbers that a goroutine reads at a time.
const pieceSize = 1 << 16

// A posting is the rank of a document. Its last bit is set if the signature finds
// larger documents. A list has the number of its postings and the postings, ascending.
const (
	rankShift = 1
	findsBit  = 1
)

// prefixes returns the prefixes of the documents, given their sizes by rank.
func (b *Builder) prefixes(ctx context.Context, s *sharedSignatures, sizes []uint32, o *Options, r *Report) (*prefixes, error) {
	p := &prefixes{lists: columnIn[uint32](b.room, o.share(resultShare)), docs: make([]prefix, len(sizes))}
	// Compute the prefix length for each size.
	result, last := prefix{}, uint32(0)
	for rank, size := range sizes {
		if size != last {
			last = size
			needless := o.leastShared(int(size)) - 1
			result = prefix{int32(-needless), int32(o.neededShared(int(size), int(size)) - 1 - needless)}
		}
		p.docs[rank] = result
	}
	// A signature outside the limits counts as a frequent one. So the other signatures are the last ones of a prefix,
	// and find every pair that shares any of them.
	frequent := sort.Search(len(s.runs), func(i int) bool { return int(s.runs[i].documents) <= o.MaxDocuments })
	below := sort.Search(len(s.runs), func(i int) bool { return int(s.runs[i].documents) < o.MinDocuments })
	err := s.each(ctx, slices.Concat(s.runs[:frequent], s.runs[below:]), func(ranks []uint32) {
		for _, rank := range ranks {
			p.docs[rank].seen++
		}
	})
	// Count the documents that frequent signatures affect.
	for _, d := range p.docs {
		if d.seen > d.finds {
			r.Frequent++
		}
	}
	// Write the lists of the other signatures.
	if err == nil {
		err = s.each(ctx, s.runs[frequent:below], p.add)
	}
	p.pieces = append(p.pieces, uint64(p.lists.Len()))
	if err == nil {
		err = p.lists.End()
	}
	if err != nil {
		p.lists.Close()
		return nil, err
	}
	return p, nil
}

// add adds the list of the next signature, unless it finds no pair.
func (p *prefixes) add(ranks []uint32) {
	if n := len(p.pieces); n == 0 || uint64(p.lists.Len())-p.pieces[n-1] >= pieceSize {
		p.pieces = append(p.pieces, uint64(p.lists.Len()))
	}
	p.list = slices.Grow(p.list[:0], len(ranks)+1)[:len(ranks)+1]
	list, n, finds := p.list[1:], uint32(0), uint32(0)
	for _, rank := range ranks { // without unpredictable branches
		d := &p.docs[rank]
		bit := uint32(d.finds-1-d.seen) >> 31
		list[n] = rank<<rankShift | bit
		n += uint32(1 + d.seen>>31)
		finds |= bit
		d.seen++
	}
	if n >= 2 && finds != 0 {
		slices.Sort(list[:n])
		p.list[0] = n
		p.lists.AppendAll(p.list[:1+n])
	}
}

func (p *prefixes) listAt(place uint64) []uint32 {
	return p.lists.All[place+1 : place+1+uint64(p.lists.All[place])]
}

// queriesMax returns a limit of the number of signatures by which a document finds larger ones.
func (p *prefixes) queriesMax(rank int) uint64 {
	d := &p.docs[rank]
	return uint64(max(d.seen-max(d.finds, 0), 0))
}

// slices returns the ends of the slices. They have about the same work, and their number follows from the memory.
func (p *prefixes) slices(o *Options) (ends []int) {
	total := uint64(0)
	for rank := range p.docs {
		total += queryBytes * (1 + p.queriesMax(rank))
	}
	n := uint64(1)
	if o.MemoryBytes > 0 {
		n += total / max(o.share(queryShare), 1)
	}
	sum := uint64(0)
	for rank := range p.docs {
		sum += queryBytes * (1 + p.queriesMax(rank))
		if uint64(len(ends)) < n-1 && sum >= total/n*uint64(len(ends)+1) {
			ends = append(ends, rank+1)
		}
	}
	return append(ends, len(p.docs))
}

// queryBytes is the memory of a document, and of each list that its search reads.
const queryBytes = 8

// queries are the lists to search for the documents of a range of ranks.
type queries struct {
	from   int
	starts []uint64        // start of each document's lists in places, and the end
	counts []atomic.Uint32 // number of each document's lists
	places []uint64        // offsets of lists
}

// queries finds the lists of the documents with ranks [from, to).
func (p *prefixes) queries(ctx context.Context, from, to, threads int) (*queries, error) {
	q := &queries{from: from, starts: make([]uint64, to-from+1), counts: make([]atomic.Uint32, to-from)}
	for rank := from; rank < to; rank++ {
		q.starts[rank-from+1] = q.starts[rank-from] + p.queriesMax(rank)
	}
	q.places = make([]uint64, q.starts[to-from])
	var next atomic.Int64
	return q, fork(threads, func(int) error {
		for i := int(next.Add(1)); i < len(p.pieces) && ctx.Err() == nil; i = int(next.Add(1)) {
			for place := p.pieces[i-1]; place < p.pieces[i]; {
				list := p.listAt(place)
				for _, posting := range list[:len(list)-1] { // no document follows the last one
					if index := int(posting>>rankShift) - from; posting&findsBit != 0 && uint(index) < uint(len(q.counts)) {
						q.places[q.starts[index]+uint64(q.counts[index].Add(1))-1] = place
					}
				}
				place += 1 + uint64(len(list))
			}
		}
		return ctx.Err()
	})
}

// lists returns the offsets of the lists of the document with a rank.
func (q *queries) lists(rank int) []uint64 {
	offset := q.starts[rank-q.from]
	return q.places[offset : offset+uint64(q.counts[rank-q.from].Load())]
}
