package main

import (
	"cmp"
	"context"
	"slices"

	"ndd/engine/corpus/simhash"
	"ndd/engine/near/scan"
	"ndd/engine/result"
)

// answerTwo answers queries of two fingerprints each from a file of such documents: a document is near when either of its
// fingerprints is near the query's one of the same kind, and has one line, with the nearer one.
func (s *scanned) answerTwo(ctx context.Context, p scan.Plan, o scan.Options, line func(result.Row) error) error {
	var rows []result.Row // of one query
	flush := func() error {
		slices.SortFunc(rows, func(a, b result.Row) int {
			return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.Fingerprint, b.Fingerprint), cmp.Compare(a.DocID, b.DocID))
		})
		seen := map[uint64]bool{}
		for _, r := range rows {
			if seen[r.DocID] {
				continue
			}
			seen[r.DocID] = true
			if err := line(r); err != nil {
				return err
			}
		}
		rows = rows[:0]
		return nil
	}
	for h, err := range scan.Answer(ctx, s.open, s.b.queries, s.b.index.k, p, o) {
		if err != nil {
			return err
		}
		query, doc := int(h.Query)/2, h.Row&^1 // that of its first fingerprint
		if len(rows) > 0 && rows[0].Query != query {
			if err := flush(); err != nil {
				return err
			}
		}
		if uint64(h.Query)&1 != h.Row&1 || s.lengths != nil && s.b.index.ratio.apart(s.b.lengths[query], s.lengths[doc/2]) {
			continue
		}
		rows = append(rows, result.Row{Query: query, Fingerprint: simhash.Fingerprint(h.Fingerprint), Distance: h.Distance, DocID: doc})
	}
	return flush()
}
