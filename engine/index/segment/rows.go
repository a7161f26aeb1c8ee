package segment

import (
	"errors"

	"ndd/asm"
	"ndd/engine/storage/store"
)

// Walk calls yield with all distinct fingerprints, in the order of table 0,
// some hundreds at a time, until it returns false. Their memory is used again after the call.
func (s *Segment) Walk(yield func(fingerprints []uint64) bool) (err error) {
	defer store.CatchFault(&err)()
	defer s.inOrder()()
	mask := s.perms[0].Mask()
	var out []uint64
	return s.tables[0].Walk(func(keys []uint64) bool {
		out = append(out[:0], keys...)
		asm.Unpermute(out, out, mask)
		return yield(out)
	})
}

// ErrNoDocs is returned where documents are asked for of a segment that keeps none.
var ErrNoDocs = errors.New("only the fingerprints are kept, not the documents that have them")

// Rows sets rows, which must be as many as there are documents, to the fingerprints of
// the documents. Errors wrap [store.ErrCorrupt], or are [ErrNoDocs].
func (s *Segment) Rows(rows []uint64) (err error) {
	if s.meta.NoDocs {
		return ErrNoDocs
	}
	defer store.CatchFault(&err)()
	rows = rows[:s.meta.Documents]
	rank := uint64(0)
	var bad error
	err = s.Walk(func(fingerprints []uint64) bool {
		for _, f := range fingerprints {
			from, to, ok := s.docs.of(rank)
			if !ok {
				bad = s.docs.corrupt(0, "no documents of the fingerprint of rank %d", rank)
				return false
			}
			rank++
			for i := from; i < to; i++ {
				doc := s.docs.ordinals.At(i)
				if doc >= s.meta.Documents {
					bad = s.docs.corrupt(i, "document %d of %d", doc, s.meta.Documents)
					return false
				}
				rows[doc] = f
			}
		}
		return true
	})
	if err == nil {
		err = bad
	}
	return err
}
