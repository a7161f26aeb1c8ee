package search

import (
	"errors"
	"fmt"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/version"
	"ndd/engine/index/segment"
	"ndd/engine/storage/store"
)

// QueryBytes is the most memory that [Searcher.Stream] takes: twice the memory in use, as the
// collector lets the heap grow to that.
const QueryBytes = 32 << 20

// SearchSome answers the first of the queries from a view, with what sweeps have found for them
// already, and without what lengths leave out: n of them, all or as many as have so few hits and
// documents that these are held in 2 MiB. n is 0 where the first query alone has more:
// [Searcher.Stream] answers that.
func (c *Searcher) SearchSome(w version.View, queries []uint64, k, docs int, swept Swept,
	lengths rows.Lengths) (a Answers, n int, err error) {
	c.lengths = lengths
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
// lengths are those of the query, the first of them.
func (c *Searcher) Stream(
	w version.View, q simhash.Fingerprint, lengths rows.Lengths, k, docs int, emit func([]Hit) error,
) error {
	c.query[0], c.lengths = uint64(q), lengths
	docs = c.asked(docs)
	err := c.find(w, c.query[:], k, Swept{}, c.Limits.StreamMatches)
	if errors.Is(err, segment.ErrTooMany) { // perhaps many documents of few fingerprints
		c.distinct = true
		err = c.find(w, c.query[:], k, Swept{}, c.Limits.StreamMatches)
		c.distinct = false
	}
	if errors.Is(err, segment.ErrTooMany) {
		return fmt.Errorf("%w: more than %d are within k = %d of %v: use a smaller k, or 'ndd batch --scan'", ErrDense,
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
	err = c.eachDoc(w, from, to, func(doc rows.DocID) bool {
		if h.Docs == nil {
			h.Docs = make([]rows.DocID, 0, min(left, uint64(c.Limits.Piece.Docs)))
		}
		if h.Docs = append(h.Docs, doc); len(h.Docs) < cap(h.Docs) {
			return true
		}
		n := uint64(len(h.Docs))
		if failed = c.ctx.Err(); failed == nil {
			failed = emit([]Hit{h})
		}
		h.Before += n
		left -= n
		h.Docs = nil
		return failed == nil && left > 0
	})
	if failed != nil {
		return failed
	}
	return err
}
