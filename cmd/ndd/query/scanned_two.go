package query

import (
	"cmp"
	"context"
	"slices"

	"ndd/engine/corpus/simhash"
	"ndd/engine/near/scan"
	"ndd/engine/result"
)

// answerTwo answers queries of two fingerprints each from a file or an index of such documents: a document is near when either of its
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
	var last scan.Hit
	for h, err := range scan.Answer(ctx, s.open, s.b.queries, s.b.index.k, p, o) {
		if err != nil {
			return err
		}
		r := result.Row{Query: int(h.Query) / 2, Fingerprint: simhash.Fingerprint(h.Fingerprint), Distance: h.Distance, DocID: h.Row / 2}
		if len(rows) > 0 && rows[0].Query != r.Query {
			if err := flush(); err != nil {
				return err
			}
		}
		which := int(h.Query) % 2
		if s.walked == nil {
			if int(h.Row)%2 == which && (s.lengths == nil || !s.b.index.ratio.Apart(s.b.lengths[r.Query], s.lengths[r.DocID])) {
				rows = append(rows, r)
			}
			continue
		}
		// A fingerprint may be in several segments; its documents are looked up once.
		if len(rows) > 0 && h.Query == last.Query && h.Fingerprint == last.Fingerprint {
			continue
		}
		last = h
		err := s.documents(r, which, func(r result.Row) error {
			rows = append(rows, r)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return flush()
}
