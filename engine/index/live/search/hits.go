package search

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"ndd/engine/corpus/simhash"
	"ndd/engine/corpus/sketch"
	"ndd/engine/index/live/memtable"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/version"
	"ndd/engine/index/radix"
	"ndd/engine/index/segment"
	"ndd/engine/storage/store"
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

// A Searcher searches an index. It has the memory that one goroutine needs for that.
type Searcher struct {
	pool   *Pool
	slot   uint32          // of the readers' counters
	ctx    context.Context // ends searches
	Limits Limits          // tests set smaller ones
	request

	matches    []rows.Match
	segments   inSegments
	submission submission
	positions  []uint32
	documents  located
	sorting    sorting
	query      [1]uint64
	ids        version.IDReader
}

// A request is what a search is to find, but for the queries.
type request struct {
	maxFound int  // matches that it holds; 0: any number
	first    bool // only the first document of a hit is asked for, and none is counted
	distinct bool // a memtable has one match for all documents of a fingerprint
	verifier rows.Verifier
}

// inSegments is the memory of a search of segments.
type inSegments struct {
	scratch  segment.Scratch
	found    []segment.Match
	together []*segment.Segment // that are searched at once,
	numbers  []int              // and their numbers
}

// located is the memory of finding the documents of matches.
type located struct {
	ranges []segment.Range // of the documents of each match; empty where nobody asks for documents
	rows   []uint64
	prints []uint64 // of the matches of one segment,
	places []int    // which matches those are,
	found  []segment.Range
}

// Until lets searches end with the error of ctx once that is done.
func (c *Searcher) Until(ctx context.Context) {
	c.ctx = ctx
	c.segments.scratch.Until(ctx)
}

// Done gives the searcher back.
func (c *Searcher) Done() {
	c.Until(context.Background())
	c.request = request{}
	c.pool.pool.Put(c)
}

// Slot returns the number by which the searcher counts itself as a reader.
func (c *Searcher) Slot() uint32 { return c.slot }

// View returns a view of the index. The error is [version.ErrClosed].
func (c *Searcher) View() (version.View, error) { return c.pool.versions.View(c.slot) }

// ErrNoDocs is wrapped where an index is to be written to, or a document to be deleted, and it
// keeps no documents.
var ErrNoDocs = segment.ErrNoDocs

// Limits are what a goroutine holds of answers at a time, whatever the data: a match is 96 bytes
// with what it comes from and what becomes of it, a hit 80, and a document 8.
type Limits struct {
	ChunkMatches  int // of queries that are answered together,
	Chunk         Bound
	StreamMatches int // of a query that is answered alone,
	Piece         Bound
}

// A Bound is how many hits and documents are held at a time.
type Bound struct{ Hits, Docs int }

// asked notes what documents of each hit a search is asked for, and returns how many they are.
func (c *Searcher) asked(docs int) int {
	if c.first = docs == FirstDoc; c.first {
		return 1
	}
	return docs
}

// Answers holds the hits of some queries, one query's after the other's.
type Answers struct {
	Hits    []Hit
	queries []int // of hits, ascending
	docs    []rows.DocID
}

// Each calls emit with the number of each query that has hits, counted from first, and its hits.
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

// cut drops the hits of queries from number n on.
func (a *Answers) cut(n int) {
	i, _ := slices.BinarySearch(a.queries, n)
	a.Hits, a.queries = a.Hits[:i], a.queries[:i]
}

// room returns a list for n documents. Lists share arrays, which grow up to docsShared.
func (a *Answers) room(n int) []rows.DocID {
	if cap(a.docs)-len(a.docs) < n {
		a.docs = make([]rows.DocID, 0, max(n, min(2*cap(a.docs), docsShared)))
	}
	at := len(a.docs)
	a.docs = a.docs[:at+n]
	return a.docs[at : at : at+n]
}

const docsShared = 4096

// hits puts all matches of each fingerprint together, with its documents.
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

// locate sorts the matches, and finds where their documents are, unless nobody asks for any:
// neither the caller, nor what hides some.
func (c *Searcher) locate(w version.View, docs int) error {
	c.order()
	c.documents.ranges = c.documents.ranges[:0]
	if docs <= 0 && !c.hides(w) {
		return nil
	}
	c.documents.ranges = slices.Grow(c.documents.ranges, len(c.matches))[:len(c.matches)]
	for i, s := range w.Version.Segments {
		c.documents.prints, c.documents.places = c.documents.prints[:0], c.documents.places[:0]
		for j, m := range c.matches {
			if m.Source == i {
				c.documents.prints, c.documents.places = append(c.documents.prints, m.Fingerprint), append(c.documents.places, j)
			}
		}
		if len(c.documents.prints) == 0 {
			continue
		}
		c.documents.found = slices.Grow(c.documents.found[:0], len(c.documents.prints))[:len(c.documents.prints)]
		if err := s.Locate(c.documents.found, c.documents.prints, &c.segments.scratch); err != nil {
			return fmt.Errorf("segment %d: %w", i, err)
		}
		for j, r := range c.documents.found {
			c.documents.ranges[c.documents.places[j]] = r
		}
	}
	return nil
}

// order sorts the matches. Many are sorted by fingerprint, then by query and distance, in passes
// over all of them, and then compared once.
func (c *Searcher) order() {
	if n := len(c.matches); n >= sortedByRadix {
		o := &c.sorting
		o.sorted, o.places = slices.Grow(o.sorted[:0], n)[:n], slices.Grow(o.places[:0], n)[:n]
		o.matches = slices.Grow(o.matches[:0], n)[:n]
		o.prints, o.ends = o.prints[:0], o.ends[:0]
		for i := range c.matches {
			m := &c.matches[i]
			o.prints = append(o.prints, m.Fingerprint)
			o.ends = append(o.ends, make([]int, max(0, (m.Query+1)*distances-len(o.ends)))...)
			o.ends[m.Query*distances+int(m.Distance)]++
		}
		radix.Rows(o.sorted, o.places, o.prints, ^uint64(0), 1)
		at := 0
		for i, n := range o.ends { // becomes where the first match of each query and distance goes, then the next one
			o.ends[i], at = at, at+n
		}
		for _, place := range o.places {
			m := &c.matches[place]
			to := &o.ends[m.Query*distances+int(m.Distance)]
			o.matches[*to] = *m
			*to++
		}
		c.matches, o.matches = o.matches, c.matches
	}
	slices.SortFunc(c.matches, rows.CompareMatches) // fast for what is in order
}

// sorting is the memory of [Searcher.order].
type sorting struct {
	prints  []uint64 // of matches
	sorted  []uint64
	places  []uint32 // of them, sorted
	matches []rows.Match
	ends    []int // by query and distance
}

const (
	sortedByRadix = 1 << 10 // matches, from which on that is faster
	distances     = 65
)

// hides reports whether a segment may have documents that are not to be found.
func (c *Searcher) hides(w version.View) bool {
	return slices.ContainsFunc(w.Version.Segments, func(s *version.Segment) bool {
		return s.MayHide(w.Now) ||
			c.sketchesIn(s) != nil
	})
}

// sketchesIn returns the sketches of a segment where the verifier may refuse documents for them, else
// nil.
func (c *Searcher) sketchesIn(s *version.Segment) []sketch.Sketch {
	if !c.verifier.Active() {
		return nil
	}
	return s.Sketches
}

// unbounded holds all.
var unbounded = Bound{AllDocs, AllDocs}

// collect puts the matches of each fingerprint together, from match number from on, which is the
// first of its fingerprint, each with the first docs of its documents: as many hits as the bound
// allows. next is the first match behind them: from, where the first hit has too many documents. A
// fingerprint whose documents are all hidden is left out. The matches are located.
func (c *Searcher) collect(w version.View, from, docs int, most Bound) (a Answers, next int, err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	held := 0
	for next = from; next < len(c.matches) && len(a.Hits) < most.Hits; {
		end := c.groupEnd(next)
		h, err := c.hit(w, next, end)
		if err == nil && len(a.Hits)%hitsAtOnce == hitsAtOnce-1 {
			err = c.ctx.Err()
		}
		if err != nil {
			return a, next, err
		}
		if n := int(min(h.Documents, uint64(max(docs, 0)))); n > 0 {
			if held += n; held > most.Docs {
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
		if h.Documents > 0 || len(c.documents.ranges) == 0 {
			if docs <= 0 {
				h.Documents = 0 // nobody asked
			}
			a.Hits = append(a.Hits, h)
			a.queries = append(a.queries, c.matches[next].Query)
		}
		next = end
	}
	return a, next, nil
}

// hitsAtOnce are made before the context is looked at again: each may have very many documents.
const hitsAtOnce = 16

// groupEnd returns the end of the matches that have the query and the fingerprint of match number
// from.
func (c *Searcher) groupEnd(from int) int {
	to := from + 1
	for to < len(c.matches) && c.matches[to].Query == c.matches[from].Query &&
		c.matches[to].Fingerprint == c.matches[from].Fingerprint {
		to++
	}
	return to
}

// hit returns the hit of matches [from, to), which are of one fingerprint, with the number of its
// documents where the matches are located, or 1 where only the first is asked for, and without the
// documents.
func (c *Searcher) hit(w version.View, from, to int) (h Hit, err error) {
	m := &c.matches[from]
	h = Hit{Fingerprint: simhash.Fingerprint(m.Fingerprint), Distance: int(m.Distance)}
	for i := from; i < to && len(c.documents.ranges) > 0 && !(c.first && h.Documents > 0); i++ {
		n, err := c.count(w, i)
		if err != nil {
			return h, err
		}
		h.Documents += n
	}
	return h, nil
}

// count returns how many documents match number i has that the view sees, 1 at most where only the
// first is asked for.
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

// eachDoc calls yield with the documents, and their similarities, of matches [from, to), which are of one fingerprint,
// ascending, until yield returns false.
func (c *Searcher) eachDoc(w version.View, from, to int, yield func(rows.DocID, float32) bool) error {
	for i := from; i < to; i++ {
		if more, err := c.docsOf(w, i, yield); err != nil || !more {
			return err
		}
	}
	return nil
}

// docsOf calls yield with the documents of match number i that the view sees and the verifier
// accepts, ascending, and their similarities. It returns false as soon as yield does.
func (c *Searcher) docsOf(w version.View, i int, yield func(rows.DocID, float32) bool) (more bool, err error) {
	m := &c.matches[i]
	if m.Source == rows.OneDoc {
		return yield(m.Doc, m.Similarity), nil
	}
	segments := w.Version.Segments
	if m.Source >= len(segments) {
		t := w.Version.Memtables[m.Source-len(segments)]
		a := memtable.Search{Moment: w.Moment, Now: w.Now, Verifier: c.verifier, Positions: c.positions}
		return t.Each(&a, m.Query, m.Fingerprint, yield), nil
	}
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

// Has reports whether a document of the view has the content of another one.
func (c *Searcher) Has(w version.View, doc rows.DocID, d *rows.Doc) (_ bool, err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	if m := w.Version.MemtableOf(doc); m != nil {
		row := int(doc - m.First)
		held := rows.Doc{Fingerprint: simhash.Fingerprint(m.Fingerprint(row))}
		if s := m.Sketch(row); s != nil {
			held.Sketch = *s
		}
		return d.SameContent(&held), nil
	}
	s := w.Version.SegmentOf(doc)
	if s == nil {
		return false, nil
	}
	row, ok := s.Numbers.Row(doc)
	if !ok {
		return false, nil
	}
	held := rows.Doc{Fingerprint: d.Fingerprint}
	if s.Sketches != nil {
		held.Sketch = s.Sketches[row]
	}
	var r [1]segment.Range
	if err := s.Locate(r[:], []uint64{uint64(d.Fingerprint)}, &c.segments.scratch); err != nil {
		return false, err
	}
	has, err := s.HasDoc(r[0], row)
	return has && d.SameContent(&held), err
}

// docsAtOnce documents of a segment are read together.
const docsAtOnce = 1024

// A Hit is a stored fingerprint within the distance that was asked for.
type Hit struct {
	Fingerprint simhash.Fingerprint
	Distance    int          // from the query, in bits
	Documents   uint64       // how many have this fingerprint; 0 where they were not asked for, 1 with FirstDoc
	Docs        []rows.DocID // the first of them, ascending, as many as were asked for
	Before      uint64       // of an answer in pieces: how many documents the pieces before this one had
	// Similarities are the estimated Jaccard similarities of Docs to the query, [rows.Unverified] where
	// one of both has no sketch; nil where all are unverified.
	Similarities []float32
}

// add appends a document and its similarity.
func (h *Hit) add(doc rows.DocID, similarity float32) {
	if similarity != rows.Unverified && h.Similarities == nil {
		h.Similarities = make([]float32, len(h.Docs), cap(h.Docs))
		for i := range h.Similarities {
			h.Similarities[i] = rows.Unverified
		}
	}
	if h.Docs = append(h.Docs, doc); h.Similarities != nil {
		h.Similarities = append(h.Similarities, similarity)
	}
}

// AllDocs asks for every document of a hit. An empty page's fingerprint may have millions.
const AllDocs = math.MaxInt

// FirstDoc asks for the first document of a hit alone. The others are not counted: Hit.Documents is
// 1. So a fingerprint of very many documents costs a search little more than one of a few.
const FirstDoc = math.MinInt
