package scan

import (
	"context"
	"sync"
	"sync/atomic"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/result"
)

// Count returns how many hits [Answer] would yield and, with sum, their checksum (see [result.Term]). It
// stores and sorts no hits, so their number is not limited. One table reports each pair of rows (see
// [tables.first]), so no pair is counted twice. Without sum, all rows with the same query are counted in
// one step.
//
// p is a plan for options with Counted set.
func Count(ctx context.Context, f Source, queries []uint64, k int, p Plan, o Options, sum bool) (
	result.Totals, error) {
	var all result.Totals
	err := inParts(queries, k, p, o, func(s *Searcher) error {
		n := &count{Searcher: s, sum: sum, marks: make([]atomic.Uint64, marksBytes(len(s.tables.distinct))/8)}
		newSink := func() sink { return &counter{count: n, sums: map[rowsKey]uint64{}} }
		if err := s.tables.scan(ctx, f, s.options, newSink); err != nil {
			return err
		}
		all.Add(n.totals)
		return nil
	})
	if err != nil {
		return result.Totals{}, err
	}
	return all, nil
}

// A count holds the totals of all goroutines.
type count struct {
	*Searcher
	sum   bool
	marks []atomic.Uint64 // one bit for each distinct query: it has hits

	mu     sync.Mutex
	totals result.Totals
}

// marksBytes returns the bytes of the marks for a number of queries.
func marksBytes(queries int) uint64 { return (uint64(queries) + 63) / 64 * 8 }

// mark marks a query, and reports whether it was unmarked before.
func (c *count) mark(query uint32) (first bool) {
	word, bit := &c.marks[query/64], uint64(1)<<(query%64)
	return word.Load()&bit == 0 && word.Or(bit)&bit == 0
}

// A counter is the sink of one goroutine.
type counter struct {
	*count
	ownTotals result.Totals
	sums      map[rowsKey]uint64 // cache of the sums of matches with many rows
}

// A rowsKey identifies a cached sum: the sum over all rows of Q with a query, for one fingerprint.
type rowsKey struct {
	query       uint32
	fingerprint uint64
}

// sumsMax is the maximum number of sums in the cache.
const sumsMax = 1 << 10

func (c *counter) take(ctx context.Context, matches []match) error {
	for _, m := range matches {
		rows := c.tables.rowsOf(m.Query)
		if c.mark(m.Query) {
			c.ownTotals.WithHits += uint64(len(rows))
		}
		c.ownTotals.Hits += uint64(len(rows))
		if c.sum {
			c.ownTotals.Sum += c.sumOf(m, rows)
		}
		if len(rows) >= rowsMany && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// sumOf returns the sum of the terms of a match over the rows of its query.
func (c *counter) sumOf(m match, rows []uint32) (sum uint64) {
	key := rowsKey{m.Query, m.Fingerprint}
	if sum, ok := c.sums[key]; ok {
		return sum
	}
	for _, row := range rows {
		sum += result.Term(int(c.options.First)+int(row), simhash.Fingerprint(m.Fingerprint))
	}
	if len(rows) >= rowsMany {
		if len(c.sums) == sumsMax {
			clear(c.sums)
		}
		c.sums[key] = sum
	}
	return sum
}

func (c *counter) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.totals.Add(c.ownTotals)
}
