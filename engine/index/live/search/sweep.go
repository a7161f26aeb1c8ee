package search

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/dustin/go-humanize"

	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/worker"
	"example.org/ndd/engine/memory"
)

// Sweeps reports whether a batch of n queries sweeps a segment of the view.
func Sweeps(w version.View, n int) bool {
	return slices.ContainsFunc(w.Version.Segments, func(s *version.Segment) bool { return s.Sweeps(n) })
}

// SweepResult holds the results of sweeps for each segment. Segments without results are searched. Its zero value has
// none.
type SweepResult struct {
	lists []*segment.MatchLists
	first int // number of the chunk's first query
}

// Skip returns the results of the queries from number n on.
func (s SweepResult) Skip(n int) SweepResult { return SweepResult{s.lists, s.first + n} }

// resultOf returns the result of the sweep of a segment, nil if there was none.
func (s SweepResult) resultOf(segment int) *segment.MatchLists {
	if s.lists == nil {
		return nil
	}
	return s.lists[segment]
}

// Sweep sweeps the segments for which this is faster than searching. It holds at most limit matches, and may fail with
// [segment.ErrTooMany].
func Sweep(ctx context.Context, w version.View, queries []uint64, k, threads, limit int) (SweepResult, error) {
	result := SweepResult{lists: make([]*segment.MatchLists, len(w.Version.Segments))}
	for i, s := range w.Version.Segments {
		if !s.Sweeps(len(queries)) {
			continue
		}
		f, err := s.Sweep(ctx, queries, k, threads, limit)
		if err != nil {
			return result, fmt.Errorf("segment %d: %w", i, err)
		}
		result.lists[i] = f
		limit -= f.Len()
	}
	return result, nil
}

// matches appends the matches of a segment's sweep for the queries of a chunk. If limit is not 0,
// it stops after the first query that exceeds limit.
func (s SweepResult) matches(dst []rows.Match, number int, queries []uint64, limit int) []rows.Match {
	f := s.resultOf(number)
	for j, q := range queries {
		for _, x := range f.Fingerprints(s.first + j) {
			dst = append(dst, rows.NewMatch(j, q, x, number))
		}
		if limit > 0 && len(dst) > limit {
			break
		}
	}
	return dst
}

// submission is the part of a search that workers do.
type submission struct {
	request  worker.Request
	segments []*worker.Segment
	numbers  []int // numbers of the segments in the version
	matches  []worker.Match
}

// submit passes the queries, if they are many, to the workers of every segment that has workers and no sweep result.
// Their search ends with the search of the caller.
func (a *submission) submit(ctx context.Context, v *version.Version, queries []uint64, k, limit int, done SweepResult) {
	a.segments, a.numbers = a.segments[:0], a.numbers[:0]
	for i, s := range v.Segments {
		if workers := s.WorkersOf(len(queries)); workers != nil && done.resultOf(i) == nil {
			a.segments = append(a.segments, workers)
			a.numbers = append(a.numbers, i)
		}
	}
	if len(a.segments) > 0 {
		a.request.Submit(ctx, a.segments, queries, k, limit)
	}
}

// wait calls found with each match of the submitted queries and the number of its segment.
func (a *submission) wait(found func(segment int, m segment.Match)) (err error) {
	if len(a.segments) == 0 {
		return nil
	}
	a.matches, err = a.request.Wait(a.matches[:0])
	for _, m := range a.matches {
		found(a.numbers[m.Segment], m.Match)
	}
	clear(a.segments) // a pooled searcher must not keep closed segments
	return err
}

const (
	// BatchChunk is the number of queries of a batch that a goroutine answers together: enough for probes to share the
	// misses of a table, and few enough for results to flow.
	BatchChunk = 256

	// BatchSweep is the maximum number of queries of a sweep.
	BatchSweep = 4 << 20
)

// A BatchPlan describes how a batch is answered. It bounds the memory in bytes, in addition to the index and the
// queries, whatever the answers are.
type BatchPlan struct {
	Queries int
	Threads int    // maximum number of goroutines
	Orders  uint64 // memory for the queries in the order of a table; 0 without a sweep
	Matches uint64 // memory for the matches of a sweep; 0 without a sweep. With more matches, sweeps have fewer queries
	Answers uint64 // memory for answers and the working memory of goroutines

	MatchBytes uint64 // limit of Matches, if there is a sweep
}

// Bytes returns the total.
func (p *BatchPlan) Bytes() uint64 { return p.Orders + p.Matches + p.Answers }

const (
	sweepMemory    = 1 << 30
	sweepMemoryMin = 32 << 20

	// Twice the memory in use, because of the garbage collector.
	orderBytes   = 2 * 40 // per query
	matchBytes   = 2 * 32 // per match, while their list grows and while they are sorted
	answersBytes = 32 << 20
)

// PlanBatch returns how a batch of queries is answered in the free memory of the budget: with at most the given threads
// (0 means one per processor), fewer if memory is short, and with matchBytes for the matches of a sweep (0 means a
// quarter of the free memory, at most 1 GiB). It reserves nothing: see [BatchPlan.Reserve].
func PlanBatch(w version.View, queries, threads int, matchBytes uint64, b *memory.Budget) BatchPlan {
	available := b.Free()
	p := BatchPlan{Queries: queries, Threads: cmp.Or(max(threads, 0), runtime.GOMAXPROCS(0)),
		MatchBytes: cmp.Or(matchBytes, min(max(available/4, sweepMemoryMin), sweepMemory))}
	if n := min(queries, BatchSweep); Sweeps(w, n) {
		p.Orders, p.Matches = uint64(n)*orderBytes, p.MatchBytes
	}
	chunks := (queries + BatchChunk - 1) / BatchChunk
	for ; ; p.Threads-- {
		p.Answers = uint64(min(p.Threads, chunks)) * answersBytes
		if p.Threads == 1 || p.Bytes() <= available {
			return p
		}
	}
}

// MatchesMax returns the maximum number of matches of a sweep.
func (p *BatchPlan) MatchesMax() uint64 { return p.MatchBytes / matchBytes }

// Reserve reserves the memory of a batch that sweeps. It may fail with a [memory.TooLargeError]. Without a sweep it
// reserves nothing, because a few queries need little memory.
func (p *BatchPlan) Reserve(b *memory.Budget) (*memory.Reservation, error) {
	if p.Orders == 0 {
		return nil, nil
	}
	return b.Reserve("answering "+humanize.Comma(int64(p.Queries))+" queries", p.Bytes())
}
