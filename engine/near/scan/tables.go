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
	plan     plan
	k        int
	queries  int
	distinct []uint64 // ascending
	starts   []uint32 // of each distinct query's rows, and where the last end
	rows     []uint32 // of Q
	tables   []table  // of all groups, one after the other
	sieve    *sieve   // nil where there is none
	free     []func()
}

// table is the distinct queries under one permutation.
type table struct {
	group   int
	find    permute.Table // in a fingerprint
	perm    permute.Permutation
	layout  layout
	buckets *queryBuckets
	ids     []uint32 // which distinct query a lane has, none in the padding
}

// none is no query.
const none = math.MaxUint32

// queriesMax keeps lanes, padding included, in 32 bits.
const queriesMax = 1 << 30

// making says what tables are for.
type making struct {
	K            int    // Hamming distance
	Threads      int    // to build with
	Fingerprints uint64 // of F, 0 where it is not known
	Plain        bool   // no sieve, which takes memory
}

// newTables builds tables of the queries. They lie outside the Go heap, in huge pages where there
// are any, which alone make look-ups two to three times faster: call [tables.Close] when
// done. The queries are not needed any more.
func newTables(queries []uint64, m making) (*tables, error) {
	if m.K < 0 || m.K > permute.MaxK {
		return nil, fmt.Errorf("k = %d: must be 0 to %d", m.K, permute.MaxK)
	}
	if len(queries) > queriesMax {
		return nil, fmt.Errorf("%d queries: at most %d at a time", len(queries), queriesMax)
	}
	t := &tables{k: m.K, queries: len(queries)}
	if err := t.build(queries, m); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

func (t *tables) build(queries []uint64, m making) error {
	if err := t.number(queries, m.Threads); err != nil {
		return err
	}
	return t.lay(choose(job{queries: len(t.distinct), k: m.K, prints: m.Fingerprints, plain: m.Plain}), m.Threads)
}

// number finds the distinct queries and the rows of each.
func (t *tables) number(queries []uint64, threads int) error {
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
	if t.rows, err = take[uint32](t, len(queries)); err != nil {
		return err
	}
	if t.distinct, err = take[uint64](t, distinct); err != nil {
		return err
	}
	if t.starts, err = take[uint32](t, distinct+1); err != nil {
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

// rowsOf are the rows of Q that ask a distinct query.
func (t *tables) rowsOf(query uint32) []uint32 { return t.rows[t.starts[query]:t.starts[query+1]] }

// lay makes the tables of the plan, and its sieve.
func (t *tables) lay(p plan, threads int) (err error) {
	t.plan = p
	sorted, err := memory.Make[radix.Pair](len(t.distinct))
	if err != nil {
		return err
	}
	defer sorted.Free()
	if p.bits > 0 {
		if t.sieve, err = t.newSieve(p); err != nil {
			return err
		}
	}
	for i, g := range p.groups {
		keys := t.distinct
		if t.sieve != nil {
			known, err := memory.Make[uint64](len(t.distinct))
			if err != nil {
				return err
			}
			defer known.Free()
			keys = known.Data
			for j, q := range t.distinct {
				keys[j] = siftedKey(q, i)
			}
		}
		for j, tab := range g.tables {
			mask := tab.Mask
			if t.sieve != nil {
				mask = siftedKey(mask, i)
			}
			q := table{group: i, find: tab, perm: permute.New(mask), layout: g.layouts[j]}
			radix.Pairs(sorted.Data, keys, mask, threads)
			if err := t.fill(&q, sorted.Data); err != nil {
				return err
			}
			t.tables = append(t.tables, q)
		}
	}
	return nil
}

// first is the table that reports a pair that differs in diff: the first that finds it of
// the first group that does.
func (t *tables) first(diff uint64) int {
	for i := range t.tables {
		q := &t.tables[i]
		g := &t.plan.groups[q.group]
		if bits.OnesCount64(diff&g.mask) <= g.radius && q.find.Finds(diff) {
			return i
		}
	}
	return -1
}

// fill puts the queries, in order of their keys, into buckets.
func (t *tables) fill(q *table, sorted []radix.Pair) error {
	shift := 64 - q.layout.bits
	sizes, err := take[uint32](t, 1<<q.layout.bits+1)
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
	lows, err := take[uint32](t, int(lanes))
	if err != nil {
		return err
	}
	if q.ids, err = take[uint32](t, int(lanes)); err != nil {
		return err
	}
	q.buckets = newQueryBuckets(sizes, lows)
	for i := range q.ids {
		q.ids[i] = none
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

// take is an array outside the heap that is freed with the tables.
func take[T memory.Plain](t *tables, n int) ([]T, error) {
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
