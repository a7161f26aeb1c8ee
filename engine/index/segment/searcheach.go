package segment

import (
	"fmt"

	"example.org/ndd/asm"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/storage/store"
	"example.org/ndd/permute"
)

// searchEachMax is the maximum number of queries of [SearchEach]. With more queries, one segment alone has enough
// overlapping misses.
const searchEachMax = 7

// A source is the origin of a table in a search of several segments.
type source struct {
	segment int
	table   int    // number in the segment
	mask    uint64 // mask of the table's permutation
	plan    *searchPlan
}

// SearchEach is like [Segment.Search] for several segments and a few queries. The misses of all segments overlap, so a
// small segment costs only its probes in addition to a large one. It calls yield with each match and the number of its
// segment.
func SearchEach(segments []*Segment, queries []uint64, k int, c *Scratch,
	yield func(segment int, m Match)) (err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	c.tables, c.searches, c.sources = c.tables[:0], c.searches[:0], c.sources[:0]
	// Permute the queries for all tables of all segments.
	need := 0
	for _, s := range segments {
		need += len(queries) * len(s.tables)
	}
	buffer := c.buffer(need)
	for i, s := range segments {
		if err := s.checkDistance(k); err != nil {
			return fmt.Errorf("segment %d: %w", i, err)
		}
		if s.meta.Fingerprints == 0 {
			continue
		}
		p := s.searchPlan(k)
		for number, t := range s.tables {
			permuted := c.permuted(number, &s.perms[number])
			if permuted == nil {
				permuted = buffer[:len(queries):len(queries)]
				buffer = buffer[len(queries):]
				asm.Permute(permuted, queries, s.perms[number].Mask())
			}
			c.tables, c.searches = append(c.tables, t), append(c.searches, p.search[number])
			c.searches[len(c.searches)-1].Queries = permuted
			c.sources = append(c.sources, source{i, number, s.perms[number].Mask(), p})
		}
	}
	if len(c.tables) == 0 {
		return nil
	}
	// Search all tables together.
	if c.matches, err = table.SearchAll(c.matches[:0], c.tables, c.searches, &c.Scratch); err != nil {
		return err
	}
	// Pass on each match once: for the first table of its segment that finds it.
	for _, m := range c.matches {
		source := &c.sources[m.Table]
		diff := segments[source.segment].perms[source.table].Invert(m.Key ^ c.searches[m.Table].Queries[m.Query])
		if source.plan.design.First(diff) == source.table {
			yield(source.segment, Match{m.Query, queries[m.Query] ^ diff})
		}
	}
	return nil
}

// permuted returns the permuted queries if table number of an earlier segment has the same permutation, else nil. The
// segments of an index have few designs.
func (c *Scratch) permuted(number int, p *permute.Permutation) []uint64 {
	for i := len(c.sources) - 1; i >= 0; i-- {
		if c.sources[i].table == number && c.sources[i].mask == p.Mask() {
			return c.searches[i].Queries
		}
	}
	return nil
}

// SearchesEach reports whether [SearchEach] is the best method for the segment: it has few queries, and probing is
// faster than a scan.
func (s *Segment) SearchesEach(queries, k int) bool {
	if queries > searchEachMax || k < 0 || k > s.meta.Design.K || s.meta.Fingerprints == 0 {
		return false
	}
	return !s.searchPlan(k).scans(s, s.numbers, queries)
}
