package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live/memtable"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/version"
	"ndd/engine/index/segment"
)

// ErrNoDocs is wrapped where an index is to be written to, or a document to be deleted, and it
// keeps no documents.
var ErrNoDocs = segment.ErrNoDocs

// A Pool has the searchers of an index.
type Pool struct {
	versions *version.Set
	ratio    float64 // of lengths; see [rows.Lengths]
	pool     sync.Pool
}

// NewPool returns the searchers of an index. ratio is the [rows.Lengths.Ratio] of [Searcher.Query].
func NewPool(versions *version.Set, ratio float64) *Pool {
	p := &Pool{versions: versions, ratio: ratio}
	p.pool.New = func() any {
		return &Searcher{pool: p, ctx: context.Background(), Limits: defaultLimits(), slot: versions.Slot(),
			positions: make([]uint32, 1024)}
	}
	return p
}

// Get returns a searcher, to be given back by [Searcher.Done].
func (p *Pool) Get() *Searcher { return p.pool.Get().(*Searcher) }

// A Searcher searches an index. It has the memory that one goroutine needs for that.
type Searcher struct {
	pool     *Pool
	slot     uint32          // of the readers' counters
	ctx      context.Context // ends searches
	Limits   Limits          // tests set smaller ones
	maxFound int             // matches that a search holds; 0: any number
	first    bool            // only the first document of a hit is asked for, and none is counted
	distinct bool            // a memtable has one match for all documents of a fingerprint
	lengths  rows.Lengths

	matches    []rows.Match
	segments   inSegments
	submission submission
	positions  []uint32
	documents  located
	sorting    sorting
	query      [1]uint64
	ids        version.IDReader
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
	c.lengths, c.first = rows.Lengths{}, false
	c.pool.pool.Put(c)
}

// Slot returns the number by which the searcher counts itself as a reader.
func (c *Searcher) Slot() uint32 { return c.slot }

// View returns a view of the index. The error is [version.ErrClosed].
func (c *Searcher) View() (version.View, error) { return c.pool.versions.View(c.slot) }

// Query returns what the index has within distance k of q, nearest first, equal distances by
// fingerprint, each with the first docs of its documents. textBytes is the length of the query's
// text, 0 where it is not known: then no document is left out for its length. All of the answer is
// held in memory: [Searcher.Stream] gives it piece by piece.
func (c *Searcher) Query(q simhash.Fingerprint, textBytes uint32, k, docs int) ([]Hit, error) {
	w, err := c.View()
	if err != nil {
		return nil, err
	}
	defer w.Release()
	c.query[0] = uint64(q)
	a, err := c.Search(w, c.query[:], k, docs, Swept{}, rows.Lengths{Ratio: c.pool.ratio, Of: []uint32{textBytes}})
	return a.Hits, err
}

// Search answers queries from a view, with what sweeps have found for them already, and without
// what lengths leave out. It holds all hits and their documents.
func (c *Searcher) Search(w version.View, queries []uint64, k, docs int, swept Swept, lengths rows.Lengths) (Answers,
	error) {
	c.lengths = lengths
	docs = c.asked(docs)
	if err := c.find(w, queries, k, swept, 0); err != nil {
		return Answers{}, err
	}
	return c.hits(w, docs)
}

// Hits returns the hits of matches that the caller found in memtables or of its own, of one query,
// each with the first docs of its documents.
func (c *Searcher) Hits(w version.View, matches []rows.Match, docs int, lengths rows.Lengths) (Answers, error) {
	c.lengths, c.matches = lengths, append(c.matches[:0], matches...)
	return c.hits(w, c.asked(docs))
}

// asked notes what documents of each hit a search is asked for, and returns how many they are.
func (c *Searcher) asked(docs int) int {
	if c.first = docs == FirstDoc; c.first {
		return 1
	}
	return docs
}

// ID returns the ID of a document of a view, empty where it has none.
func (c *Searcher) ID(w version.View, doc rows.DocID) (string, error) {
	id, err := c.ids.Doc(w.Version, doc)
	if errors.Is(err, version.ErrNoDocument) {
		return "", nil
	}
	return id, err
}

// find sets c.matches to what segments and memtables have: the workers of some segments search at
// the same time as the caller searches the rest. The error may be [segment.ErrTooMany], where most
// is not 0 and there are more matches than that.
func (c *Searcher) find(w version.View, queries []uint64, k int, swept Swept, most int) error {
	v := w.Version
	c.matches, c.maxFound = c.matches[:0], most
	c.segments.scratch.AtMost(most)
	for _, m := range v.Memtables { // the search of segments hides these misses
		m.PrefetchHeads(queries, k)
	}
	c.submission.submit(c.ctx, v, queries, k, most, swept)
	err := c.findOwn(v, w.Now, queries, k, swept)
	waited := c.submission.wait(func(segment int, m segment.Match) { c.match(segment, queries, m) })
	if err := cmp.Or(err, waited, c.crowded()); err != nil {
		return err
	}
	a := memtable.Search{Clock: w.Clock, Now: w.Now, K: k, Lengths: c.lengths, Positions: c.positions,
		First: c.first || c.distinct, Ctx: c.ctx}
	for i, m := range v.Memtables {
		own := len(c.matches)
		c.matches = m.Search(c.matches, &a, queries, most)
		for j := own; j < len(c.matches) && c.distinct; j++ {
			c.matches[j].Source, c.matches[j].Doc = len(v.Segments)+i, 0
		}
		if err := c.crowded(); err != nil {
			return err
		}
		if err := a.Ended(); err != nil {
			return err
		}
	}
	return nil
}

// crowded returns [segment.ErrTooMany] where there are more matches than may be.
func (c *Searcher) crowded() error {
	if c.maxFound > 0 && len(c.matches) > c.maxFound {
		return segment.ErrTooMany
	}
	return nil
}

// findOwn searches the segments that have no workers.
func (c *Searcher) findOwn(v *version.Version, now rows.Time, queries []uint64, k int, swept Swept) (err error) {
	c.segments.together, c.segments.numbers = c.segments.together[:0], c.segments.numbers[:0]
	for i, s := range v.Segments {
		if swept.of(i) == nil && s.Workers == nil && len(v.Segments) > 1 && s.SearchesEach(len(queries), k) &&
			!s.Expires.All(now) {
			c.segments.together, c.segments.numbers = append(c.segments.together, s.Segment), append(c.segments.numbers, i)
			continue
		}
		if swept.of(i) != nil {
			c.matches = swept.matches(c.matches, i, queries, c.maxFound)
		} else if s.Workers == nil && s.Fingerprints() > 0 && !s.Expires.All(now) {
			if c.segments.found, err = s.Search(c.segments.found[:0], queries, k, &c.segments.scratch); err != nil {
				return fmt.Errorf("segment %d: %w", i, err)
			}
			for _, m := range c.segments.found {
				c.match(i, queries, m)
			}
		}
		if err := c.crowded(); err != nil {
			return err
		}
	}
	return c.findTogether(queries, k)
}

// findTogether searches the segments that findOwn has put together: a few queries in several
// segments, whose misses overlap.
func (c *Searcher) findTogether(queries []uint64, k int) error {
	if len(c.segments.together) == 0 {
		return nil
	}
	err := segment.SearchEach(c.segments.together, queries, k, &c.segments.scratch,
		func(of int, m segment.Match) { c.match(c.segments.numbers[of], queries, m) })
	clear(c.segments.together) // segments are not kept
	return cmp.Or(err, c.crowded())
}

func (c *Searcher) match(segment int, queries []uint64, m segment.Match) {
	c.matches = append(c.matches, rows.NewMatch(m.Query, queries[m.Query], m.Fingerprint, segment))
}

// Limits are what a goroutine holds of answers at a time, whatever the data: a match is 96 bytes
// with what it comes from and what becomes of it, a hit 80, and a document 8.
type Limits struct {
	ChunkMatches  int // of queries that are answered together,
	Chunk         Bound
	StreamMatches int // of a query that is answered alone,
	Piece         Bound
}

// defaultLimits of a goroutine come to some 10 MiB.
func defaultLimits() Limits {
	return Limits{1 << 14, Bound{1 << 14, 1 << 16}, 1 << 16, Bound{1 << 13, 1 << 15}}
}

// A Bound is how many hits and documents are held at a time.
type Bound struct{ Hits, Docs int }
