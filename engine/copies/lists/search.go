package lists

import (
	"cmp"
	"context"
	"slices"

	"ndd/engine/copies/postings"
	"ndd/engine/storage/store"
)

// A Searcher finds the documents of stored lists that are similar to sets. It belongs to one
// goroutine. A search has two steps, so that several lists can be searched as one: [Searcher.Look]
// counts the documents of each signature, and [Searcher.AppendSimilar] uses the counts of all
// lists.
type Searcher struct {
	lists   *Lists
	o       *postings.Options
	found   []found
	shared  []uint32 // by rank: signatures that it shares with the set
	touched []uint32 // ranks with any
	ranks   []uint32 // of a block
}

// found is a signature of the set that the lists have.
type found struct {
	at   int // in the set
	list list
	rank uint32 // where the signature is of one document
	docs int
	from uint64 // where the list begins
}

// Searcher returns a Searcher; o has been checked.
func (l *Lists) Searcher(o *postings.Options) *Searcher {
	return &Searcher{lists: l, o: o, shared: make([]uint32, len(l.documents.docs))}
}

// Look looks up a set and adds the number of documents of each signature to counts. The error wraps
// [store.ErrCorrupt].
func (s *Searcher) Look(set []uint64, counts []int) (err error) {
	defer store.CatchFault(&err)()
	s.found = s.found[:0]
	for i, hash := range set {
		value, ok, err := s.lists.shared.find(hash)
		if err != nil {
			return err
		}
		if ok {
			x, err := s.lists.list(value)
			if err != nil {
				return err
			}
			s.found = append(s.found, found{at: i, list: x, docs: x.count, from: value})
			counts[i] += x.count
			continue
		}
		if value, ok, err = s.lists.single.find(hash); err != nil {
			return err
		}
		if !ok {
			continue
		}
		if value >= uint64(len(s.shared)) {
			return s.lists.single.data.Corrupt(0, "a signature of document %d of %d", value, len(s.shared))
		}
		s.found = append(s.found, found{at: i, rank: uint32(value), docs: 1})
		counts[i]++
	}
	return nil
}

// AppendSimilar appends the documents that are similar to the set of the last Look, in order of
// their numbers. Documents that share no signature of at most o.MaxDocuments documents, by counts,
// are left out. The error is of ctx, or wraps [store.ErrCorrupt].
func (s *Searcher) AppendSimilar(ctx context.Context, dst []postings.Match, size int,
	counts []int) (_ []postings.Match, err error) {
	defer store.CatchFault(&err)()
	if size == 0 || len(s.found) == 0 {
		return dst, nil
	}
	defer s.clear()
	b := s.o.Bounds(size)
	common := func(f *found) int {
		if counts[f.at] > s.o.MaxDocuments {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(s.found, func(x, y found) int {
		return cmp.Or(cmp.Compare(common(&x), common(&y)), cmp.Compare(x.docs, y.docs))
	})
	// The rarest first: what shares none of these shares too few with the others.
	prefix := size - b.Least + 1 - (size - len(s.found))
	from, to := s.lists.documents.ranks(b.Smallest, b.Largest)
	for i := range s.found {
		f := &s.found[i]
		if err := ctx.Err(); err != nil {
			return dst, err
		}
		if i < prefix && common(f) == 0 {
			err = s.gather(f, from, to)
		} else {
			err = s.count(f)
		}
		if err != nil {
			return dst, err
		}
	}
	return s.appendMatches(dst, size), nil
}

// gather makes the documents of a signature candidates.
func (s *Searcher) gather(f *found, from, to uint32) error {
	return s.each(f, func(b *block) bool { return b.last >= 0 && b.last < int64(from) || b.before >= int64(to) },
		func(rank uint32) {
			if rank < from || rank >= to {
				return
			}
			if s.shared[rank] == 0 {
				s.touched = append(s.touched, rank)
			}
			s.shared[rank]++
		})
}

// count counts a signature for its candidates.
func (s *Searcher) count(f *found) error {
	if len(s.touched) == 0 {
		return nil
	}
	if len(f.list.skips) > 0 {
		slices.Sort(s.touched)
	}
	at := 0
	none := func(b *block) bool {
		if b.last < 0 {
			return false
		}
		for at < len(s.touched) && int64(s.touched[at]) <= b.before {
			at++
		}
		return at == len(s.touched) || int64(s.touched[at]) > b.last
	}
	return s.each(f, none, func(rank uint32) {
		if s.shared[rank] > 0 {
			s.shared[rank]++
		}
	})
}

// each calls yield with the documents of a signature, without the blocks that skip selects.
func (s *Searcher) each(f *found, skip func(*block) bool, yield func(rank uint32)) error {
	if f.list.count == 0 {
		yield(f.rank)
		return nil
	}
	n := 0
	for b := range f.list.all() {
		n += b.count
		if skip(&b) {
			continue
		}
		var ok bool
		if s.ranks, ok = b.appendRanks(s.ranks[:0], len(s.shared)); !ok {
			return s.lists.lists.Corrupt(f.from, "a list that lies")
		}
		for _, rank := range s.ranks {
			yield(rank)
		}
	}
	if n != f.list.count {
		return s.lists.lists.Corrupt(f.from, "a list that ends early")
	}
	return nil
}

// appendMatches appends the similar candidates and the documents that are equal to them.
func (s *Searcher) appendMatches(dst []postings.Match, size int) []postings.Match {
	first := len(dst)
	d := &s.lists.documents
	for _, rank := range s.touched {
		m := postings.Match{Doc: d.docs[rank], Size: int(d.sizes[rank]), Shared: int(s.shared[rank])}
		if !s.o.Similar(size, m.Size, m.Shared) {
			continue
		}
		group := d.equal[rank]
		if group == nil {
			dst = append(dst, m)
		}
		for _, m.Doc = range group {
			dst = append(dst, m)
		}
	}
	slices.SortFunc(dst[first:], func(a, b postings.Match) int { return cmp.Compare(a.Doc, b.Doc) })
	return dst
}

func (s *Searcher) clear() {
	for _, rank := range s.touched {
		s.shared[rank] = 0
	}
	s.touched = s.touched[:0]
}
