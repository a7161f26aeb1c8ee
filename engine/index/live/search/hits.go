package search

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live/memtable"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/version"

	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/storage/store"
)

// A Pool has the searchers of an index.
type Pool struct {
	versions *version.Set
	pool     sync.Pool
}

// NewPool returns the searchers of an index.
func NewPool(versions *version.Set) *Pool {
	p := &Pool{versions: versions}
	p.pool.New = func() any {
		return &Searcher{pool: p, ctx: context.Background(), slot: versions.Slot(), positions: make([]uint32, 1024),
			Limits: Limits{1 << 14, Bound{1 << 14, 1 << 16}, 1 << 16, Bound{1 << 13, 1 << 15}}} // some 10 MiB
	}
	return p
}

// Get returns a searcher, to be given back by [Searcher.Done].
func (p *Pool) Get() *Searcher { return p.pool.Get().(*Searcher) }

// A Searcher searches an index. It holds the working memory of one goroutine.
type Searcher struct {
	pool   *Pool
	slot   uint32          // number of its counter of readers
	ctx    context.Context // ends searches
	Limits Limits          // tests set smaller ones
	request

	matches    []rows.Match
	segments   segmentScratch
	submission submission
	positions  []uint32
	documents  locateScratch
	groups     groupScratch
	query      [1]uint64
	ids        version.IDReader
}

// A request holds the parameters of a search, without its queries.
type request struct {
	maxFound int  // maximum number of matches in memory; 0 means no limit
	first    bool // find only the first document of each hit, and count none
	distinct bool // a memtable has one match for all documents of a fingerprint
	verifier rows.Verifier
}

// segmentScratch is the working memory of a search of segments.
type segmentScratch struct {
	scratch  segment.Scratch
	found    []segment.Match
	selected []*segment.Segment // segments that are searched at the same time
	numbers  []int              // their numbers in the version
}

// locateScratch is the working memory for finding the documents of matches.
type locateScratch struct {
	ranges       []segment.Range // documents of each match; empty if the request wants none
	rows         []uint64
	fingerprints []uint64 // fingerprints of the matches of one segment
	order        []int    // indexes of these matches
	found        []segment.Range
}

// SetContext ends searches with the error of ctx once ctx has ended.
func (c *Searcher) SetContext(ctx context.Context) {
	c.ctx = ctx
	c.segments.scratch.SetContext(ctx)
}

// Done returns the searcher to its pool.
func (c *Searcher) Done() {
	c.SetContext(context.Background())
	c.request = request{}
	c.pool.pool.Put(c)
}

// Slot returns the number of the searcher's counter of readers.
func (c *Searcher) Slot() uint32 { return c.slot }

// View returns a view of the index. It fails with [version.ErrClosed].
func (c *Searcher) View() (version.View, error) { return c.pool.versions.View(c.slot) }

// ErrNoDocs is wrapped by errors of writing to an index that keeps no documents, and of deleting from it.
var ErrNoDocs = segment.ErrNoDocs

// Limits bound the answers that a goroutine holds in memory, whatever the data. A match takes 96 bytes with its origin
// and result, a hit 80, and a document 8.
type Limits struct {
	ChunkMatches  int // matches of queries that are answered together
	Chunk         Bound
	StreamMatches int // matches of a query that is answered alone
	Piece         Bound
}

// A Bound is a maximum number of hits and documents.
type Bound struct{ Hits, Docs int }

// setDocs sets the request's documents per hit, and returns their number.
func (c *Searcher) setDocs(docs int) int {
	if c.first = docs == FirstDoc; c.first {
		return 1
	}
	return docs
}

// Answers holds the hits of some queries, in the order of the queries.
type Answers struct {
	Hits    []Hit
	queries []int // query of each hit, ascending
	docs    []rows.DocID
}

// Each calls emit for each query that has hits, with its number, counted from first, and its hits.
func (a *Answers) Each(first int, emit func(query int, hits []Hit) error) error {
	for i := 0; i < len(a.Hits); {
		j := i + 1
		for j < len(a.Hits) && a.queries[j] == a.queries[i] {
			j++
		}
		if err := emit(first+a.queries[i], a.Hits[i:j:j]); err != nil {
			return err
		}
		i = j
	}
	return nil
}

// room returns a list for n documents. Lists share arrays, which grow up to docsShared.
func (a *Answers) room(n int) []rows.DocID {
	if cap(a.docs)-len(a.docs) < n {
		a.docs = make([]rows.DocID, 0, max(n, min(2*cap(a.docs), docsShared)))
	}
	start := len(a.docs)
	a.docs = a.docs[:start+n]
	return a.docs[start : start : start+n]
}

const docsShared = 4096

// hits combines the matches of each fingerprint into a hit with its documents.
func (c *Searcher) hits(w version.View, docs int) (Answers, error) {
	if len(c.matches) == 0 {
		return Answers{}, nil
	}
	if err := c.locate(w, docs); err != nil {
		return Answers{}, err
	}
	a, _, err := c.collect(w, 0, docs, unbounded)
	return a, err
}

// locate sorts the matches. It finds the documents of the matches if the request wants documents, or if some may be
// hidden.
func (c *Searcher) locate(w version.View, docs int) error {
	c.order()
	c.documents.ranges = c.documents.ranges[:0]
	if docs <= 0 && !c.hides(w) {
		return nil
	}
	c.documents.ranges = slices.Grow(c.documents.ranges, len(c.matches))[:len(c.matches)]
	for i, s := range w.Version.Segments {
		c.documents.fingerprints, c.documents.order = c.documents.fingerprints[:0], c.documents.order[:0]
		for j, m := range c.matches {
			if m.Source == i {
				c.documents.fingerprints, c.documents.order = append(c.documents.fingerprints, m.Fingerprint), append(c.documents.order, j)
			}
		}
		if len(c.documents.fingerprints) == 0 {
			continue
		}
		c.documents.found = slices.Grow(c.documents.found[:0], len(c.documents.fingerprints))[:len(c.documents.fingerprints)]
		if err := s.Locate(c.documents.found, c.documents.fingerprints, &c.segments.scratch); err != nil {
			return fmt.Errorf("segment %d: %w", i, err)
		}
		for j, r := range c.documents.found {
			c.documents.ranges[c.documents.order[j]] = r
		}
	}
	return nil
}

// order sorts the matches. It first groups them by query: sorting small groups is faster.
func (c *Searcher) order() {
	// Count the matches of each query.
	g := &c.groups
	g.ends = g.ends[:0]
	for i := range c.matches {
		for query := c.matches[i].Query; query >= len(g.ends); {
			g.ends = append(g.ends, 0)
		}
		g.ends[c.matches[i].Query]++
	}
	// Move them to the groups.
	if len(g.ends) > 1 {
		position := 0
		for query, n := range g.ends { // becomes the index of the next match of each query
			g.ends[query], position = position, position+n
		}
		g.matches = slices.Grow(g.matches[:0], len(c.matches))[:len(c.matches)]
		for _, m := range c.matches {
			g.matches[g.ends[m.Query]] = m
			g.ends[m.Query]++
		}
		c.matches, g.matches = g.matches, c.matches
	}
	// Sort each group.
	for first := 0; first < len(c.matches); {
		end := g.ends[c.matches[first].Query]
		slices.SortFunc(c.matches[first:end], rows.CompareMatches)
		first = end
	}
}

// groupScratch is the working memory of [Searcher.order].
type groupScratch struct {
	matches []rows.Match
	ends    []int // one for each query
}

// hides reports whether some documents of segments may be hidden from the request.
func (c *Searcher) hides(w version.View) bool {
	return slices.ContainsFunc(w.Version.Segments, func(s *version.Segment) bool {
		return s.MayHide(w.Now) || c.sketchesIn(s) != nil
	})
}

// sketchesIn returns the sketches of a segment if the verifier may refuse documents by them, else nil.
func (c *Searcher) sketchesIn(s *version.Segment) []sketch.Sketch {
	if !c.verifier.Active() {
		return nil
	}
	return s.Sketches
}

// unbounded is a Bound without limits.
var unbounded = Bound{AllDocs, AllDocs}

// collect combines matches into hits, from match number first on, which must be the first of its fingerprint. Each hit
// has the first docs of its documents. It makes as many hits as the bound allows. next is the first match after them;
// it is first if the first hit has too many documents. A fingerprint without visible documents gets no hit. The matches
// must be located.
func (c *Searcher) collect(w version.View, first, docs int, limit Bound) (a Answers, next int, err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	held := 0
	for next = first; next < len(c.matches) && len(a.Hits) < limit.Hits; {
		// Count the documents of the next fingerprint.
		end := c.groupEnd(next)
		h, err := c.hit(w, next, end)
		if err == nil && len(a.Hits)%hitsAtOnce == hitsAtOnce-1 {
			err = c.ctx.Err()
		}
		if err != nil {
			return a, next, err
		}
		// Collect the requested documents, unless there are too many.
		if n := int(min(h.Documents, uint64(max(docs, 0)))); n > 0 {
			if held += n; held > limit.Docs {
				break
			}
			h.Docs = a.room(n)
			if err := c.eachDoc(w, next, end, func(doc rows.DocID, similarity float32) bool {
				h.add(doc, similarity)
				return len(h.Docs) < n
			}); err != nil {
				return a, next, err
			}
		}
		// Omit a fingerprint without visible documents.
		if h.Documents > 0 || len(c.documents.ranges) == 0 {
			if docs <= 0 {
				h.Documents = 0 // the request wants no documents
			}
			a.Hits = append(a.Hits, h)
			a.queries = append(a.queries, c.matches[next].Query)
		}
		next = end
	}
	return a, next, nil
}

// hitsAtOnce is the number of hits between two checks of the context: each may have very many documents.
const hitsAtOnce = 16

// groupEnd returns the end of the matches with the same query and fingerprint as match number first.
func (c *Searcher) groupEnd(first int) int {
	end := first + 1
	for end < len(c.matches) && c.matches[end].Query == c.matches[first].Query &&
		c.matches[end].Fingerprint == c.matches[first].Fingerprint {
		end++
	}
	return end
}

// hit returns the hit of matches [first, end), which have one fingerprint, without its documents. If the matches are
// located it counts the documents, or sets 1 if only the first one is wanted.
func (c *Searcher) hit(w version.View, first, end int) (h Hit, err error) {
	m := &c.matches[first]
	h = Hit{Fingerprint: simhash.Fingerprint(m.Fingerprint), Distance: int(m.Distance)}
	for i := first; i < end && len(c.documents.ranges) > 0 && !(c.first && h.Documents > 0); i++ {
		n, err := c.count(w, i)
		if err != nil {
			return h, err
		}
		h.Documents += n
	}
	return h, nil
}

// count returns the number of documents of match number i that the view sees, at most 1 if only the first one is
// wanted.
func (c *Searcher) count(w version.View, i int) (n uint64, err error) {
	if m := &c.matches[i]; m.Source < len(w.Version.Segments) {
		if s := w.Version.Segments[m.Source]; s.KeepsDocs() && !s.MayHide(w.Now) && c.sketchesIn(s) == nil {
			n = c.documents.ranges[i].Len()
			if c.first {
				n = min(n, 1)
			}
			return n, nil
		}
	}
	_, err = c.docsOf(w, i, func(rows.DocID, float32) bool {
		n++
		return !c.first
	})
	return n, err
}

// eachDoc calls yield with the documents of matches [first, end), which have one fingerprint, and their similarities,
// in ascending order, until yield returns false.
func (c *Searcher) eachDoc(w version.View, first, end int, yield func(rows.DocID, float32) bool) error {
	for i := first; i < end; i++ {
		if ok, err := c.docsOf(w, i, yield); err != nil || !ok {
			return err
		}
	}
	return nil
}

// docsOf calls yield with each document of match number i that the view sees and the verifier accepts, and its
// similarity, in ascending order. It returns false as soon as yield does.
func (c *Searcher) docsOf(w version.View, i int, yield func(rows.DocID, float32) bool) (ok bool, err error) {
	m := &c.matches[i]
	if m.Source == rows.OneDoc {
		return yield(m.Doc, m.Similarity), nil
	}
	// A match in a memtable is searched again, for all its documents.
	segments := w.Version.Segments
	if m.Source >= len(segments) {
		t := w.Version.Memtables[m.Source-len(segments)]
		a := memtable.Search{Moment: w.Moment, Now: w.Now, Verifier: c.verifier, Positions: c.positions}
		return t.Each(&a, m.Query, m.Fingerprint, yield), nil
	}
	// A match in a segment has a range of documents, which are read in groups.
	s := segments[m.Source]
	if !s.KeepsDocs() {
		return yield(rows.NoDoc, rows.Unverified), nil
	}
	hides, sketches, r := s.MayHide(w.Now), c.sketchesIn(s), c.documents.ranges[i]
	for n := uint64(16); r.Len() > 0; n = docsAtOnce { // most fingerprints have one
		if c.documents.rows, err = s.AppendDocs(c.documents.rows[:0], r, int(n)); err != nil {
			return false, fmt.Errorf("segment %d: %w", m.Source, err)
		}
		for _, row := range c.documents.rows {
			doc := s.Numbers.Doc(row)
			// Skip hidden documents, and those that the verifier refuses.
			if hides && s.Hides(row, doc, w.Moment, w.Now) {
				continue
			}
			similarity, ok := rows.Unverified, true
			if sketches != nil {
				similarity, ok = c.verifier.Judge(m.Query, &sketches[row])
			}
			if ok && !yield(doc, similarity) {
				return false, nil
			}
		}
		r = r.After(min(n, r.Len()))
	}
	return true, nil
}

// Has reports whether a document of the view has the same content as d.
func (c *Searcher) Has(w version.View, doc rows.DocID, d *rows.Doc) (_ bool, err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	if m := w.Version.MemtableOf(doc); m != nil {
		row := int(doc - m.First)
		stored := rows.Doc{Fingerprint: simhash.Fingerprint(m.Fingerprint(row))}
		if s := m.Sketch(row); s != nil {
			stored.Sketch = *s
		}
		return d.SameContent(&stored), nil
	}
	s, row, ok := w.Version.Row(doc)
	if !ok {
		return false, nil
	}
	stored := rows.Doc{Fingerprint: d.Fingerprint}
	if s.Sketches != nil {
		stored.Sketch = s.Sketches[row]
	}
	var r [1]segment.Range
	if err := s.Locate(r[:], []uint64{uint64(d.Fingerprint)}, &c.segments.scratch); err != nil {
		return false, err
	}
	found, err := s.HasDoc(r[0], row)
	return found && d.SameContent(&stored), err
}

// docsAtOnce is the number of documents of a segment that are read at a time.
const docsAtOnce = 1024

// A Hit is a stored fingerprint within the distance of a query.
type Hit struct {
	Fingerprint simhash.Fingerprint
	Distance    int          // distance from the query, in bits
	Documents   uint64       // number of documents with this fingerprint; 0 if the request wants none, 1 with FirstDoc
	Docs        []rows.DocID // the first documents, ascending; at most as many as the request wants
	Offset      uint64       // number of documents in earlier pieces of the answer
	// Similarities are the estimated Jaccard similarities of Docs to the query, [rows.Unverified] if one of the two has
	// no sketch. It is nil if all are unverified.
	Similarities []float32
}

// add appends a document and its similarity.
func (h *Hit) add(doc rows.DocID, similarity float32) {
	if similarity != rows.Unverified && h.Similarities == nil {
		h.Similarities = make([]float32, len(h.Docs), cap(h.Docs)) // [rows.Unverified] is 0
	}
	if h.Docs = append(h.Docs, doc); h.Similarities != nil {
		h.Similarities = append(h.Similarities, similarity)
	}
}

// AllDocs asks for every document of a hit. An empty page's fingerprint may have millions.
const AllDocs = math.MaxInt

// FirstDoc asks only for the first document of a hit. The others are not counted, and Hit.Documents is 1. So a search
// needs little more time for a fingerprint with very many documents.
const FirstDoc = math.MinInt
