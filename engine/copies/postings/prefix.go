package postings

import (
	"context"
	"slices"
	"sort"
	"sync/atomic"

	"ndd/engine/storage/spill"
)

// The memory of a join is divided into eight shares. Signatures that are sorted take sortShare of them
// and are released before the queries take queryShare; resultShare is for the signatures of several
// documents, and for the postings that find pairs.
const (
	shares      = 8
	sortShare   = 5
	resultShare = 2
	queryShare  = 4
)

// share returns the memory of some shares, 0 if there is no limit.
func (o *Options) share(parts uint64) uint64 { return o.MemoryBytes / shares * parts }

// prefixes are the postings that find pairs: each document's rarest signatures, grouped by
// signature, the most frequent first.
type prefixes struct {
	lists  spill.Column[uint32]
	pieces []uint64 // where about each pieceSize numbers begin, and the end
	docs   []prefix // by rank
	list   []uint32 // of add
}

// A prefix counts a document's signatures from the most frequent one on.
type prefix struct {
	seen  int32 // begins below 0: it is found by those that make this 0 and more
	finds int32 // it finds larger documents by those that make seen this and more
}

// pieceSize is about how many numbers a goroutine reads at a time.
const pieceSize = 1 << 16

// A posting of a list is the rank of a document, and in the last bit whether the signature finds
// larger documents. After the number of postings come these, ascending.
const (
	rankShift = 1
	findsBit  = 1
)

// prefixes takes the postings that find pairs of all those of s. Sizes are those of the documents,
// by rank.
func (b *Builder) prefixes(ctx context.Context, s *shared, sizes []uint32, o *Options, r *Report) (*prefixes, error) {
	p := &prefixes{lists: columnIn[uint32](b.scratch(o.share(resultShare))), docs: make([]prefix, len(sizes))}
	of, last := prefix{}, uint32(0)
	for rank, size := range sizes {
		if size != last {
			last = size
			found := o.Bounds(int(size)).Least - 1
			of = prefix{int32(-found), int32(o.needed(int(size), int(size)) - 1 - found)}
		}
		p.docs[rank] = of
	}
	rare := sort.Search(len(s.runs), func(i int) bool { return int(s.runs[i].documents) <= o.MaxDocuments })
	err := s.each(ctx, s.runs[:rare], func(ranks []uint32) {
		r.Common++
		for _, rank := range ranks {
			p.docs[rank].seen++
		}
	})
	for _, d := range p.docs {
		if d.seen > d.finds {
			r.Frequent++
		}
	}
	if err == nil {
		err = s.each(ctx, s.runs[rare:], p.add)
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

// add adds the documents of the next signature: those that are found by it, if it finds any.
func (p *prefixes) add(ranks []uint32) {
	if n := len(p.pieces); n == 0 || uint64(p.lists.Len())-p.pieces[n-1] >= pieceSize {
		p.pieces = append(p.pieces, uint64(p.lists.Len()))
	}
	p.list = slices.Grow(p.list[:0], len(ranks)+1)[:len(ranks)+1]
	list, n, finds := p.list[1:], uint32(0), uint32(0)
	for _, rank := range ranks { // without branches, which would be mispredicted
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

func (p *prefixes) at(place uint64) []uint32 {
	return p.lists.All[place+1 : place+1+uint64(p.lists.All[place])]
}

// mostQueries returns at most how many signatures find larger documents of one.
func (p *prefixes) mostQueries(rank int) uint64 {
	d := &p.docs[rank]
	return uint64(max(d.seen-max(d.finds, 0), 0))
}

// slices returns the ends of the ranges of the queries: as many as the memory requires, of about the
// same work.
func (p *prefixes) slices(o *Options) (ends []int) {
	total := uint64(0)
	for rank := range p.docs {
		total += queryBytes * (1 + p.mostQueries(rank))
	}
	n := uint64(1)
	if o.MemoryBytes > 0 {
		n += total / max(o.share(queryShare), 1)
	}
	sum := uint64(0)
	for rank := range p.docs {
		sum += queryBytes * (1 + p.mostQueries(rank))
		if uint64(len(ends)) < n-1 && sum >= total/n*uint64(len(ends)+1) {
			ends = append(ends, rank+1)
		}
	}
	return append(ends, len(p.docs))
}

// queryBytes is the memory of a list that a document is looked up in, and of a document.
const queryBytes = 8

// queries are the lists that the documents of a range of ranks are looked up in.
type queries struct {
	from   int
	starts []uint64        // by document: where its lists begin in places, and the end
	counts []atomic.Uint32 // by document
	places []uint64        // of the lists
}

// queries finds the lists of the documents of ranks from up to to.
func (p *prefixes) queries(ctx context.Context, from, to, threads int) (*queries, error) {
	q := &queries{from: from, starts: make([]uint64, to-from+1), counts: make([]atomic.Uint32, to-from)}
	for rank := from; rank < to; rank++ {
		q.starts[rank-from+1] = q.starts[rank-from] + p.mostQueries(rank)
	}
	q.places = make([]uint64, q.starts[to-from])
	var next atomic.Int64
	return q, fork(threads, func(int) error {
		for i := int(next.Add(1)); i < len(p.pieces) && ctx.Err() == nil; i = int(next.Add(1)) {
			for place := p.pieces[i-1]; place < p.pieces[i]; {
				list := p.at(place)
				for _, posting := range list[:len(list)-1] { // the last finds none larger
					if at := int(posting>>rankShift) - from; posting&findsBit != 0 && uint(at) < uint(len(q.counts)) {
						q.places[q.starts[at]+uint64(q.counts[at].Add(1))-1] = place
					}
				}
				place += 1 + uint64(len(list))
			}
		}
		return ctx.Err()
	})
}

// of returns the lists of the document of a rank.
func (q *queries) of(rank int) []uint64 {
	at := q.starts[rank-q.from]
	return q.places[at : at+uint64(q.counts[rank-q.from].Load())]
}
