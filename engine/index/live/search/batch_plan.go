package search

import (
	"cmp"
	"runtime"

	"github.com/dustin/go-humanize"

	"ndd/engine/index/live/version"
	"ndd/engine/memory"
)

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
