package scan

import (
	"fmt"
	"math"
	"slices"

	"ndd/asm"
	"ndd/engine/offheap"
	"ndd/engine/radix"
	"ndd/permute"
)

// Tables are permuted tables of the queries. They do not change and may be
// used from many goroutines.
type Tables struct {
	design   permute.Design
	k        int
	queries  int
	distinct []uint64 // ascending
	first    []uint32 // of each distinct query's rows, and where the last end
	rows     []uint32 // of Q
	tables   []table
	free     []func()
}

// table is the distinct queries under one permutation.
type table struct {
	perm    permute.Permutation
	layout  layout
	buckets *asm.JoinTable
	ids     []uint32 // which distinct query a lane has, none in the padding
}

// none is no query.
const none = math.MaxUint32

// queriesMax keeps lanes, padding included, in 32 bits.
const queriesMax = 1 << 30

// New builds tables of the queries for Hamming distance k. They lie outside
// the Go heap, in huge pages where there are any, which alone make look-ups
// two to three times faster: call [Tables.Close] when done. The queries are not
// needed any more.
func New(queries []uint64, k, threads int) (*Tables, error) {
	if k < 0 || k > permute.MaxK {
		return nil, fmt.Errorf("k = %d: must be 0 to %d", k, permute.MaxK)
	}
	if len(queries) > queriesMax {
		return nil, fmt.Errorf("%d queries: at most %d at a time", len(queries), queriesMax)
	}
	t := &Tables{k: k, queries: len(queries)}
	if err := t.build(queries, threads); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

func (t *Tables) build(queries []uint64, threads int) error {
	if err := t.number(queries, threads); err != nil {
		return err
	}
	var layouts []layout
	t.design, layouts = choose(len(t.distinct), t.k)
	return t.lay(layouts, threads)
}

// number finds the distinct queries and the rows of each.
func (t *Tables) number(queries []uint64, threads int) error {
	sorted, err := offheap.Make[radix.Pair](len(queries))
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
	if t.first, err = take[uint32](t, distinct+1); err != nil {
		return err
	}
	distinct = 0
	for i, p := range sorted.Data {
		if i == 0 || p[0] != sorted.Data[i-1][0] {
			t.distinct[distinct], t.first[distinct] = p[0], uint32(i)
			distinct++
		}
		t.rows[i] = uint32(p[1])
	}
	t.first[distinct] = uint32(len(queries))
	return nil
}

// lay makes the tables of the design.
func (t *Tables) lay(layouts []layout, threads int) error {
	sorted, err := offheap.Make[radix.Pair](len(t.distinct))
	if err != nil {
		return err
	}
	defer sorted.Free()
	for i, tab := range t.design.Tables {
		q := table{perm: permute.New(tab.Mask), layout: layouts[i]}
		radix.Pairs(sorted.Data, t.distinct, tab.Mask, threads)
		if err := t.fill(&q, sorted.Data); err != nil {
			return err
		}
		t.tables = append(t.tables, q)
	}
	return nil
}

// fill puts the queries, in order of their keys, into buckets.
func (t *Tables) fill(q *table, sorted []radix.Pair) error {
	shift := 64 - q.layout.bits
	sizes, err := take[uint32](t, 1<<q.layout.bits+1)
	if err != nil {
		return err
	}
	for _, p := range sorted {
		sizes[p[0]>>shift]++
	}
	lanes := asm.BucketLanes(sizes)
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
	q.buckets = asm.NewJoinTable(sizes, lows)
	for i := range q.ids {
		q.ids[i] = none
	}
	lane, last := uint32(0), uint64(math.MaxUint64)
	for _, p := range sorted {
		if b := p[0] >> shift; b != last {
			lane, last = q.buckets.First(int(b)), b
		}
		lows[lane], q.ids[lane] = q.layout.compared(p[0]), uint32(p[1])
		lane++
	}
	return nil
}

// take is an array outside the heap that is freed with the tables.
func take[T offheap.Plain](t *Tables, n int) ([]T, error) {
	b, err := offheap.Make[T](n)
	if err != nil {
		return nil, err
	}
	t.free = append(t.free, b.Free)
	return b.Data, nil
}

// Close frees the tables. Nothing may use them any more.
func (t *Tables) Close() {
	for _, free := range slices.Backward(t.free) {
		free()
	}
	*t = Tables{}
}
