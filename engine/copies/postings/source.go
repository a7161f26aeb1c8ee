package postings

import (
	"context"
	"math"

	"golang.org/x/sync/errgroup"

	"ndd/engine/storage/store"
)

// A source is the documents that are compared, in the order in which their sets lie.
type source struct {
	*Builder
	ranks []uint32 // by document; none: it is not among them
}

const none = math.MaxUint32

func (b *Builder) source(docs []uint32) source {
	s := source{b, make([]uint32, len(b.ends))}
	for doc := range s.ranks {
		s.ranks[doc] = none
	}
	for rank, doc := range docs {
		s.ranks[doc] = uint32(rank)
	}
	return s
}

// each calls f with the documents of a range that are compared, and the signatures of each. The error is of ctx.
func (s *source) each(ctx context.Context, docs span, f func(doc int, set []uint64)) error {
	for doc := docs.from; doc < docs.to; doc++ {
		if doc%65536 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if s.ranks[doc] != none {
			f(doc, s.set(uint32(doc)))
		}
	}
	return ctx.Err()
}

// A span is the numbers from one up to another.
type span struct{ from, to int }

// part returns one of so many ranges that the span is divided in.
func (s span) part(i, of int) span {
	n := s.to - s.from
	return span{s.from + n*i/of, s.from + n*(i+1)/of}
}

// spans divides n things of sizes into as many ranges as there are threads, of about the same size together.
func spans(n, threads int, total uint64, size func(i int) uint64) []span {
	all := make([]span, threads)
	at, sum := 0, uint64(0)
	for t := range all {
		all[t].from = at
		for ; at < n && (sum < total/uint64(threads)*uint64(t+1) || t == threads-1); at++ {
			sum += size(at)
		}
		all[t].to = at
	}
	return all
}

// fork calls f with 0, 1 and so on, in as many goroutines, and returns the first error, or that of reading a file that is mapped.
func fork(threads int, f func(thread int) error) error {
	var group errgroup.Group
	for thread := range threads {
		group.Go(func() (err error) {
			defer store.CatchFault(&err)()
			return f(thread)
		})
	}
	return group.Wait()
}
