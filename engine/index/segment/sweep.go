package segment

import (
	"context"
	"errors"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"example.org/ndd/engine/index/radix"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/storage/store"
)

// regions bound the regions of a sweep.
type regions struct {
	bytes      uint64 // maximum size of a region with at least minQueries queries
	minQueries int
	maxQueries int // target for the maximum number of queries of a region
}

// sweepRegions has measured values. Regions smaller than 4 MiB take a tenth longer, because each call of Search has its
// first misses. Larger regions are as fast if the processor's share of the last cache is large. Few queries per region
// make calls short; too many make a [Step] long.
var sweepRegions = regions{bytes: 4 << 20, minQueries: 256, maxQueries: 2048}

// bits returns t for n queries.
func (r *regions) bits(t table.Table, n int) int {
	return max(bits.Len(uint(n/r.maxQueries)), min(bits.Len64(table.Bytes(t)/r.bytes), bits.Len(uint(n/r.minQueries))))
}

// A sweep needs a minimum number of queries, and of probes of each table. If each query makes few probes, sorting costs
// as much as a sweep saves.
const (
	sweepQueries = 1 << 13
	sweepProbes  = 1 << 17
)

// ErrTooMany is the error of a sweep with more matches than its limit, and of a search with more than the limit of its
// scratch.
var ErrTooMany = table.ErrTooMany

// Sweeps reports whether a sweep answers n queries faster than a search. It is false if the segment's file cannot be
// read; the search then returns the error.
func (s *Segment) Sweeps(n int) (sweeps bool) {
	var fault error
	defer func() { sweeps = sweeps && fault == nil }()
	defer store.EndFaults(store.BeginFaults(), &fault)
	if s.meta.Fingerprints == 0 || n < sweepQueries {
		return false
	}
	p := s.searchPlan(s.meta.Design.K)
	if p.scans(s, s.numbers, n) {
		return false
	}
	return !slices.ContainsFunc(p.search, func(t table.Search) bool { return t.Flips.Len() < sweepProbes/n })
}

// A Team sweeps some of a segment's tables on the memory node of these tables.
type Team struct {
	Tables  []int // numbers of the tables; nil means all
	Threads int

	// Run calls each step until the step reports that there is no more work, or fails. Calls of one step are
	// sequential, on any goroutine. If Run is nil, each step has a goroutine.
	Run func(ctx context.Context, steps []Step) error
}

// A Step does a part of the work, less than a millisecond, and reports whether there is more.
type Step func() (more bool, err error)

// Sweep finds, for every query, each distinct fingerprint of the segment within distance k, as Search does. The teams
// together have every table, and work concurrently. Memory: 40 bytes per query and 24 bytes per match, and 24 more
// bytes per query for each table that is swept at the same time. There may be at most limit matches.
func (s *Segment) Sweep(ctx context.Context, queries []uint64, k, limit int, teams []Team) (*MatchLists, error) {
	if err := s.checkDistance(k); err != nil {
		return nil, err
	}
	w := &sweep{segment: s, plan: s.searchPlan(k), regions: sweepRegions, queries: queries, limit: limit}
	return w.run(ctx, teams)
}

// A sweep answers thousands of queries. It sorts them by their permuted keys and reads the table once, one region after
// the other. A search would jump through the table once per probe.
//
// A region is a range of the table, some megabytes, whose keys share the top t bits. After sorting, the queries of a
// region are adjacent. A flip below the top t bits stays in the region. A flip among them leads to another region,
// which is the same for all queries of the region. So the flips are grouped by their top t bits, and for each group,
// region r is probed by the queries of region r ^ group:
//
//	region r     <- queries of r            flips of the lower g-t bits
//	             <- queries of r ^ 1000..   one flip, and one less below
//	             <- queries of r ^ 0100..   ...
//
// No probe is stored or sorted. Cost per table: sorting the queries, 20 ns each; reading each line that a probe needs
// once, in order; and the probes, whose lines are in the caches. Measured with one thread, two planar tables of 4.6 GB
// in huge pages and a million queries: 24 ns per probe, where a search needs 50. From 30,000 queries on it takes half
// as long, with 10,000 as long (go run ./bench search).
type sweep struct {
	segment *Segment
	plan    *searchPlan
	regions regions
	queries []uint64
	limit   int
	threads int

	mu      sync.Mutex // guards matches
	matches [][]Match  // matches of each goroutine and table
	count   atomic.Int64
}

// run lets all teams work, and returns the matches.
func (w *sweep) run(ctx context.Context, teams []Team) (*MatchLists, error) {
	defer w.segment.inOrder()()
	for i := range teams {
		w.threads += teams[i].Threads
	}
	group, ctx := errgroup.WithContext(ctx)
	for i := range teams {
		group.Go(func() error {
			tables := teams[i].Tables
			if tables == nil {
				tables = w.segment.numbers
			}
			o := order{make([]uint64, len(w.queries)), make([]uint32, len(w.queries))}
			for _, t := range tables {
				if w.plan.search[t].Flips.Radius < 0 {
					continue // not needed for this k
				}
				if err := w.table(ctx, t, &teams[i], &o); err != nil {
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

// An order holds the queries in the order of a table.
type order struct {
	keys []uint64 // permuted queries
	rows []uint32
}

// table sweeps table i with a team. It overwrites the order.
func (w *sweep) table(ctx context.Context, i int, team *Team, o *order) error {
	// Sort the queries in the order of the table, and find the regions.
	radix.Rows(o.keys, o.rows, w.queries, w.segment.perms[i].Mask(), w.threads)
	t := min(w.regions.bits(w.segment.tables[i], len(w.queries)), w.plan.search[i].Leading)
	starts := regionStarts(o.keys, t)

	// Each step answers the queries of the next region.
	var next atomic.Int64
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	steps := make([]Step, max(team.Threads, 1))
	for j := range steps {
		r := sweeper{sweep: w, order: o, table: i, regionBits: t, starts: starts}
		steps[j] = func() (ok bool, err error) {
			defer store.EndFaults(store.BeginFaults(), &err)
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

// runSteps runs each step on its own goroutine until the step reports that there is no more work.
func runSteps(steps []Step) error {
	var group errgroup.Group
	for _, step := range steps {
		group.Go(func() error {
			for {
				if ok, err := step(); !ok || err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}

// regionStarts returns the start of each region's keys, and the end of the last one.
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

// A sweeper is the state of one goroutine of a sweep.
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

// region answers the queries whose keys are in a region of the table after some bits are flipped.
func (r *sweeper) region(region int) error {
	s, p := r.segment, r.plan
	for group := range p.search[r.table].Flips.Groups(r.regionBits) {
		first := region ^ int(group.Base>>1>>(63-r.regionBits))
		first, end := r.starts[first], r.starts[first+1]
		for n := 0; first < end; first += n {
			search := p.search[r.table]
			search.Flips = group
			var err error
			if n, err = r.search(&search, r.keys[first:min(first+chunk, end)]); err != nil {
				return err
			}
			count := len(r.out)
			for _, m := range r.found {
				diff := s.perms[r.table].Invert(m.Key ^ search.Queries[m.Query])
				if p.design.First(diff) == r.table {
					row := int(r.rows[first+m.Query])
					r.out = append(r.out, Match{row, r.queries[row] ^ diff})
				}
			}
			if n := len(r.out) - count; n > 0 && r.count.Add(int64(n)) > int64(r.limit) {
				return ErrTooMany
			}
		}
	}
	return nil
}

const (
	// chunk is the number of queries of a call of Search. A chunk is halved while it finds more than chunkMatches,
	// which limits the matches that a thread holds before it counts them.
	chunk        = 1024
	chunkMatches = 1 << 16
)

// search sets r.found to the matches of the first n keys, and returns n. It takes fewer keys if all of them have too
// many matches.
func (r *sweeper) search(search *table.Search, keys []uint64) (n int, err error) {
	for n = len(keys); ; n /= 2 {
		search.Queries = keys[:n]
		maximum := chunkMatches
		if n == 1 {
			maximum = r.limit + 1
		}
		r.scratch.LimitMatches(maximum)
		tables := r.segment.tables[r.table : r.table+1]
		if r.found, err = table.SearchAll(r.found[:0], tables, []table.Search{*search}, &r.scratch); n == 1 ||
			!errors.Is(err, ErrTooMany) {
			return n, err
		}
	}
}

// done passes on the matches.
func (r *sweeper) done() {
	r.mu.Lock()
	r.matches = append(r.matches, slices.Clip(r.out))
	r.mu.Unlock()
}
