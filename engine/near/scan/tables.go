package scan

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"ndd/engine/index/radix"
	"ndd/engine/memory"
	"ndd/permute"
)

// tables are permuted tables of the queries. They do not change and may be
// used from many goroutines.
type tables struct {
	strategy  strategy
	k         int
	queries   int
	distinct  []uint64 // ascending
	starts    []uint32 // of each distinct query's rows, and where the last end
	rows      []uint32 // of Q
	tables    []table  // of all groups, one after the other
	prefilter *prefilter
	free      []func()
}

// table is the distinct queries under one permutation.
type table struct {
	group   int
	find    permute.Table // in a fingerprint
	perm    permute.Permutation
	layout  layout
	buckets *queryBuckets
	ids     []uint32 // which distinct query a lane has, noQuery in the padding
}

// noQuery is the number of no query.
const noQuery = math.MaxUint32

// queriesMax keeps lanes, padding included, in 32 bits.
const queriesMax = 1 << 30

// buildOptions says what tables are for.
type buildOptions struct {
	K            int       // Hamming distance
	Threads      int       // to build with
	Fingerprints uint64    // of F; 0: it is not known
	NoPrefilter  bool      // which takes memory
	Strategy     *strategy // nil: the one that should cost least
}

// newTables builds tables of the queries. They lie outside the Go heap, in huge pages where there
// are any, which alone make look-ups two to three times faster: call [tables.Close] when
// done. The queries are not needed any more.
func newTables(queries []uint64, o buildOptions) (*tables, error) {
	if o.K < 0 || o.K > permute.MaxK {
		return nil, fmt.Errorf("k = %d: must be 0 to %d", o.K, permute.MaxK)
	}
	if len(queries) > queriesMax {
		return nil, fmt.Errorf("%d queries: at most %d at a time", len(queries), queriesMax)
	}
	t := &tables{k: o.K, queries: len(queries)}
	if err := t.build(queries, o); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

func (t *tables) build(queries []uint64, o buildOptions) error {
	if err := t.groupQueries(queries, o.Threads); err != nil {
		return err
	}
	if o.Strategy != nil {
		t.strategy = *o.Strategy
	} else {
		t.strategy = chooseStrategy(workload{len(t.distinct), o.K, o.Fingerprints, o.NoPrefilter})
	}
	return t.buildTables(o.Threads)
}

// groupQueries finds the distinct queries and the rows of each.
func (t *tables) groupQueries(queries []uint64, threads int) error {
	sorted, err := memory.Make[radix.Pair](len(queries))
	if err != nil {
		return err
	}
	defer sorted.Free()
	radix.Pairs(sorted.Data, queries, ^uint64(0), threads)
	distinct := 0
	for i, p := range sorted.Data {
		if i == 0 || p[0] != sorted.Data[i-1][0] {
			distinct++
		}
	}
	if t.rows, err = allocate[uint32](t, len(queries)); err != nil {
		return err
	}
	if t.distinct, err = allocate[uint64](t, distinct); err != nil {
		return err
	}
	if t.starts, err = allocate[uint32](t, distinct+1); err != nil {
		return err
	}
	distinct = 0
	for i, p := range sorted.Data {
		if i == 0 || p[0] != sorted.Data[i-1][0] {
			t.distinct[distinct], t.starts[distinct] = p[0], uint32(i)
			distinct++
		}
		t.rows[i] = uint32(p[1])
	}
	t.starts[distinct] = uint32(len(queries))
	return nil
}

// rowsOf returns the rows of Q that have a distinct query.
func (t *tables) rowsOf(query uint32) []uint32 { return t.rows[t.starts[query]:t.starts[query+1]] }

// buildTables builds the tables of the strategy, and its prefilter.
func (t *tables) buildTables(threads int) (err error) {
	sorted, err := memory.Make[radix.Pair](len(t.distinct))
	if err != nil {
		return err
	}
	defer sorted.Free()
	if t.strategy.mapBits > 0 {
		if t.prefilter, err = t.newPrefilter(t.strategy); err != nil {
			return err
		}
	}
	for i := range t.strategy.groups {
		if err := t.buildGroup(i, sorted.Data, threads); err != nil {
			return err
		}
	}
	return nil
}

// buildGroup builds the tables of a group. sorted has room for all distinct queries.
func (t *tables) buildGroup(group int, sorted []radix.Pair, threads int) error {
	keys := t.distinct
	if t.prefilter != nil {
		halves, err := memory.Make[uint64](len(t.distinct))
		if err != nil {
			return err
		}
		defer halves.Free()
		keys = halves.Data
		for i, q := range t.distinct {
			keys[i] = halfKey(q, group)
		}
	}
	g := &t.strategy.groups[group]
	for i, find := range g.tables {
		mask := find.Mask
		if t.prefilter != nil {
			mask = halfKey(mask, group)
		}
		q := table{group: group, find: find, perm: permute.New(mask), layout: g.layouts[i]}
		radix.Pairs(sorted, keys, mask, threads)
		if err := t.fillBuckets(&q, sorted); err != nil {
			return err
		}
		t.tables = append(t.tables, q)
	}
	return nil
}

// first returns the table that reports a pair that differs in diff: the first that finds it of
// the first group that does.
func (t *tables) first(diff uint64) int {
	for i := range t.tables {
		q := &t.tables[i]
		g := &t.strategy.groups[q.group]
		if bits.OnesCount64(diff&g.mask) <= g.radius && q.find.Finds(diff) {
			return i
		}
	}
	return -1
}

// fillBuckets puts the queries, in order of their keys, into buckets.
func (t *tables) fillBuckets(q *table, sorted []radix.Pair) error {
	shift := 64 - q.layout.bucketBits
	sizes, err := allocate[uint32](t, 1<<q.layout.bucketBits+1)
	if err != nil {
		return err
	}
	for _, p := range sorted {
		sizes[p[0]>>shift]++
	}
	lanes := laneCount(sizes)
	if lanes > math.MaxUint32 {
		return fmt.Errorf("%d queries in %d buckets are too many", len(sorted), len(sizes)-1)
	}
	lows, err := allocate[uint32](t, int(lanes))
	if err != nil {
		return err
	}
	if q.ids, err = allocate[uint32](t, int(lanes)); err != nil {
		return err
	}
	q.buckets = newQueryBuckets(sizes, lows)
	for i := range q.ids {
		q.ids[i] = noQuery
	}
	lane, last := uint32(0), uint64(math.MaxUint64)
	for _, p := range sorted {
		if b := p[0] >> shift; b != last {
			lane, last = q.buckets.firstLane(int(b)), b
		}
		lows[lane], q.ids[lane] = q.layout.compared(p[0]), uint32(p[1])
		lane++
	}
	return nil
}

// allocate returns an array outside the heap that is freed with the tables.
func allocate[T memory.Plain](t *tables, n int) ([]T, error) {
	b, err := memory.Make[T](n)
	if err != nil {
		return nil, err
	}
	t.free = append(t.free, b.Free)
	return b.Data, nil
}

// Close frees the tables. Nothing may use them any more.
func (t *tables) Close() {
	for _, free := range slices.Backward(t.free) {
		free()
	}
	*t = tables{}
}
