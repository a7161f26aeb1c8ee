package segment

import (
	"fmt"
	"slices"

	"example.org/ndd/asm"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/storage/store"
)

// A Match is a stored fingerprint within distance k of a query.
type Match struct {
	Query       int // position in the batch
	Fingerprint uint64
}

// Scratch is the working memory of searches. It belongs to one goroutine. The zero value is ready.
type Scratch struct {
	table.Scratch
	queries  []uint64 // table after table
	tables   []table.Table
	searches []table.Search
	matches  []table.Match
	sources  []source // origin of each table in a search of several segments
	keys     []uint64 // keys that Locate looks up
	indexes  []uint32 // index of each key in the argument of Locate
	ranks    []uint64
}

// Search appends to dst, for every query, each distinct fingerprint of the
// segment within distance k of it, once. k must be at most the design's.
// Matches are in no order.
func (s *Segment) Search(dst []Match, queries []uint64, k int, c *Scratch) ([]Match, error) {
	return s.SearchTables(dst, s.numbers, queries, k, c)
}

// SearchTables is like [Segment.Search] for some of the tables, given by ascending numbers. Calls whose lists together
// have all tables find all matches, each once, in no order.
func (s *Segment) SearchTables(dst []Match, tables []int, queries []uint64, k int, c *Scratch) (_ []Match, err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	if err := s.checkDistance(k); err != nil {
		return dst, err
	}
	if s.meta.Fingerprints == 0 {
		return dst, nil
	}
	p := s.searchPlan(k)
	if p.scans(s, tables, len(queries)) {
		return s.scan(dst, p, tables, queries, k, c)
	}
	// Permute the queries for each table, and search all tables together.
	buffer := c.buffer(len(queries) * len(tables))
	c.tables, c.searches = c.tables[:0], c.searches[:0]
	for i, number := range tables {
		part := buffer[i*len(queries) : (i+1)*len(queries)]
		asm.Permute(part, queries, s.perms[number].Mask())
		c.tables, c.searches = append(c.tables, s.tables[number]), append(c.searches, p.search[number])
		c.searches[i].Queries = part
	}
	if c.matches, err = table.SearchAll(c.matches[:0], c.tables, c.searches, &c.Scratch); err != nil {
		return dst, err
	}
	// Keep each match once: for the first table that finds it.
	for _, m := range c.matches {
		number := tables[m.Table]
		diff := s.perms[number].Invert(m.Key ^ c.searches[m.Table].Queries[m.Query])
		if p.design.First(diff) == number {
			dst = append(dst, Match{m.Query, queries[m.Query] ^ diff})
		}
	}
	return dst, nil
}

// checkDistance returns an error unless the design is for distance k.
func (s *Segment) checkDistance(k int) error {
	if k < 0 || k > s.meta.Design.K {
		return fmt.Errorf("distance %d: this index supports 0 to %d", k, s.meta.Design.K)
	}
	return nil
}

// buffer returns memory for n permuted queries.
func (c *Scratch) buffer(n int) []uint64 {
	c.queries = slices.Grow(c.queries[:0], n)[:n]
	return c.queries
}

// scan answers a search by comparing the queries with all keys of one of the tables. It reports a match only if the
// first table that finds it is in the list, because the other tables may be searched elsewhere.
func (s *Segment) scan(dst []Match, p *searchPlan, tables []int, queries []uint64, k int, c *Scratch) (_ []Match,
	err error) {
	perm := &s.perms[tables[0]]
	part := c.buffer(len(queries))
	asm.Permute(part, queries, perm.Mask())
	if c.matches, err = table.Scan(c.matches[:0], s.tables[tables[0]], part, k, &c.Scratch); err != nil {
		return dst, err
	}
	complete := len(tables) == len(s.tables)
	for _, m := range c.matches {
		diff := perm.Invert(m.Key ^ part[m.Query])
		if complete || slices.Contains(tables, p.design.First(diff)) {
			dst = append(dst, Match{m.Query, queries[m.Query] ^ diff})
		}
	}
	return dst, nil
}
