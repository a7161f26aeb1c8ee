package scan

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"ndd/asm"
	"ndd/engine/offheap"
	"ndd/engine/radix"
	"ndd/permute"
)

// Tables are permuted tables of the queries. They do not change and may be
// used from many goroutines.
type Tables struct {
	design  permute.Design
	queries []uint64 // as given: a row is a position
	sorted  []radix.Pair
	tables  []queryTable
}

// queryTable is the distinct queries under one permutation.
type queryTable struct {
	perm        permute.Permutation
	shift       int // 64 - leading bits
	filter      []uint64
	filterShift int
	starts      []uint32
	startShift  int
	keys        []uint64
	free        []func()
}

// queriesMax keeps positions in 32 bits.
const queriesMax = math.MaxUint32

// New builds tables of the queries for Hamming distance k. They lie outside
// the Go heap, in huge pages where there are any, which alone make look-ups
// two to three times faster: call [Tables.Close] when done.
func New(queries []uint64, k, threads int) (*Tables, error) {
	if k < 0 || k > permute.MaxK {
		return nil, fmt.Errorf("k = %d: must be 0 to %d", k, permute.MaxK)
	}
	if uint64(len(queries)) > queriesMax {
		return nil, fmt.Errorf("%d queries: at most %d at a time", len(queries), uint64(queriesMax))
	}
	t := &Tables{queries: queries, sorted: make([]radix.Pair, len(queries))}
	radix.Pairs(t.sorted, queries, ^uint64(0), threads)
	var distinct []uint64
	for i, p := range t.sorted {
		if i == 0 || p[0] != t.sorted[i-1][0] {
			distinct = append(distinct, p[0])
		}
	}
	t.design = choose(len(distinct), k)
	for _, tab := range t.design.Tables {
		q, err := newQueryTable(distinct, permute.New(tab.Mask), threads)
		if err != nil {
			t.Close()
			return nil, err
		}
		t.tables = append(t.tables, q)
	}
	return t, nil
}

// Close frees the tables. Nothing may use them any more.
func (t *Tables) Close() {
	for i := range t.tables {
		t.tables[i].close()
	}
	t.tables = nil
}

// choose takes the design of radius 0 that should cost least for each
// fingerprint that passes by.
func choose(queries, k int) (best permute.Design) {
	const permuteCost, filterCost, lookupCost, compareCost = 1.0, 1.5, 10.0, 1.0 // ns
	least := math.Inf(1)
	for _, d := range permute.Catalogue(k, 1) {
		cost := 0.0
		for _, t := range d.Tables {
			if t.Radius > 0 {
				cost = math.Inf(1)
			}
			run := float64(queries) * math.Ldexp(1, -t.Leading())
			passes := math.Min(1, run+1.0/16)
			cost += permuteCost + filterCost + passes*(lookupCost+compareCost*run)
		}
		if cost < least {
			best, least = d, cost
		}
	}
	return best
}

func newQueryTable(distinct []uint64, perm permute.Permutation, threads int) (q queryTable, err error) {
	n := bits.Len(uint(len(distinct)))
	leading := perm.Leading()
	filterBits := min(leading, max(n+3, 6), 32)
	startBits := min(leading, n, 32)
	q = queryTable{perm: perm, shift: 64 - leading, filterShift: 64 - filterBits, startShift: 64 - startBits}
	if q.keys, err = take[uint64](&q, len(distinct)); err == nil {
		if q.filter, err = take[uint64](&q, (1<<filterBits+63)/64); err == nil {
			q.starts, err = take[uint32](&q, 1<<startBits+1)
		}
	}
	if err != nil {
		q.close()
		return q, err
	}
	radix.Keys(q.keys, distinct, perm.Mask(), threads)
	for _, k := range q.keys {
		b := k >> q.filterShift
		q.filter[b/64] |= 1 << (b % 64)
		q.starts[shiftRight(k, q.startShift)+1]++
	}
	for i := range q.starts[1:] {
		q.starts[i+1] += q.starts[i]
	}
	return q, nil
}

// take is an array outside the heap that is freed with the table.
func take[T offheap.Plain](q *queryTable, n int) ([]T, error) {
	b, err := offheap.Make[T](n)
	if err != nil {
		return nil, err
	}
	q.free = append(q.free, b.Free)
	return b.Data, nil
}

func (q *queryTable) close() {
	for _, free := range q.free {
		free()
	}
	q.free = nil
}

// shiftRight shifts by up to 64.
func shiftRight(x uint64, n int) uint64 { return x >> 1 >> (n - 1) }

// Design is that of the tables.
func (t *Tables) Design() *permute.Design { return &t.design }

// Len is the number of queries.
func (t *Tables) Len() int { return len(t.queries) }

// Scratch is what Map needs to remember. It belongs to one goroutine; its zero
// value is ready.
type Scratch struct {
	keys     [mapKeys]uint64
	passed   [mapKeys]uint32
	from, to [mapKeys]uint32
	touched  uint64
}

const (
	// mapKeys keys are permuted at a time: 16 KiB, half of a first-level cache.
	mapKeys = 2048
	// mapPart keys pass by one table before the next, so that its bitmap
	// stays in the second-level cache while they themselves stay in the third.
	mapPart = 1 << 18
)

// A Match is a distinct query and a row of F within distance k of each other.
type Match struct {
	Query       uint64 // the query itself
	Fingerprint uint64
	Row         uint64 // of F
}

// Map appends to dst every match of a chunk of F whose first row is first.
func (t *Tables) Map(dst []Match, chunk []uint64, first uint64, c *Scratch) []Match {
	for len(chunk) > 0 {
		n := min(len(chunk), mapPart)
		for table := range t.tables {
			for i := 0; i < n; i += mapKeys {
				dst = t.mapTable(dst, table, chunk[i:min(i+mapKeys, n)], first+uint64(i), c)
			}
		}
		chunk = chunk[n:]
		first += uint64(n)
	}
	return dst
}

// mapTable works in passes without branches, so that the misses of a pass
// overlap: the bitmap for all keys, where to look for those that passed, the
// queries there, and only then the comparison.
func (t *Tables) mapTable(dst []Match, table int, part []uint64, first uint64, c *Scratch) []Match {
	q := &t.tables[table]
	keys := c.keys[:len(part)]
	asm.Permute(keys, part, q.perm.Mask())
	n := 0
	for i, k := range keys {
		b := k >> q.filterShift
		c.passed[n] = uint32(i)
		n += int(q.filter[b/64] >> (b % 64) & 1)
	}
	passed := c.passed[:n]
	for j, i := range passed {
		at := shiftRight(keys[i], q.startShift)
		c.from[j], c.to[j] = q.starts[at], q.starts[at+1]
	}
	for j := range passed {
		c.touched += q.keys[min(int(c.from[j]), len(q.keys)-1)]
	}
	for j, i := range passed {
		key := keys[i]
		for _, query := range q.keys[c.from[j]:c.to[j]] {
			if x := query ^ key; bits.OnesCount64(x) <= t.design.K && x>>q.shift == 0 {
				if diff := q.perm.Invert(x); t.design.First(diff) == table {
					dst = append(dst, Match{part[i] ^ diff, part[i], first + uint64(i)})
				}
			}
		}
	}
	return dst
}

// A Hit is a line of the result.
type Hit struct {
	Query       int // row of Q
	Distance    int
	Fingerprint uint64
	Row         uint64 // of F
}

// Reduce puts matches in order, one hit for each row of Q and row of F: by row
// of Q, distance, fingerprint, and row of F. Matches that occur twice count
// once. It changes the order of the matches.
func (t *Tables) Reduce(matches []Match) []Hit {
	hits := make([]Hit, 0, len(matches))
	for _, m := range matches {
		from, _ := slices.BinarySearchFunc(t.sorted, m.Query, func(p radix.Pair, q uint64) int {
			switch {
			case p[0] < q:
				return -1
			case p[0] > q:
				return 1
			}
			return 0
		})
		for ; from < len(t.sorted) && t.sorted[from][0] == m.Query; from++ {
			hits = append(hits, Hit{int(t.sorted[from][1]), bits.OnesCount64(m.Query ^ m.Fingerprint), m.Fingerprint, m.Row})
		}
	}
	slices.SortFunc(hits, Hit.compare)
	return slices.Compact(hits)
}

func (h Hit) compare(o Hit) int {
	switch {
	case h.Query != o.Query:
		return h.Query - o.Query
	case h.Distance != o.Distance:
		return h.Distance - o.Distance
	case h.Fingerprint != o.Fingerprint:
		if h.Fingerprint < o.Fingerprint {
			return -1
		}
		return 1
	case h.Row < o.Row:
		return -1
	case h.Row > o.Row:
		return 1
	}
	return 0
}
