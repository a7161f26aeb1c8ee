package copies

import (
	"cmp"
	"context"
	"slices"

	"ndd/engine/copies/lists"
	"ndd/engine/copies/postings"
	"ndd/engine/storage/idlist"
	"ndd/engine/storage/store"
)

// A Hit is a document of an index that shares text with another document, which is the first of the
// pair. The pair has no numbers of documents.
type Hit struct {
	ID string
	Pair
}

// A Searcher finds the documents of an index that are copies of others. It belongs to one
// goroutine.
type Searcher struct {
	o       Options
	index   *Index
	methods map[Method]*methodSearch
	ids     []*idlist.Cursor // of each segment
	matches []postings.Match
	counts  []int

	// SameSite counts hits that were ignored because they are of the document's own site.
	SameSite int
	// Frequent counts documents whose copies may be missing, because they share only signatures of
	// more than Options.Join.MaxDocuments documents of the index, deleted ones included.
	Frequent int

	frequent bool // of the document at work
}

// methodSearch is one method's part of a Searcher.
type methodSearch struct {
	o         postings.Options
	searchers []*lists.Searcher // of each segment, nil where it has no documents of the method
}

// NeedBytes returns the memory that one Searcher takes.
func (x *Index) NeedBytes() (n uint64) {
	for _, s := range x.segments {
		for _, m := range s.methods {
			n += 8 * uint64(len(m.rows))
		}
	}
	return n
}

// Searcher returns a Searcher. Of the options those count that are about a search: threshold,
// bounds, same-site.
func (x *Index) Searcher(o Options) (*Searcher, error) {
	made, err := x.Recipe().Options()
	if err != nil {
		return nil, err
	}
	o.Method, o.Version, o.MinFeatures, o.SpotSigs = made.Method, made.Version, made.MinFeatures, made.SpotSigs
	s := &Searcher{o: o, index: x, methods: map[Method]*methodSearch{}}
	for i := range methods {
		m := methods[i].method
		j := &methodSearch{o: o.join(m)}
		if err := j.o.Check(); err != nil {
			return nil, err
		}
		for _, segment := range x.segments {
			var l *lists.Searcher
			if sm := segment.methods[m]; sm != nil {
				l = sm.lists.Searcher(&j.o)
			}
			j.searchers = append(j.searchers, l)
		}
		s.methods[m] = j
	}
	for _, segment := range x.segments {
		s.ids = append(s.ids, segment.ids.Cursor())
	}
	return s, nil
}

func (o *Options) join(m Method) postings.Options {
	j := o.Join
	j.Measure, j.Threshold, j.Threads = m.Measure(), o.threshold(m), o.Threads
	j.MaxDocuments = cmp.Or(j.MaxDocuments, postings.MaxDocuments)
	return j
}

// Configure sets the threshold of later searches, 0 for each method's own, and whether documents of
// the same site are ignored. It returns an error if the threshold is out of range.
func (s *Searcher) Configure(threshold float64, otherSites bool) error {
	asked := s.o
	asked.Threshold, asked.OtherSites = threshold, otherSites
	for m, j := range s.methods {
		o := j.o
		o.Threshold = asked.threshold(m)
		if err := o.Check(); err != nil {
			return err
		}
	}
	s.o = asked
	for m, j := range s.methods {
		j.o.Threshold = asked.threshold(m)
	}
	return nil
}

// Search returns the documents that are copies of one, in order of the index; none if the document
// has too few signatures ([Searcher.Compared]). Each document is in one hit. The error is of ctx,
// or wraps store.ErrCorrupt.
func (s *Searcher) Search(ctx context.Context, sets *Sets) ([]Hit, error) {
	all, err := s.find(ctx, sets)
	if err != nil {
		return nil, err
	}
	return s.named(all)
}

// Best returns the most similar documents, at most limit, and the number of all.
func (s *Searcher) Best(ctx context.Context, sets *Sets, limit int) (hits []Hit, total int, err error) {
	all, err := s.find(ctx, sets)
	if err != nil {
		return nil, 0, err
	}
	total = len(all)
	slices.SortStableFunc(all, func(a, b Pair) int { return cmp.Compare(b.Score, a.Score) })
	hits, err = s.named(all[:min(limit, total)])
	return hits, total, err
}

// find returns the hits in order of the index, as pairs of a segment and the number of a document in it.
func (s *Searcher) find(ctx context.Context, sets *Sets) (all []Pair, err error) {
	own, winnow, shingles := s.o.compared(sets)
	few := s.o.few(sets)
	s.frequent = false
	search := func(m Method, set []uint64) error {
		return s.each(ctx, m, set, func(segment int, doc uint32, p postings.Match) {
			x := s.index.segments[segment]
			if x.deleted.has(doc) {
				return
			}
			site := sets.Site != 0 && siteAt(x.sites, doc) == sets.Site
			pair := NewPair(m, len(set), p.Size, p.Shared, flags(few, x.few.has(doc), site))
			pair.A, pair.B = uint32(segment), doc
			all = append(all, pair)
		})
	}
	if own {
		err = search(sets.Method, sets.Own)
	}
	if err == nil && shingles {
		err = search(Shingles, sets.Shingles)
	}
	if err == nil && winnow {
		err = search(Winnow, sets.Winnow)
	}
	if err != nil {
		return nil, err
	}
	if s.frequent {
		s.Frequent++
	}
	ends := own && sets.Method == CCDet
	all, sameSite := s.o.settle(all, func(p *Pair) bool { return ends && s.index.segments[p.A].hasEnds(p.B) })
	s.SameSite += sameSite
	flagCommon(all, func(p *Pair) (doc uint32, ok bool) { return 0, p.Relation == Contained }) // the one that is searched
	return all, nil
}

// named looks up the IDs of hits.
func (s *Searcher) named(all []Pair) (hits []Hit, err error) {
	defer store.CatchFault(&err)()
	for _, p := range all {
		id, err := s.ids[p.A].ID(uint64(p.B))
		if err != nil {
			return nil, err
		}
		p.A, p.B = 0, 0
		hits = append(hits, Hit{id, p})
	}
	return hits, nil
}

// Compared reports whether a document has enough signatures to be compared at all.
func (s *Searcher) Compared(sets *Sets) bool {
	own, winnow, shingles := s.o.compared(sets)
	return own || winnow || shingles
}

// each calls yield with the matches of a set in all segments.
func (s *Searcher) each(ctx context.Context, m Method, set []uint64,
	yield func(segment int, doc uint32, p postings.Match)) (err error) {
	j := s.methods[m]
	s.counts = append(s.counts[:0], make([]int, len(set))...)
	for _, l := range j.searchers {
		if l == nil {
			continue
		}
		if err := l.Look(set, s.counts); err != nil {
			return err
		}
	}
	s.frequent = s.frequent || missesFrequent(&j.o, s.counts)
	for i, l := range j.searchers {
		if l == nil {
			continue
		}
		if s.matches, err = l.AppendSimilar(ctx, s.matches[:0], len(set), s.counts); err != nil {
			return err
		}
		for _, p := range s.matches {
			yield(i, s.index.segments[i].methods[m].rows[p.Doc], p)
		}
	}
	return nil
}

// missesFrequent reports whether a set may be similar to others with which it shares only
// signatures of too many documents. counts holds the number of documents of each signature.
func missesFrequent(o *postings.Options, counts []int) bool {
	rare := 0
	for _, n := range counts {
		if n <= o.MaxDocuments {
			rare++
		}
	}
	size := len(counts)
	return rare < size && size-o.Bounds(size).Least+1 > rare
}
