package search

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live/memtable"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/storage/store"
)

// Query returns the fingerprints within distance k of q, nearest first, equal distances by fingerprint, each with the
// first docs of the documents that the verifier accepts. It holds the whole answer in memory: [Searcher.Stream] returns
// it piece by piece.
func (c *Searcher) Query(q simhash.Fingerprint, k, docs int, verifier rows.Verifier) ([]Hit, error) {
	w, err := c.View()
	if err != nil {
		return nil, err
	}
	defer w.Release()
	c.query[0] = uint64(q)
	a, err := c.Search(w, c.query[:], k, docs, SweepResult{}, verifier)
	return a.Hits, err
}

// Search answers queries from a view, using the results of sweeps, without documents that the verifier refuses. It
// holds all hits and their documents in memory.
func (c *Searcher) Search(w version.View, queries []uint64, k, docs int, sweeps SweepResult, verifier rows.Verifier) (Answers,
	error) {
	c.verifier = verifier
	docs = c.setDocs(docs)
	if err := c.find(w, queries, k, sweeps, 0); err != nil {
		return Answers{}, err
	}
	return c.hits(w, docs)
}

// Hits returns the hits of one query. Its matches are from memtables, or from documents that the caller is inserting.
// Each hit lists at most docs documents.
func (c *Searcher) Hits(w version.View, matches []rows.Match, docs int, verifier rows.Verifier) (Answers, error) {
	c.verifier, c.matches = verifier, append(c.matches[:0], matches...)
	return c.hits(w, c.setDocs(docs))
}

// ID returns the ID of a document of a view, empty if it has none.
func (c *Searcher) ID(w version.View, doc rows.DocID) (string, error) {
	id, err := c.ids.Doc(w.Version, doc)
	if errors.Is(err, version.ErrNoDocument) {
		return "", nil
	}
	return id, err
}

// find sets c.matches to the matches in segments and memtables. The workers of some segments search while the caller
// searches the others. If limit is not 0 and there are more matches, it may fail with [segment.ErrTooMany].
func (c *Searcher) find(w version.View, queries []uint64, k int, sweeps SweepResult, limit int) error {
	v := w.Version
	c.matches, c.maxFound = c.matches[:0], limit
	c.segments.scratch.LimitMatches(limit)
	for _, m := range v.Memtables { // the search of segments hides these misses
		m.PrefetchHeads(queries, k)
	}
	c.submission.submit(c.ctx, v, queries, k, limit, sweeps)
	err := c.findOwn(v, w.Now, queries, k, sweeps)
	errWait := c.submission.wait(func(segment int, m segment.Match) { c.match(segment, queries, m) })
	if err := cmp.Or(err, errWait, c.crowded()); err != nil {
		return err
	}
	a := memtable.Search{Moment: w.Moment, Now: w.Now, K: k, Verifier: c.verifier, Positions: c.positions,
		First: c.first || c.distinct, Ctx: c.ctx}
	for i, m := range v.Memtables {
		start := len(c.matches)
		c.matches = m.Search(c.matches, &a, queries, limit)
		for j := start; j < len(c.matches) && c.distinct; j++ {
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

// crowded returns [segment.ErrTooMany] if there are too many matches.
func (c *Searcher) crowded() error {
	if c.maxFound > 0 && len(c.matches) > c.maxFound {
		return segment.ErrTooMany
	}
	return nil
}

// findOwn searches the segments without workers.
func (c *Searcher) findOwn(v *version.Version, now rows.Time, queries []uint64, k int, sweeps SweepResult) (err error) {
	c.segments.selected, c.segments.numbers = c.segments.selected[:0], c.segments.numbers[:0]
	for i, s := range v.Segments {
		if sweeps.resultOf(i) == nil && s.WorkersOf(len(queries)) == nil && len(v.Segments) > 1 && s.SearchesEach(len(queries), k) &&
			!s.Expires.All(now) {
			c.segments.selected, c.segments.numbers = append(c.segments.selected, s.Segment), append(c.segments.numbers, i)
			continue
		}
		if sweeps.resultOf(i) != nil {
			c.matches = sweeps.matches(c.matches, i, queries, c.maxFound)
		} else if s.WorkersOf(len(queries)) == nil && s.Fingerprints() > 0 && !s.Expires.All(now) {
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

// findTogether searches the segments that findOwn has selected at the same time: for a few queries, their misses
// overlap.
func (c *Searcher) findTogether(queries []uint64, k int) error {
	if len(c.segments.selected) == 0 {
		return nil
	}
	err := segment.SearchEach(c.segments.selected, queries, k, &c.segments.scratch,
		func(number int, m segment.Match) { c.match(c.segments.numbers[number], queries, m) })
	clear(c.segments.selected) // segments are not kept
	return cmp.Or(err, c.crowded())
}

func (c *Searcher) match(segment int, queries []uint64, m segment.Match) {
	c.matches = append(c.matches, rows.NewMatch(m.Query, queries[m.Query], m.Fingerprint, segment))
}

// QueryBytes is the peak memory of [Searcher.Stream]: twice the memory in use, because of the garbage collector.
const QueryBytes = 32 << 20

// SearchSome answers the first n queries from a view, using the results of sweeps, without documents that the verifier
// refuses. n is the number of queries whose hits and documents fit in 2 MiB. It is 0 if the first query alone has more;
// [Searcher.Stream] then answers that query.
func (c *Searcher) SearchSome(w version.View, queries []uint64, k, docs int, sweeps SweepResult,
	verifier rows.Verifier) (a Answers, n int, err error) {
	c.verifier = verifier
	docs = c.setDocs(docs)
	for n = len(queries); n > 0; n /= 2 {
		err := c.find(w, queries[:n], k, sweeps, c.Limits.ChunkMatches)
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
			n = c.matches[next].Query // only earlier queries are complete
			i, _ := slices.BinarySearch(a.queries, n)
			a.Hits, a.queries = a.Hits[:i], a.queries[:i]
		}
		return a, n, err
	}
	return Answers{}, 0, nil
}

// ErrDense is wrapped if a query finds more fingerprints than fit in memory.
var ErrDense = errors.New("too many near fingerprints")

// Stream answers one query from a view as [Searcher.Query] does, in 16 MiB of memory: it calls emit with some hits at a
// time, in order. If a hit has too many documents for one call, several calls have its documents one after the other,
// and Offset is the number of documents in earlier calls. The error wraps [ErrDense] if more than
// [Limits.StreamMatches] fingerprints are near. With a distance up to 3, only several segments together can have so
// many.
//
// The first sketch of the verifier is the sketch of the query.
func (c *Searcher) Stream(
	w version.View, q simhash.Fingerprint, verifier rows.Verifier, k, docs int, emit func([]Hit) error,
) error {
	c.query[0], c.verifier = uint64(q), verifier
	docs = c.setDocs(docs)
	err := c.find(w, c.query[:], k, SweepResult{}, c.Limits.StreamMatches)
	if errors.Is(err, segment.ErrTooMany) { // perhaps many documents of few fingerprints
		c.distinct = true
		err = c.find(w, c.query[:], k, SweepResult{}, c.Limits.StreamMatches)
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

// emit calls emit with the hits of all matches, which belong to one query.
func (c *Searcher) emit(w version.View, docs int, emit func([]Hit) error) error {
	if err := c.locate(w, docs); err != nil {
		return err
	}
	for start := 0; start < len(c.matches); {
		a, next, err := c.collect(w, start, docs, c.Limits.Piece)
		if err == nil && len(a.Hits) > 0 {
			err = emit(a.Hits)
		}
		if err == nil && next == start {
			next = c.groupEnd(start)
			err = c.emitLarge(w, start, next, docs, emit)
		}
		if err != nil {
			return err
		}
		start = next
	}
	return nil
}

// emitLarge calls emit with the hit of matches [first, end), with a part of its documents at a time.
func (c *Searcher) emitLarge(w version.View, first, end, docs int, emit func([]Hit) error) (err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	h, err := c.hit(w, first, end)
	if err != nil {
		return err
	}
	remaining := min(h.Documents, uint64(docs))
	var failed error
	err = c.eachDoc(w, first, end, func(doc rows.DocID, similarity float32) bool {
		if h.Docs == nil {
			h.Docs = make([]rows.DocID, 0, min(remaining, uint64(c.Limits.Piece.Docs)))
		}
		if h.add(doc, similarity); len(h.Docs) < cap(h.Docs) {
			return true
		}
		n := uint64(len(h.Docs))
		if failed = c.ctx.Err(); failed == nil {
			failed = emit([]Hit{h})
		}
		h.Offset += n
		remaining -= n
		h.Docs, h.Similarities = nil, nil
		return failed == nil && remaining > 0
	})
	if failed != nil {
		return failed
	}
	return err
}
