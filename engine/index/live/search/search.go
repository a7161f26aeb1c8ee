package search

import (
	"cmp"
	"errors"
	"fmt"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live/memtable"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/version"
	"ndd/engine/index/segment"
	"ndd/engine/storage/store"
)

// Query returns what the index has within distance k of q, nearest first, equal distances by
// fingerprint, each with the first docs of its documents, as far as the verifier accepts them. All of
// the answer is held in memory: [Searcher.Stream] gives it piece by piece.
func (c *Searcher) Query(q simhash.Fingerprint, k, docs int, verifier rows.Verifier) ([]Hit, error) {
	w, err := c.View()
	if err != nil {
		return nil, err
	}
	defer w.Release()
	c.query[0] = uint64(q)
	a, err := c.Search(w, c.query[:], k, docs, Swept{}, verifier)
	return a.Hits, err
}

// Search answers queries from a view, with what sweeps have found for them already, and without
// documents that the verifier refuses. It holds all hits and their documents.
func (c *Searcher) Search(w version.View, queries []uint64, k, docs int, swept Swept, verifier rows.Verifier) (Answers,
	error) {
	c.verifier = verifier
	docs = c.asked(docs)
	if err := c.find(w, queries, k, swept, 0); err != nil {
		return Answers{}, err
	}
	return c.hits(w, docs)
}

// Hits returns the hits of matches that the caller found in memtables or of its own, of one query,
// each with the first docs of its documents.
func (c *Searcher) Hits(w version.View, matches []rows.Match, docs int, verifier rows.Verifier) (Answers, error) {
	c.verifier, c.matches = verifier, append(c.matches[:0], matches...)
	return c.hits(w, c.asked(docs))
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
	a := memtable.Search{Moment: w.Moment, Now: w.Now, K: k, Verifier: c.verifier, Positions: c.positions,
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

// QueryBytes is the most memory that [Searcher.Stream] takes: twice the memory in use, as the
// collector lets the heap grow to that.
const QueryBytes = 32 << 20

// SearchSome answers the first of the queries from a view, with what sweeps have found for them
// already, and without documents that the verifier refuses: n of them, all or as many as have so few
// hits and documents that these are held in 2 MiB. n is 0 where the first query alone has more:
// [Searcher.Stream] answers that.
func (c *Searcher) SearchSome(w version.View, queries []uint64, k, docs int, swept Swept,
	verifier rows.Verifier) (a Answers, n int, err error) {
	c.verifier = verifier
	docs = c.asked(docs)
	for n = len(queries); n > 0; n /= 2 {
		err := c.find(w, queries[:n], k, swept, c.Limits.ChunkMatches)
		if errors.Is(err, segment.ErrTooMany) {
			continue
		}
		if err == nil {
			err = c.locate(w, docs)
		}
		if err != nil {
			return Answers{}, 0, err
		}
		a, next, err := c.collect(w, 0, docs, c.Limits.Chunk)
		if err == nil && next < len(c.matches) {
			n = c.matches[next].Query // those before it are whole
			a.cut(n)
		}
		return a, n, err
	}
	return Answers{}, 0, nil
}

// ErrDense is wrapped where a query finds more fingerprints than are held in memory.
var ErrDense = errors.New("too many near fingerprints")

// Stream answers one query from a view as [Searcher.Query] does, in 16 MiB of memory: it calls emit
// with some hits at a time, in order. A hit that has too many documents for one call comes in
// several, each with its next documents, and Before says how many came before them. The error wraps
// [ErrDense] if more fingerprints are near than [Limits.StreamMatches]; of a distance up to 3 only
// several segments together have as many.
//
// The verifier has the sketch of the query as its first one.
func (c *Searcher) Stream(
	w version.View, q simhash.Fingerprint, verifier rows.Verifier, k, docs int, emit func([]Hit) error,
) error {
	c.query[0], c.verifier = uint64(q), verifier
	docs = c.asked(docs)
	err := c.find(w, c.query[:], k, Swept{}, c.Limits.StreamMatches)
	if errors.Is(err, segment.ErrTooMany) { // perhaps many documents of few fingerprints
		c.distinct = true
		err = c.find(w, c.query[:], k, Swept{}, c.Limits.StreamMatches)
		c.distinct = false
	}
	if errors.Is(err, segment.ErrTooMany) {
		return fmt.Errorf("%w: more than %d are within k = %d of %v: use a smaller k", ErrDense,
			c.Limits.StreamMatches, k, q)
	}
	if err != nil {
		return err
	}
	return c.emit(w, docs, emit)
}

// emit calls emit with the hits of all matches, which are of one query.
func (c *Searcher) emit(w version.View, docs int, emit func([]Hit) error) error {
	if err := c.locate(w, docs); err != nil {
		return err
	}
	for at := 0; at < len(c.matches); {
		a, next, err := c.collect(w, at, docs, c.Limits.Piece)
		if err == nil && len(a.Hits) > 0 {
			err = emit(a.Hits)
		}
		if err == nil && next == at {
			next = c.groupEnd(at)
			err = c.emitLarge(w, at, next, docs, emit)
		}
		if err != nil {
			return err
		}
		at = next
	}
	return nil
}

// emitLarge calls emit with the hit of matches [from, to), with some of its documents at a time.
func (c *Searcher) emitLarge(w version.View, from, to, docs int, emit func([]Hit) error) (err error) {
	defer store.CatchFault(&err)()
	h, err := c.hit(w, from, to)
	if err != nil {
		return err
	}
	left := min(h.Documents, uint64(docs))
	var failed error
	err = c.eachDoc(w, from, to, func(doc rows.DocID, similarity float32) bool {
		if h.Docs == nil {
			h.Docs = make([]rows.DocID, 0, min(left, uint64(c.Limits.Piece.Docs)))
		}
		if h.add(doc, similarity); len(h.Docs) < cap(h.Docs) {
			return true
		}
		n := uint64(len(h.Docs))
		if failed = c.ctx.Err(); failed == nil {
			failed = emit([]Hit{h})
		}
		h.Before += n
		left -= n
		h.Docs, h.Similarities = nil, nil
		return failed == nil && left > 0
	})
	if failed != nil {
		return failed
	}
	return err
}
