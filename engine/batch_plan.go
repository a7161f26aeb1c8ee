package engine

import (
	"cmp"
	"runtime"

	"github.com/dustin/go-humanize"

	"ndd/engine/index/live"
	"ndd/engine/memory"
)

// A BatchPlan is how a batch will be answered, and the memory that it will take, in bytes, at most,
// beside the index and the queries, whatever these find.
type BatchPlan struct {
	Queries int
	Threads int    // at a time
	Orders  uint64 // the queries in the order of a table that is swept; 0 when none is
	Matches uint64 // of a sweep; where there are more, fewer queries are swept at a time
	Answers uint64 // on their way, and what goroutines work in

	matchBytes uint64
}

// Bytes returns the whole.
func (p *BatchPlan) Bytes() uint64 { return p.Orders + p.Matches + p.Answers }

// PlanBatch returns how [Index.Batch] will answer so many queries in the memory that o.Budget has
// left: by fewer goroutines where it is little. The error is a [memory.TooLargeError] when a sweep
// does not fit even so, or [ErrClosed]. So few queries that there is no sweep take next to nothing,
// and are not refused.
func (x *Index) PlanBatch(queries int, o BatchOptions) (BatchPlan, error) {
	w, err := x.live.View()
	if err != nil {
		return BatchPlan{}, err
	}
	defer w.Release()
	p := planBatch(w, queries, o)
	r, err := p.reserve(o.Budget)
	r.Release()
	return p, err
}

const (
	sweepMemory      = 1 << 30
	sweepMemoryLeast = 32 << 20

	// Twice what is in use, as the collector lets the heap grow to that.
	orderBytes   = 2 * 40 // a query
	matchBytes   = 2 * 32 // a match, while the list of them grows, and while they are put in order
	answersBytes = 32 << 20
)

// planBatch is [Index.PlanBatch] of a view of the index, without a refusal.
func planBatch(w live.View, queries int, o BatchOptions) BatchPlan {
	left := o.Budget.Left()
	p := BatchPlan{Queries: queries, Threads: cmp.Or(max(o.Threads, 0), runtime.GOMAXPROCS(0)),
		matchBytes: cmp.Or(o.MatchBytes, min(max(left/4, sweepMemoryLeast), sweepMemory))}
	if n := min(queries, sweepQueries); w.Sweeps(n) {
		p.Orders, p.Matches = uint64(n)*orderBytes, p.matchBytes
	}
	for ; ; p.Threads-- {
		p.Answers = uint64(min(p.Threads, chunksOf(queries))) * answersBytes
		if p.Threads == 1 || p.Bytes() <= left {
			return p
		}
	}
}

// reserve takes the memory of a batch that sweeps.
func (p *BatchPlan) reserve(b *memory.Budget) (*memory.Reservation, error) {
	if p.Orders == 0 {
		return nil, nil
	}
	return b.Reserve("answering "+humanize.Comma(int64(p.Queries))+" queries", p.Bytes())
}
