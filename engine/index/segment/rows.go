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
