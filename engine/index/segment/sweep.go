package segment

import (
	"context"
	"errors"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"ndd/engine/index/radix"
	"ndd/engine/index/table"
	"ndd/engine/storage/store"
)

// A sweep answers thousands of queries. It
// sorts them by their permuted keys and walks the table once, a region
// at a time, instead of jumping through it once a probe.
//
// A region is what shares the top t bits of its keys, some megabytes of table.
// The queries sorted, those of one region stand together. A flip below the top
// t bits stays in the region; one among them leads to another region, the same
// one for all queries of the region. So with the flips grouped by their top t
// bits, region r is probed, for each group, by the queries of region r ^ group:
//
//	region r     <- queries of r            flips of the lower g-t bits
//	             <- queries of r ^ 1000..   one flip, and one less below
//	             <- queries of r ^ 0100..   ...
//
// No probe is stored or sorted. Cost per table: a sort of the queries, 20 ns each; the lines of the
// table that the probes touch, once, as they come in order; the probes from the caches and from
// pages whose translation is known. Measured, one thread, two planar tables of 4.6 GB in huge
// pages, a million queries: 24 ns a probe, where jumping takes 50; half as long from 30,000 queries
// on, and as long with 10,000 (go run ./bench search).
type regions struct {
	bytes   uint64 // of a table, at most 1 to 2 times so many a region, unless it has
	queries int    // fewer than half of these
	most    int    // queries of a region, at most 1 to 2 times so many
}

// sweepRegions: smaller regions than 4 MiB take a tenth longer, as each call of Search has
// its first misses; larger ones take as long where a processor's share of the last cache is
// large. Few queries a region are few in a call, too many make a [Step] long.
var sweepRegions = regions{bytes: 4 << 20, queries: 256, most: 2048}

// bits returns t, for n queries.
func (r *regions) bits(t table.Table, n int) int {
	return max(bits.Len(uint(n/r.most)), min(bits.Len64(table.Bytes(t)/r.bytes), bits.Len(uint(n/r.queries))))
}

// A sweep needs at least this many queries, and probes of each table: where a design has a
// table for each of its few probes, sorting costs as much as it saves.
const (
	sweepQueries = 1 << 13
	sweepProbes  = 1 << 17
)

// ErrTooMany is what Sweep returns when there are more matches than the limit, and searches whose
// scratch has one.
var ErrTooMany = table.ErrTooMany

// Sweeps reports whether a sweep should answer n queries faster than a search. It is false of a
// segment whose file cannot be read any more, of which a search then says so.
func (s *Segment) Sweeps(n int) (sweeps bool) {
	var fault error
	defer func() { sweeps = sweeps && fault == nil }()
	defer store.CatchFault(&fault)()
	if s.meta.Fingerprints == 0 || n < sweepQueries {
		return false
	}
	p := s.searchPlan(s.meta.Design.K)
	if p.scans(s, s.every, n) {
		return false
	}
	return !slices.ContainsFunc(p.search, func(t table.Search) bool { return t.Flips.Len() < sweepProbes/n })
}

// A Team sweeps some of a segment's tables where it is best
// done: beside the memory that they are in.
type Team struct {
	Tables  []int // by number
	Threads int

	// Run calls each step until it reports that there is no more, or fails: one
	// call of a step at a time, on any goroutine. nil: a goroutine for each.
	Run func(ctx context.Context, steps []Step) error
}

// A Step does a part of a millisecond's work, and reports whether there is more.
type Step func() (more bool, err error)

// Sweep finds for every query each distinct fingerprint of the segment within
// distance k, as Search does. Memory: 40 bytes a query and 24 a match, of which
// there may be at most limit.
func (s *Segment) Sweep(ctx context.Context, queries []uint64, k, threads, limit int) (*Found, error) {
	return s.SweepTeams(ctx, queries, k, limit, []Team{{Tables: s.every, Threads: threads}})
}

// SweepTeams is Sweep by teams who together have every table, all
// at the same time. It takes 24 bytes a query more for each table that is swept
// at a time but the first.
func (s *Segment) SweepTeams(ctx context.Context, queries []uint64, k, limit int, teams []Team) (*Found, error) {
	return s.sweep(ctx, queries, k, limit, teams, sweepRegions)
}

func (s *Segment) sweep(ctx context.Context, queries []uint64, k, limit int, teams []Team, r regions) (*Found, error) {
	if err := s.checkDistance(k); err != nil {
		return nil, err
	}
	defer s.inOrder()()
	w := &sweep{segment: s, plan: s.searchPlan(k), regions: r, queries: queries, limit: limit}
	for i := range teams {
		w.threads += teams[i].Threads
	}
	group, ctx := errgroup.WithContext(ctx)
	for i := range teams {
		group.Go(func() error {
			for _, t := range teams[i].Tables {
				if w.plan.search[t].Flips.Radius < 0 {
					continue // not needed for this k
				}
				if err := w.table(ctx, t, &teams[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return w.collect(), nil
}

// A sweep is the state of one call of [Segment.Sweep].
type sweep struct {
	segment *Segment
	plan    *searchPlan
	regions regions
	queries []uint64
	limit   int
	threads int

	mu      sync.Mutex // of spare and matches
	spare   []order    // that no table uses any more
	matches [][]Match  // of each goroutine and table
	count   atomic.Int64
}

// An order is the queries in the order of a table.
type order struct {
	keys []uint64 // the queries permuted
	rows []uint32
}

// take returns the order of table i, to be given back by [sweep.give].
func (w *sweep) take(i int) (o order) {
	w.mu.Lock()
	if n := len(w.spare); n > 0 {
		o, w.spare = w.spare[n-1], w.spare[:n-1]
	}
	w.mu.Unlock()
	if o.keys == nil {
		o = order{make([]uint64, len(w.queries)), make([]uint32, len(w.queries))}
	}
	radix.Rows(o.keys, o.rows, w.queries, w.segment.perms[i].Mask(), w.threads)
	return o
}

// give makes the memory of an order that of another.
func (w *sweep) give(o order) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spare = append(w.spare, o)
}

// table has a team sweep table i.
func (w *sweep) table(ctx context.Context, i int, team *Team) error {
	o := w.take(i)
	defer w.give(o)
	t := min(w.regions.bits(w.segment.tables[i], len(w.queries)), w.plan.search[i].Leading)
	starts := regionStarts(o.keys, t)

	var next atomic.Int64
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	steps := make([]Step, max(team.Threads, 1))
	for j := range steps {
		r := sweeper{sweep: w, order: &o, table: i, regionBits: t, starts: starts}
		steps[j] = func() (more bool, err error) {
			defer store.CatchFault(&err)()
			region := int(next.Add(1)) - 1
			if region >= 1<<t {
				r.done()
				return false, nil
			}
			if err := r.region(region); err != nil {
				cancel(err)
				return false, err
			}
			return true, context.Cause(ctx)
		}
	}
	if team.Run != nil {
		return team.Run(ctx, steps)
	}
	return runSteps(steps)
}

// runSteps runs each step on a goroutine of its own until it reports that there is no more.
func runSteps(steps []Step) error {
	var group errgroup.Group
	for _, step := range steps {
		group.Go(func() error {
			for {
				if more, err := step(); !more || err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}

// regionStarts returns where the keys of each region begin, and where the last end.
func regionStarts(keys []uint64, t int) []int {
	starts := make([]int, 1<<t+1)
	for _, k := range keys {
		starts[int(k>>1>>(63-t))+1]++
	}
	for i := range 1 << t {
		starts[i+1] += starts[i]
	}
	return starts
}

// A sweeper is the part of a sweep that one goroutine does.
type sweeper struct {
	*sweep
	*order
	table      int
	regionBits int // t
	starts     []int
	scratch    table.Scratch
	found      []table.Match
	out        []Match
}

// region answers the queries whose keys, with some bits flipped, lie in a region of the table.
func (r *sweeper) region(region int) error {
	s, p := r.segment, r.plan
	for group := range p.search[r.table].Flips.Groups(r.regionBits) {
		from := region ^ int(group.Base>>1>>(63-r.regionBits))
		first, end := r.starts[from], r.starts[from+1]
		for n := 0; first < end; first += n {
			search := p.search[r.table]
			search.Flips = group
			var err error
			if n, err = r.search(&search, r.keys[first:min(first+chunk, end)]); err != nil {
				return err
			}
			before := len(r.out)
			for _, m := range r.found {
				diff := s.perms[r.table].Invert(m.Key ^ search.Queries[m.Query])
				if p.design.First(diff) == r.table {
					row := int(r.rows[first+m.Query])
					r.out = append(r.out, Match{row, r.queries[row] ^ diff})
				}
			}
			if n := len(r.out) - before; n > 0 && r.count.Add(int64(n)) > int64(r.limit) {
				return ErrTooMany
			}
		}
	}
	return nil
}

const (
	// chunk is how many queries one call of Search takes, or fewer, so that it finds no more than
	// chunkMatches, unless it is one: what a thread holds of them before it counts.
	chunk        = 1024
	chunkMatches = 1 << 16
)

// search sets r.found to what the table has for the first n of the keys: for all, or for fewer
// where they find too many.
func (r *sweeper) search(search *table.Search, keys []uint64) (n int, err error) {
	for n = len(keys); ; n /= 2 {
		search.Queries = keys[:n]
		most := chunkMatches
		if n == 1 {
			most = r.limit + 1
		}
		r.scratch.AtMost(most)
		tables := r.segment.tables[r.table : r.table+1]
		if r.found, err = table.SearchAll(r.found[:0], tables, []table.Search{*search}, &r.scratch); n == 1 ||
			!errors.Is(err, ErrTooMany) {
			return n, err
		}
	}
}

// done hands over the matches.
func (r *sweeper) done() {
	r.mu.Lock()
	r.matches = append(r.matches, slices.Clip(r.out))
	r.mu.Unlock()
}
