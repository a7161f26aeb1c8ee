package scan

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"ndd/asm"
	"ndd/engine/offheap"
)

// Space is how much memory an answer takes, at most, in bytes.
type Space struct {
	Queries int    // answered at a time; F is read once for each so many
	Tables  uint64 // of these queries
	Chunks  uint64 // of F: what is mapped at a time, and its piles
	Hits    uint64 // beyond which they go to files; or of marks, where they are counted
	Plain   bool   // no sieve, since that takes memory
}

// Total is all of it.
func (s *Space) Total() uint64 { return s.Tables + s.Chunks + s.Hits }

const (
	// hitsMost and hitsLeast bound the memory for hits, a quarter of what there is.
	hitsMost  = 1 << 30
	hitsLeast = 64 << 10
	// partQueries are the fewest queries for which F is read again.
	partQueries = 1 << 10
)

// Plan says how queries for distance k are answered in o.Memory bytes: all at a time,
// or some. streamed says that F is not in memory or mapped already. The error wraps
// [offheap.ErrTooLarge].
func Plan(queries, k int, streamed bool, o Options) (s Space, err error) {
	o.setDefaults()
	for s.Queries = queries; ; s.Queries = (s.Queries + 1) / 2 {
		if s.Hits = min(max(o.Memory/4, hitsLeast), hitsMost); o.Counted {
			s.Hits = marksBytes(s.Queries)
		}
		for _, s.Plain = range []bool{false, true} {
			s.Tables, s.Chunks = space(job{s.Queries, k, o.Fingerprints, s.Plain}, o.Threads)
			if streamed {
				s.Chunks += uint64(o.Threads+1) * 8 * chunkPrints
			}
			if s.Queries <= queriesMax && s.Total() <= o.Memory {
				return s, nil
			}
		}
		if s.Queries <= partQueries {
			limit := offheap.Limit{Bytes: o.Memory, Source: "for queries, fingerprints and hits"}
			return s, limit.Check(fmt.Sprintf("answering %d queries at a time", s.Queries), s.Total())
		}
	}
}

// space is the memory of tables and of the mappers.
func space(w job, threads int) (tables, mappers uint64) {
	p := choose(w)
	piles := 0
	for _, g := range p.groups {
		for _, l := range g.layouts {
			tables += 2 * l.bytes // which query a lane has, too
			piles = max(piles, l.words())
		}
	}
	// The numbers of queries, and pairs while they are sorted, which takes as many again.
	tables += uint64(w.queries) * (16 + 2*16)
	if p.bits > 0 {
		tables += 3*1<<(p.bits-3) + 16*uint64(w.queries) // two maps, one of them while it is made; keys
		piles += asm.HalvesWords(p.halves()) + 1<<siftedBits*3/2
	}
	return tables, uint64(threads) * (uint64(8*piles) + 256<<10)
}

// Answer yields every hit of the queries against F, in order: row of Q, distance,
// fingerprint, row of F. open gives F from its beginning, more than once where the
// queries do not fit in o.Memory together. After an error, which may be that of ctx,
// there is nothing more.
func Answer(ctx context.Context, open func() (Source, error), queries []uint64, k int, s Space, o Options) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		stopped := errors.New("stopped")
		err := inParts(open, queries, k, s, o, func(t *Tables, f Source, o Options) error {
			hits, err := t.Run(ctx, f, o)
			if err != nil {
				return err
			}
			defer hits.Close()
			for h, err := range hits.All(ctx) {
				if err != nil {
					return err
				}
				if !yield(h, nil) {
					return stopped
				}
			}
			return hits.Close()
		})
		if err != nil && !errors.Is(err, stopped) {
			yield(Hit{}, err)
		}
	}
}

// inParts calls part with tables of as many of the queries as fit, and F from its beginning, until
// all are done.
func inParts(open func() (Source, error), queries []uint64, k int, s Space, o Options, part func(*Tables, Source, Options) error) error {
	o.setDefaults()
	o.Memory = s.Hits
	for first := 0; first < len(queries); first += s.Queries {
		o.First = uint64(first)
		if err := onePart(open, queries[first:min(first+s.Queries, len(queries))], k, s, o, part); err != nil {
			return err
		}
	}
	return nil
}

func onePart(open func() (Source, error), queries []uint64, k int, s Space, o Options, part func(*Tables, Source, Options) error) error {
	t, err := New(queries, Making{K: k, Threads: o.Threads, Fingerprints: o.Fingerprints, Plain: s.Plain})
	if err != nil {
		return err
	}
	defer t.Close()
	f, err := open()
	if err != nil {
		return err
	}
	return part(t, f, o)
}
