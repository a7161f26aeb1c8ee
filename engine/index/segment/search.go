package segment

import (
	"context"
	"fmt"
	"slices"

	"ndd/asm"
	"ndd/engine/index/table"
	"ndd/engine/storage/store"
)

// Until lets searches with this scratch end with the error of ctx once that is done, as [table.Scratch.Until]
// says.
func (c *Scratch) Until(ctx context.Context) { c.table.Until(ctx) }

// A Match is a stored fingerprint within distance k of a query.
type Match struct {
	Query       int // position in the batch
	Fingerprint uint64
}

// Scratch is the working memory of searches. It belongs to one goroutine; its zero
// value is ready.
type Scratch struct {
	table    table.Scratch
	queries  []uint64 // table after table
	tables   []table.Table
	searches []table.Search
	matches  []table.Match
	sorted   []int
}

// Search appends to dst, for every query, each distinct fingerprint of the
// segment within distance k of it, once. k must be at most the design's.
// Matches are in no order.
func (s *Segment) Search(dst []Match, queries []uint64, k int, c *Scratch) ([]Match, error) {
	return s.SearchTables(dst, s.every, queries, k, c)
}

// SearchTables is [Segment.Search] in some of the tables, by number: calls whose lists are together all
// tables find everything, each match once, in no order.
func (s *Segment) SearchTables(dst []Match, tables []int, queries []uint64, k int, c *Scratch) (_ []Match, err error) {
	defer store.CatchFault(&err)()
	if k < 0 || k > s.meta.Design.K {
		return dst, fmt.Errorf("distance %d is not within 0..%d, for which the index was built", k, s.meta.Design.K)
	}
	if s.meta.Fingerprints == 0 {
		return dst, nil
	}
	if !slices.IsSorted(tables) { // a search names tables before it as earlier ones
		c.sorted = append(c.sorted[:0], tables...)
		slices.Sort(c.sorted)
		tables = c.sorted
	}
	p := s.searchPlan(k)
	if p.scans(s, tables, len(queries)) {
		return s.scan(dst, p, tables, queries, k, c)
	}
	if need := len(queries) * len(tables); cap(c.queries) < need {
		c.queries = make([]uint64, need)
	}
	c.tables, c.searches = c.tables[:0], c.searches[:0]
	for i, number := range tables {
		own := c.queries[i*len(queries) : (i+1)*len(queries)]
		asm.Permute(own, queries, s.perms[number].Mask())
		search := p.search[number]
		search.Queries = own
		c.tables = append(c.tables, s.tables[number])
		c.searches = append(c.searches, search)
	}
	if c.matches, err = table.SearchAll(c.matches[:0], c.tables, c.searches, &c.table); err != nil {
		return dst, err
	}
	for _, m := range c.matches {
		if m.Table == table.Shared {
			if len(tables) == len(s.tables) || slices.Contains(tables, p.design.First(m.Key)) {
				dst = append(dst, Match{m.Query, queries[m.Query] ^ m.Key})
			}
			continue
		}
		number := tables[m.Table]
		diff := s.perms[number].Invert(m.Key ^ c.searches[m.Table].Queries[m.Query])
		if p.design.First(diff) == number {
			dst = append(dst, Match{m.Query, queries[m.Query] ^ diff})
		}
	}
	return dst, nil
}

// scan answers a search by comparing the queries with all keys of one of the tables. It reports what
// the first table to find it is one of those asked for, as the other tables may be asked elsewhere.
func (s *Segment) scan(dst []Match, p *searchPlan, tables []int, queries []uint64, k int, c *Scratch) (_ []Match, err error) {
	perm := &s.perms[tables[0]]
	if cap(c.queries) < len(queries) {
		c.queries = make([]uint64, len(queries))
	}
	own := c.queries[:len(queries)]
	asm.Permute(own, queries, perm.Mask())
	if c.matches, err = table.Scan(c.matches[:0], s.tables[tables[0]], own, k, &c.table); err != nil {
		return dst, err
	}
	every := len(tables) == len(s.tables)
	for _, m := range c.matches {
		diff := perm.Invert(m.Key ^ own[m.Query])
		if every || slices.Contains(tables, p.design.First(diff)) {
			dst = append(dst, Match{m.Query, queries[m.Query] ^ diff})
		}
	}
	return dst, nil
}

// PrefetchDocs requests the cache lines that [Segment.Docs] reads for each of these fingerprints: a dozen
// or more, some hundred at most. Docs finds them with five misses one after the other, 1.3 us; those of
// many are under way together.
func (s *Segment) PrefetchDocs(fingerprints []uint64, c *Scratch) (err error) {
	defer store.CatchFault(&err)()
	n := len(fingerprints)
	if cap(c.queries) < 2*n {
		c.queries = make([]uint64, 2*n)
	}
	keys, room := c.queries[:n], c.queries[n:2*n]
	asm.Permute(keys, fingerprints, s.perms[0].Mask())
	if table.PrefetchRanks(s.tables[0], keys, &c.table) { // they are ranks now
		s.docs.prefetch(keys, room)
	}
	return nil
}

// Docs appends the rows of the documents that have exactly this fingerprint,
// ascending, the first most of them; total is how many there are.
func (s *Segment) Docs(dst []uint64, fingerprint uint64, most int, c *Scratch) (rows []uint64, total uint64, err error) {
	defer store.CatchFault(&err)()
	if s.meta.Fingerprints == 0 {
		return dst, 0, nil
	}
	rank, ok, err := s.tables[0].Rank(s.perms[0].Apply(fingerprint), &c.table)
	if err != nil || !ok {
		return dst, 0, err
	}
	from, to, ok := s.docs.of(rank)
	if !ok {
		return dst, 0, s.docs.corrupt(0, "no documents of the fingerprint of rank %d", rank)
	}
	total = to - from
	for i := from; i < from+min(total, uint64(most)); i++ {
		doc := s.docs.ordinals.At(i)
		if doc >= s.meta.Documents {
			return dst, 0, s.docs.corrupt(i, "document %d of %d", doc, s.meta.Documents)
		}
		dst = append(dst, doc)
	}
	return dst, total, nil
}
