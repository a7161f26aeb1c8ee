package live

import (
	"errors"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/segment"
	"ndd/engine/storage/store"
)

// limits are what a goroutine holds of answers at a time, whatever the data: a match is 96 bytes with what it
// comes from and what becomes of it, a hit 80, and a document 8.
type limits struct {
	chunkMatches  int // of queries that are answered together,
	chunk         bound
	streamMatches int // of a query that is answered alone, unless it has more,
	piece         bound
	nearest       int // fingerprints that a pass picks, until they are cut down to half as many
}

// defaultLimits of a goroutine come to some 10 MiB.
func defaultLimits() limits {
	return limits{1 << 14, bound{1 << 14, 1 << 16}, 1 << 16, bound{1 << 13, 1 << 15}, 1 << 20}
}

// QueryBytes is what [Searcher.Stream] takes of memory at most, whatever it finds: twice what is in use, as the
// collector lets the heap grow to that.
const QueryBytes = 32 << 20

// SearchSome answers the first of the queries from a view, with what sweeps have found for them already, and without what lengths
// leave out: n of them, all or as many as have so few hits and documents that these are held in 2 MiB. n is 0 where
// the first query alone has more: [Searcher.Stream] answers that.
func (c *Searcher) SearchSome(w View, queries []uint64, k, docs int, swept Swept, lengths Lengths) (a Answers, n int, err error) {
	c.lengths = lengths
	docs = c.asked(docs)
	for n = len(queries); n > 0; n /= 2 {
		err := c.find(w, queries[:n], k, swept, c.limits.chunkMatches)
		if errors.Is(err, segment.ErrTooMany) {
			continue
		}
		if err == nil {
			err = c.locate(w, docs)
		}
		if err != nil {
			return Answers{}, 0, err
		}
		a, next, err := c.collect(w, 0, docs, c.limits.chunk)
		if err == nil && next < len(c.matches) {
			n = c.matches[next].query // those before it are whole
			a.cut(n)
		}
		return a, n, err
	}
	return Answers{}, 0, nil
}

// Stream answers one query from a view as [Searcher.Query] does, however many hits and documents it
// has: it calls emit with some hits at a time, in order. A hit that has too many documents for one call comes in
// several, each with its next documents, and Before says how many came before them. Memory is 16 MiB at most;
// of more than a million hits, it costs a pass over the index for each million.
//
// lengths are those of the query, the first of them.
func (c *Searcher) Stream(w View, q simhash.Fingerprint, lengths Lengths, k, docs int, emit func([]Hit) error) error {
	c.query[0], c.lengths = uint64(q), lengths
	docs = c.asked(docs)
	err := c.find(w, c.query[:], k, Swept{}, c.limits.streamMatches)
	if errors.Is(err, segment.ErrTooMany) {
		return c.streamNearest(w, k, docs, emit)
	}
	if err != nil {
		return err
	}
	return c.emit(w, docs, emit)
}

// emit calls emit with the hits of all matches, which are of one query.
func (c *Searcher) emit(w View, docs int, emit func([]Hit) error) error {
	if err := c.locate(w, docs); err != nil {
		return err
	}
	for at := 0; at < len(c.matches); {
		a, next, err := c.collect(w, at, docs, c.limits.piece)
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
func (c *Searcher) emitLarge(w View, from, to, docs int, emit func([]Hit) error) (err error) {
	defer store.CatchFault(&err)()
	h, err := c.hit(w, from, to)
	if err != nil {
		return err
	}
	left := min(h.Documents, uint64(docs))
	var failed error
	err = c.eachDoc(w, from, to, func(doc DocID) bool {
		if h.Docs == nil {
			h.Docs = make([]DocID, 0, min(left, uint64(c.limits.piece.docs)))
		}
		if h.Docs = append(h.Docs, doc); len(h.Docs) < cap(h.Docs) {
			return true
		}
		n := uint64(len(h.Docs))
		if failed = c.ended(); failed == nil {
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

// ended returns the error of the context that ends searches.
func (c *Searcher) ended() error {
	if c.ctx == nil {
		return nil
	}
	return c.ctx.Err()
}
