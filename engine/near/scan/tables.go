package scan

import (
	"fmt"
	"math"
	"math/bits"

	"example.org/ndd/asm"
	"example.org/ndd/engine/index/radix"
	"example.org/ndd/engine/memory"
	"example.org/ndd/permute"
)

// tables are permuted tables of the queries. They do not change, so they are safe for concurrent use.
type tables struct {
	strategy  strategy
	k         int
	queries   int
	distinct  []uint64 // ascending
	starts    []uint32 // offset in rows of each distinct query; then len(rows)
	rows      []uint32 // rows of Q, in order of the distinct queries
	tables    []table  // tables of all groups, in order of the groups
	prefilter *prefilter
	memory    memory.Arena
}

// A table holds the distinct queries under one permutation.
type table struct {
	group   int
	find    permute.Table // permutation, as a mask over the bits of a fingerprint
	perm    permute.Permutation
	layout  layout
	buckets asm.JoinBuckets
	ids     []uint32 // number of the distinct query in each lane; noQuery for padding
}

// noQuery is the number in table.ids of a lane without a query.
const noQuery = math.MaxUint32

// queriesMax is the maximum number of queries. It keeps the numbers of lanes, with padding, in 32 bits.
const queriesMax = 1 << 30

// buildOptions configure [newTables].
type buildOptions struct {
	K            int       // Hamming distance
	Threads      int       // goroutines that build the tables
	Fingerprints uint64    // number of fingerprints of F; 0: unknown
	NoPrefilter  bool      // build no prefilter, to save memory
	Strategy     *strategy // nil: the strategy with the lowest estimated cost
}

// newTables builds tables of the queries. Their memory is outside the Go heap, in huge pages if the system
// has them: these alone make lookups two to three times faster. The caller closes the tables. They do not
// keep the slice of queries.
func newTables(queries []uint64, o buildOptions) (*tables, error) {
	if o.K < 0 || o.K > permute.MaxK {
		return nil, fmt.Errorf("k = %d: must be 0 to %d", o.K, permute.MaxK)
	}
	if len(queries) > queriesMax {
		return nil, fmt.Errorf("%d queries: at most %d at a time", len(queries), queriesMax)
	}
	t := &tables{k: o.K, queries: len(queries)}
	err := t.groupQueries(queries, o.Threads)
	if err == nil {
		if o.Strategy == nil {
			s := chooseStrategy(workload{len(t.distinct), o.K, o.Fingerprints, o.NoPrefilter, permute.RandomSeed()})
			o.Strategy = &s
		}
		t.strategy = *o.Strategy
		err = t.buildTables(o.Threads)
	}
	if err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// groupQueries finds the distinct queries and the rows of each.
func (t *tables) groupQueries(queries []uint64, threads int) error {
	sorted, err := memory.Make[uint64](len(queries))
	if err != nil {
		return err
	}
	defer sorted.Free()
	if t.rows = memory.Alloc[uint32](&t.memory, len(queries), &err); err != nil {
		return err
	}
	radix.Rows(sorted.Data, t.rows, queries, ^uint64(0), threads)
	distinct := 0
	for i, q := range sorted.Data {
		if i == 0 || q != sorted.Data[i-1] {
			distinct++
		}
	}
	t.distinct = memory.Alloc[uint64](&t.memory, distinct, &err)
	if t.starts = memory.Alloc[uint32](&t.memory, distinct+1, &err); err != nil {
		return err
	}
	distinct = 0
	for i, q := range sorted.Data {
		if i == 0 || q != sorted.Data[i-1] {
			t.distinct[distinct], t.starts[distinct] = q, uint32(i)
			distinct++
		}
	}
	t.starts[distinct] = uint32(len(queries))
	return nil
}

// rowsOf returns the rows of Q with a distinct query.
func (t *tables) rowsOf(query uint32) []uint32 { return t.rows[t.starts[query]:t.starts[query+1]] }

// buildTables builds the tables of the strategy, and its prefilter.
func (t *tables) buildTables(threads int) (err error) {
	if t.strategy.mapBits > 0 {
		if t.prefilter, err = t.newPrefilter(t.strategy); err != nil {
			return err
		}
	}
	for i := range t.strategy.groups {
		if err := t.buildGroup(i, threads); err != nil {
			return err
		}
	}
	return nil
}

func (t *tables) buildGroup(group, threads int) (err error) {
	var arena memory.Arena // temporary memory
	defer arena.Free()
	sorted, ids := memory.Alloc[uint64](&arena, len(t.distinct), &err), memory.Alloc[uint32](&arena, len(t.distinct), &err)
	keys := t.distinct
	if t.prefilter != nil {
		if keys = memory.Alloc[uint64](&arena, len(t.distinct), &err); err == nil {
			for i, q := range t.distinct {
				keys[i] = halfKey(q, group)
			}
		}
	}
	if err != nil {
		return err
	}
	g := &t.strategy.groups[group]
	for i, find := range g.tables {
		mask := find.Mask
		if t.prefilter != nil {
			mask = halfKey(mask, group)
		}
		q := table{group: group, find: find, perm: permute.New(mask), layout: g.layouts[i]}
		radix.Rows(sorted, ids, keys, mask, threads)
		if err := t.fillBuckets(&q, sorted, ids); err != nil {
			return err
		}
		t.tables = append(t.tables, q)
	}
	return nil
}

// first returns the table that reports a pair of fingerprints: the first table that finds it. All other tables skip
// the pair, so it is reported once. diff is the XOR of the pair.
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

// fillBuckets puts the queries into the buckets of a table. keys are their permuted keys, ascending, and ids
// their numbers.
func (t *tables) fillBuckets(q *table, keys []uint64, ids []uint32) (err error) {
	shift := 64 - q.layout.bucketBits
	sizes := memory.Alloc[uint32](&t.memory, 1<<q.layout.bucketBits+1, &err)
	if err != nil {
		return err
	}
	for _, key := range keys {
		sizes[key>>shift]++
	}
	lanes := laneCount(sizes)
	if lanes > math.MaxUint32 {
		return fmt.Errorf("%d queries in %d buckets are too many", len(keys), len(sizes)-1)
	}
	lows := memory.Alloc[uint32](&t.memory, int(lanes), &err)
	if q.ids = memory.Alloc[uint32](&t.memory, int(lanes), &err); err != nil {
		return err
	}
	q.buckets = newBuckets(sizes, lows, min(shift-q.layout.dropBits, 63))
	for i := range q.ids {
		q.ids[i] = noQuery
	}
	lane, last := uint32(0), uint64(math.MaxUint64)
	for i, key := range keys {
		if b := key >> shift; b != last {
			lane, last = q.buckets.First[b]&^asm.JoinLong*2, b
		}
		lows[lane], q.ids[lane] = uint32(key>>q.layout.dropBits), ids[i]
		lane++
	}
	return nil
}

// Close frees the tables. They must not be in use.
func (t *tables) Close() {
	t.memory.Free()
	*t = tables{}
}

// laneCount returns the number of lanes of buckets with these sizes.
func laneCount(sizes []uint32) (lanes uint64) {
	for _, n := range sizes {
		lanes += roundLanes(uint64(n))
	}
	return lanes + asm.JoinLanesMax
}

// roundLanes returns n rounded up to whole vectors.
func roundLanes(n uint64) uint64 { return (n + asm.JoinVector - 1) &^ (asm.JoinVector - 1) }

// newBuckets lays out buckets. Their number is a power of two. sizes are their numbers of queries, with a zero
// after the last. lows has laneCount(sizes) lanes, fewer than 2^32. The buckets own both slices. The bucket of a
// word is word >> shift.
func newBuckets(sizes, lows []uint32, shift int) asm.JoinBuckets {
	b := asm.JoinBuckets{First: sizes, Lows: lows, Shift: shift, Lanes: lanesFor(sizes[:len(sizes)-1])}
	lane := uint32(0)
	for i, size := range sizes {
		sizes[i] = lane / 2
		if size > uint32(b.Lanes) {
			sizes[i] |= asm.JoinLong
		}
		lane += uint32(roundLanes(uint64(size)))
	}
	return b
}

// lanesFor returns the number of lanes that a join should compare with each word to take the least time.
// It assumes that half of the words are random and half are distributed as the queries. A vector takes
// 0.5 ns, and a word with a long bucket about 50 ns.
func lanesFor(sizes []uint32) (lanes int) {
	total := 0.0
	for _, size := range sizes {
		total += float64(size)
	}
	var excess [asm.JoinLanesMax / asm.JoinVector]float64 // [v]: share of words whose bucket has more than v+1 vectors
	for _, size := range sizes {
		for v := 0; v < len(excess) && int(size) > (v+1)*asm.JoinVector; v++ {
			excess[v] += (1/float64(len(sizes)) + float64(size)/total) / 2
		}
	}
	lanes, lowest := asm.JoinVector, 1+100*excess[0]
	for v, share := range excess {
		if cost := float64(v+1) + 100*share; cost < lowest {
			lanes, lowest = (v+1)*asm.JoinVector, cost
		}
	}
	return lanes
}
