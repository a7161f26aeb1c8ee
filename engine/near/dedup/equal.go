package dedup

import (
	"cmp"
	"context"
	"slices"

	"example.org/ndd/engine/memory"
)

// findEqual finds the rows that have the same hash as a preferred row, and returns them in ascending order, with the
// preferred row. It compares only the rows that have a hash.
func (s *search) findEqual(ctx context.Context, hashes [][2]uint64, has func(row int) bool) (drops []Drop, err error) {
	// Collect the rows that have a hash.
	n := 0
	for row := range hashes {
		if has(row) {
			n++
		}
	}
	if n == 0 {
		return nil, nil
	}
	a := s.c.room.arena()
	defer a.Free()
	rows, keys := memory.Alloc[Row](&a, n, &err)[:0], memory.Alloc[uint64](&a, n, &err)[:0]
	if err != nil {
		return nil, err
	}
	for row, h := range hashes {
		if has(row) {
			rows, keys = append(rows, Row(row)), append(keys, h[0])
		}
	}
	// Rows with the same first word of the hash form a cluster.
	o := s.options
	o.K, o.Meter = 0, nil
	clusters, err := s.clusters(ctx, keys, rows, o)
	if err != nil {
		return nil, err
	}
	// Compare the whole hash with the representative's.
	for _, cl := range clusters.Clusters() {
		for _, row := range cl.Rows {
			if row != cl.Representative && hashes[row] == hashes[cl.Representative] && !s.c.sources.Protects(int(row)) {
				drops = append(drops, Drop{Row: row, KeptRow: int64(cl.Representative)})
			}
		}
	}
	slices.SortFunc(drops, func(a, b Drop) int { return cmp.Compare(a.Row, b.Row) })
	return drops, nil
}

// settleURLs replaces each kept document of SameURL that is dropped itself by the document that is kept for it.
func settleURLs(r *Result) {
	if len(r.SameURL) == 0 {
		return
	}
	final := map[int64]Drop{}
	for _, d := range r.SameURL {
		final[d.KeptRow] = Drop{KeptRow: d.KeptRow}
	}
	for _, k := range r.Known {
		if _, ok := final[int64(k.Row)]; ok {
			final[int64(k.Row)] = Drop{KeptRow: -1, Kept: k.Kept}
		}
	}
	for c := range r.Clusters() {
		for _, row := range c.Rows {
			if _, ok := final[int64(row)]; ok {
				final[int64(row)] = Drop{KeptRow: int64(c.Kept)}
			}
		}
	}
	for i := range r.SameURL {
		d := &r.SameURL[i]
		to := final[d.KeptRow]
		if d.KeptRow, d.Kept = to.KeptRow, to.Kept; d.KeptRow >= 0 {
			d.Distance = r.Distance(d.Row, Row(d.KeptRow))
		}
	}
}
