package scan

import (
	"fmt"
	"math"
	"math/bits"

	"ndd/asm"
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
	memory    memory.Arena
}

// table is the distinct queries under one permutation.
type table struct {
	group   int
	find    permute.Table // in a fingerprint
	perm    permute.Permutation
	layout  layout
	buckets asm.JoinBuckets
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
	if t.rows = memory.In[uint32](&t.memory, len(queries), &err); err != nil {
		return err
	}
	radix.Rows(sorted.Data, t.rows, queries, ^uint64(0), threads)
	distinct := 0
	for i, q := range sorted.Data {
		if i == 0 || q != sorted.Data[i-1] {
			distinct++
		}
	}
	t.distinct = memory.In[uint64](&t.memory, distinct, &err)
	if t.starts = memory.In[uint32](&t.memory, distinct+1, &err); err != nil {
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

// rowsOf returns the rows of Q that have a distinct query.
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
	var arena memory.Arena // while tables are built
	defer arena.Free()
	sorted, ids := memory.In[uint64](&arena, len(t.distinct), &err), memory.In[uint32](&arena, len(t.distinct), &err)
	keys := t.distinct
	if t.prefilter != nil {
		if keys = memory.In[uint64](&arena, len(t.distinct), &err); err == nil {
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

// fillBuckets puts the queries, whose keys are sorted, and which have these numbers, into buckets.
func (t *tables) fillBuckets(q *table, keys []uint64, ids []uint32) (err error) {
	shift := 64 - q.layout.bucketBits
	sizes := memory.In[uint32](&t.memory, 1<<q.layout.bucketBits+1, &err)
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
	lows := memory.In[uint32](&t.memory, int(lanes), &err)
	if q.ids = memory.In[uint32](&t.memory, int(lanes), &err); err != nil {
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

// Close frees the tables. Nothing may use them any more.
func (t *tables) Close() {
	t.memory.Free()
	*t = tables{}
}

// laneCount returns how many lanes buckets of these sizes need.
func laneCount(sizes []uint32) (lanes uint64) {
	for _, n := range sizes {
		lanes += roundLanes(uint64(n))
	}
	return lanes + asm.JoinLanesMax
}

// roundLanes returns n rounded up to whole vectors.
func roundLanes(n uint64) uint64 { return (n + asm.JoinVector - 1) &^ (asm.JoinVector - 1) }

// newBuckets lays out buckets, of which there must be a power of two. sizes has how many queries each has, and a zero
// at its end; lows has laneCount(sizes) lanes, fewer than 2^32. Both belong to the buckets now. A word >> shift is its
// bucket.
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

// lanesFor returns the number of lanes a word with which a join takes the least time, taking words
// to be half random, half like the queries. A vector takes 0.5 ns, a word of a long
// bucket some 50.
func lanesFor(sizes []uint32) (lanes int) {
	total := 0.0
	for _, size := range sizes {
		total += float64(size)
	}
	var beyond [asm.JoinLanesMax / asm.JoinVector]float64 // words whose bucket has more than so many vectors
	for _, size := range sizes {
		for v := 0; v < len(beyond) && int(size) > (v+1)*asm.JoinVector; v++ {
			beyond[v] += (1/float64(len(sizes)) + float64(size)/total) / 2
		}
	}
	lanes, least := asm.JoinVector, 1+100*beyond[0]
	for v, share := range beyond {
		if cost := float64(v+1) + 100*share; cost < least {
			lanes, least = (v+1)*asm.JoinVector, cost
		}
	}
	return lanes
}
