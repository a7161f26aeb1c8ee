package segment

import (
	"context"
	"errors"

	"example.org/ndd/asm"
	"example.org/ndd/engine/storage/store"
)

// ReadFingerprints sets fingerprints[i] to the fingerprint of the document of row first+i. The segment must have these
// rows. It reads table 0 and all ordinals in order, about 10 ns per document of the segment, even for few rows. It
// needs one bit of memory per fingerprint. So a caller with much memory needs few calls.
//
// It returns [ErrNoDocs], the error of ctx, or an error that wraps [store.ErrCorrupt] if a row has no fingerprint.
func (s *Segment) ReadFingerprints(ctx context.Context, fingerprints []uint64, first uint64) (err error) {
	if !s.KeepsDocs() {
		return ErrNoDocs
	}
	defer store.EndFaults(store.BeginFaults(), &err)
	missing := NewRowSet(uint64(len(fingerprints)))
	r := sourceReader{Segment: s}
	err = r.walkDocs(0, 1, 1, func(dst []uint64, rank int) error {
		if uint64(rank+len(dst)) > s.meta.Documents {
			return s.docs.corrupt(0, "more than %d documents of all fingerprints", s.meta.Documents)
		}
		for i, p := range dst {
			rank := uint64(rank + i)
			row, err := s.docs.row(rank)
			if err != nil {
				return err
			}
			if end := row - first; end < uint64(len(fingerprints)) {
				fingerprints[end] = p
				missing.Drop(end)
			}
		}
		return ctx.Err()
	})
	if err == nil && missing.Len() > 0 {
		return s.docs.corrupt(0, "%d of %d documents have no fingerprint", missing.Len(), len(fingerprints))
	}
	return err
}

// Walk calls yield with all distinct fingerprints in the order of table 0, some hundreds at a time, until yield returns
// false. It reuses their memory after the call.
func (s *Segment) Walk(yield func(fingerprints []uint64) bool) (err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	return s.walk(0, 0, 1, 1, func(_ uint64, fingerprints []uint64) bool { return yield(fingerprints) })
}

// walk calls yield with the fingerprints of a part of a table, as [table.Table.WalkPart] does with its keys, and the
// rank of the first one.
func (s *Segment) walk(number int, start, end, total uint64, yield func(rank uint64, fingerprints []uint64) bool) error {
	defer s.inOrder()()
	mask := s.perms[number].Mask()
	var fingerprints []uint64
	return s.tables[number].WalkPart(start, end, total, func(rank uint64, keys []uint64) bool {
		fingerprints = append(fingerprints[:0], keys...)
		asm.Unpermute(fingerprints, fingerprints, mask)
		return yield(rank, fingerprints)
	})
}

// ErrNoDocs is returned for a request of documents of a segment that keeps none.
var ErrNoDocs = errors.New("the index keeps only fingerprints, no documents")
