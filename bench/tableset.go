package main

import (
	"context"
	"fmt"

	"ndd/asm"
	"ndd/engine/index/table"
	"ndd/permute"
)

// A tableSet is a design's tables, searched as a segment searches them, without documents. The
// tables may be shared; the rest belongs to one goroutine.
type tableSet struct {
	design  permute.Design
	tables  []table.Table
	perms   []permute.Permutation
	search  []table.Search
	scratch table.Scratch
	matches []table.Match
	queries []uint64
}

// add appends the design's next table.
func (s *tableSet) add(t table.Table) {
	d := s.design.Tables[len(s.tables)]
	p := permute.New(d.Mask)
	leading := d.Leading()
	if d.Radius > 0 {
		leading = t.Probing(leading, d.Radius, distance).Leading
	}
	var earlier []table.Finder
	for _, e := range s.design.Tables[:len(s.tables)] {
		earlier = append(earlier, table.Finder{Mask: p.Apply(e.Mask), Radius: e.Radius})
	}
	s.tables = append(s.tables, t)
	s.perms = append(s.perms, p)
	s.search = append(s.search, table.Search{Leading: leading, Flips: permute.Flips(leading, d.Radius), K: distance,
		Earlier: earlier, Perm: &p})
}

// count sums the answers of queries, batch after batch. The queries are numbered from first.
func (s *tableSet) count(ctx context.Context, queries []uint64, first, batch int) (a answer, err error) {
	err = s.each(ctx, queries, batch, func(query int, diff uint64) { a.add(first+query, queries[query]^diff) })
	return a, err
}

// each searches queries, batch after batch, and calls answer with the number of the query
// and what the answer differs in.
func (s *tableSet) each(ctx context.Context, queries []uint64, batch int, answer func(query int, diff uint64)) error {
	if len(s.queries) < batch*len(s.tables) {
		s.queries = make([]uint64, batch*len(s.tables))
	}
	for from := 0; from < len(queries); from += batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := queries[from:min(from+batch, len(queries))]
		for i := range s.tables {
			own := s.queries[i*batch:][:len(part)]
			asm.Permute(own, part, s.perms[i].Mask())
			s.search[i].Queries = own
		}
		var err error
		if s.matches, err = table.SearchAll(s.matches[:0], s.tables, s.search, &s.scratch); err != nil {
			return fmt.Errorf("queries from %d: %w", from, err)
		}
		for _, m := range s.matches {
			if m.Table == table.Shared {
				answer(from+m.Query, m.Key)
				continue
			}
			diff := s.perms[m.Table].Invert(m.Key ^ s.search[m.Table].Queries[m.Query])
			if s.design.First(diff) == m.Table {
				answer(from+m.Query, diff)
			}
		}
	}
	return nil
}
