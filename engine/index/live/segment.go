package live

import (
	"context"

	"ndd/engine/index/segment"
	"ndd/engine/index/worker"
	"ndd/engine/storage/store"
)

// A DocID is the ordinal number of a document in an index, from 0 in order of arrival.
type DocID uint64

// A Segment is a segment in its index: the DocIDs of its documents, the file or the memory that it
// is in, and who searches it.
type Segment struct {
	*segment.Segment
	first   DocID           // of row 0; the others follow it
	file    *store.File     // nil for one in memory
	workers *worker.Segment // who search it; nil when whoever asks does
	free    func() error    // gives its memory back; nil when that is the heap

	versions int // that have it; guarded by versions.mu
}

// end returns the DocID behind those of the segment.
func (s *Segment) end() DocID { return s.first + DocID(s.Documents()) }

// close frees the segment, which nobody reads any more.
func (s *Segment) close() error {
	s.Segment.Close()
	if s.workers != nil {
		s.workers.Close()
	}
	if s.free == nil {
		return nil
	}
	return s.free()
}

// sweep is [segment.Segment.Sweep], by the workers where there are some.
func (s *Segment) sweep(ctx context.Context, queries []uint64, k, threads, limit int) (*segment.Found, error) {
	if s.workers != nil {
		return s.workers.Sweep(ctx, queries, k, threads, limit)
	}
	return s.Segment.Sweep(ctx, queries, k, threads, limit)
}
