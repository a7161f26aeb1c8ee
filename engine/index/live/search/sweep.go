package search

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/dustin/go-humanize"

	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/version"
	"ndd/engine/index/segment"
	"ndd/engine/index/worker"
	"ndd/engine/memory"
)

// Sweeps reports whether a batch of n queries sweeps a segment of the view.
func Sweeps(w version.View, n int) bool {
	return slices.ContainsFunc(w.Version.Segments, func(s *version.Segment) bool { return s.Sweeps(n) })
}

// Swept is what sweeps found: by segment, nothing where it is to be searched. Its zero value has
// nothing.
type Swept struct {
	found []*segment.Found
	first int // query of the chunk
}

// From returns the results of the queries from number n on.
func (s Swept) From(n int) Swept { return Swept{s.found, s.first + n} }

// of returns what the sweep of a segment found, nil when there was none.
func (s Swept) of(segment int) *segment.Found {
	if s.found == nil {
		return nil
	}
	return s.found[segment]
}

// Sweep walks the tables of the segments for which that is faster than searching them, in order,
// once for all queries. It holds at most limit matches; the error may be [segment.ErrTooMany].
func Sweep(ctx context.Context, w version.View, queries []uint64, k, threads, limit int) (Swept, error) {
	swept := Swept{found: make([]*segment.Found, len(w.Version.Segments))}
	for i, s := range w.Version.Segments {
		if !s.Sweeps(len(queries)) {
			continue
		}
		f, err := s.Sweep(ctx, queries, k, threads, limit)
		if err != nil {
			return swept, fmt.Errorf("segment %d: %w", i, err)
		}
		swept.found[i] = f
		limit -= f.Len()
	}
	return swept, nil
}

// matches appends what the sweep of a segment found for the queries of a chunk, up to the one with
// which there are more than most matches, if most is not 0.
func (s Swept) matches(dst []rows.Match, number int, queries []uint64, most int) []rows.Match {
	f := s.of(number)
	for j, q := range queries {
		for _, x := range f.Of(s.first + j) {
			dst = append(dst, rows.NewMatch(j, q, x, number))
		}
		if most > 0 && len(dst) > most {
			break
		}
	}
	return dst
}

// submission is what a search hands to the workers of some segments.
type submission struct {
	request  worker.Request
	segments []*worker.Segment
	numbers  []int // theirs in the version
	matches  []worker.Match
}

// submit hands the queries to the workers of every segment that has some and that no sweep has
// answered. Their search ends as that of the caller does.
func (a *submission) submit(ctx context.Context, v *version.Version, queries []uint64, k, most int, done Swept) {
	a.segments, a.numbers = a.segments[:0], a.numbers[:0]
	for i, s := range v.Segments {
		if s.Workers != nil && done.of(i) == nil {
			a.segments = append(a.segments, s.Workers)
			a.numbers = append(a.numbers, i)
		}
	}
	if len(a.segments) > 0 {
		a.request.Submit(ctx, a.segments, queries, k, most)
	}
}

// wait calls found with each match of the submitted queries, and its segment's number.
func (a *submission) wait(found func(segment int, m segment.Match)) (err error) {
	if len(a.segments) == 0 {
		return nil
	}
	a.matches, err = a.request.Wait(a.matches[:0])
	for _, m := range a.matches {
		found(a.numbers[m.Segment], m.Match)
	}
	clear(a.segments) // a pooled searcher keeps no segment that is gone
	return err
}

const (
	// BatchChunk is how many queries of a batch a goroutine answers together: enough to share the
	// misses of a table among their probes, few enough for results to flow.
	BatchChunk = 256

	// BatchSweep is how many queries are swept at a time at most.
	BatchSweep = 4 << 20
)

// A BatchPlan is how a batch will be answered, and the memory that it will take, in bytes, at most,
// beside the index and the queries, whatever these find.
type BatchPlan struct {
	Queries int
	Threads int    // at a time
	Orders  uint64 // the queries in the order of a table that is swept; 0 when none is
	Matches uint64 // of a sweep; where there are more, fewer queries are swept at a time
	Answers uint64 // on their way, and what goroutines work in

	MatchBytes uint64 // for the matches of a sweep, if there is one
}

// Bytes returns the whole.
func (p *BatchPlan) Bytes() uint64 { return p.Orders + p.Matches + p.Answers }

const (
	sweepMemory      = 1 << 30
	sweepMemoryLeast = 32 << 20

	// Twice the memory in use: the collector lets the heap grow to that.
	orderBytes   = 2 * 40 // a query
	matchBytes   = 2 * 32 // a match, while the list of them grows, and while they are put in order
	answersBytes = 32 << 20
)

// PlanBatch returns how a batch of queries is answered in the memory that the budget has left: with
// at most the given threads (0: one for each processor), fewer if memory is short, and with
// matchBytes for the matches of a sweep (0: a quarter of the budget, at most 1 GiB). It reserves
// nothing: [BatchPlan.Reserve] does.
func PlanBatch(w version.View, queries, threads int, matchBytes uint64, b *memory.Budget) BatchPlan {
	left := b.Left()
	p := BatchPlan{Queries: queries, Threads: cmp.Or(max(threads, 0), runtime.GOMAXPROCS(0)),
		MatchBytes: cmp.Or(matchBytes, min(max(left/4, sweepMemoryLeast), sweepMemory))}
	if n := min(queries, BatchSweep); Sweeps(w, n) {
		p.Orders, p.Matches = uint64(n)*orderBytes, p.MatchBytes
	}
	chunks := (queries + BatchChunk - 1) / BatchChunk
	for ; ; p.Threads-- {
		p.Answers = uint64(min(p.Threads, chunks)) * answersBytes
		if p.Threads == 1 || p.Bytes() <= left {
			return p
		}
	}
}

// MostMatches returns how many matches a sweep may hold.
func (p *BatchPlan) MostMatches() uint64 { return p.MatchBytes / matchBytes }

// Reserve takes the memory of a batch that sweeps from the budget. The error is a
// [memory.TooLargeError]. So few queries that there is no sweep take next to nothing, and nothing
// is reserved for them.
func (p *BatchPlan) Reserve(b *memory.Budget) (*memory.Reservation, error) {
	if p.Orders == 0 {
		return nil, nil
	}
	return b.Reserve("answering "+humanize.Comma(int64(p.Queries))+" queries", p.Bytes())
}
