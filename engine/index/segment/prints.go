package segment

import (
	"context"

	"ndd/engine/storage/store"
)

// Prints fills prints with the fingerprints of the documents of as many rows, from row first on, in order of rows; the segment must
// have so many. It reads table 0 and the numbers of all documents, in order, however few rows are asked for, in some 10 ns a document,
// and takes a bit for each of prints, so that all rows are read in few calls where there is much memory, and in many where there is little.
//
// The error is [ErrNoDocs], that of ctx, or wraps [store.ErrCorrupt]: no row is left without a fingerprint in silence.
func (s *Segment) Prints(ctx context.Context, prints []uint64, first uint64) (err error) {
	if !s.KeepsDocs() {
		return ErrNoDocs
	}
	defer store.CatchFault(&err)()
	missing := NewRowSet(uint64(len(prints)))
	r := reading{Segment: s}
	err = r.walkDocs(0, 1, 1, func(found []uint64, place int) error {
		if uint64(place+len(found)) > s.meta.Documents {
			return s.docs.corrupt(0, "more than %d documents of all fingerprints", s.meta.Documents)
		}
		for i, p := range found {
			at := uint64(place + i)
			row := s.docs.ordinals.At(at)
			if row >= s.meta.Documents {
				return s.docs.corrupt(at, "document %d of %d", row, s.meta.Documents)
			}
			if to := row - first; to < uint64(len(prints)) {
				prints[to] = p
				missing.Drop(to)
			}
		}
		return ctx.Err()
	})
	if err == nil && missing.Len() > 0 {
		return s.docs.corrupt(0, "%d of %d documents have no fingerprint", missing.Len(), len(prints))
	}
	return err
}
