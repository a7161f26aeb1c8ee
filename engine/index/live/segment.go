package live

import (
	"context"
	"path/filepath"

	"ndd/engine/index/segment"
	"ndd/engine/index/worker"
	"ndd/engine/storage/store"
)

// A DocID is the ordinal number of a document in an index, from 0 in order of arrival.
type DocID uint64

// A Segment is a segment in its index: the DocIDs of its documents, the file or the memory that it
// is in, and who searches it. It does not change, but that documents of it are deleted.
type Segment struct {
	*segment.Segment
	numbers numbers
	expires expiries
	from    DocID // where it stands among others: at most its first document
	dead    tombstones
	ids     idIndex         // empty where IDs are not looked up
	file    *store.File     // nil for one in memory
	beside  *documents      // in a file too; nil without
	workers *worker.Segment // who search it; nil when whoever asks does
	free    func() error    // gives its memory back; nil when that is the heap
	bytes   uint64          // of memory that it takes, where it is in no file

	busy     bool // it is being merged; guarded by writer.mu
	dropped  bool // no manifest names its files any more; set before it leaves the last version
	versions int  // that have it; guarded by versions.mu
}

// name returns that of the file that the segment is in.
func (s *Segment) name() string { return filepath.Base(s.file.Path()) }

// live returns how many documents of the segment are neither deleted nor expired.
func (s *Segment) live(now moment) uint64 {
	gone := s.dead.len() + s.expires.count(now)
	if gone > s.dead.len() && s.dead.len() > 0 { // some may be both
		gone -= s.dead.count(func(doc, _ DocID) bool {
			row, ok := s.numbers.row(doc)
			return ok && s.expires.of(row).expired(now)
		})
	}
	return s.Documents() - gone
}

// mayHide reports whether a reader that began at now may not see some document of the segment.
func (s *Segment) mayHide(now moment) bool { return s.dead.len() > 0 || s.expires.any(now) }

// hides reports whether a reader with that clock, which began at now, does not see the document of a
// row.
func (s *Segment) hides(row uint64, doc, clock DocID, now moment) bool {
	return s.dead.has(doc, clock) || s.expires.of(row).expired(now)
}

// openNumbered returns a segment with its documents' numbers, which are consecutive from next on unless
// they stand beside it.
func openNumbered(s *segment.Segment, next DocID, beside *documents) *Segment {
	if beside == nil {
		return &Segment{Segment: s, numbers: consecutive(next, s.Documents()), from: next}
	}
	return &Segment{Segment: s, numbers: beside.numbers, expires: beside.expires, from: max(next, beside.numbers.first()), beside: beside, ids: beside.ids}
}

// end returns the number behind those of the segment.
func (s *Segment) end() DocID { return max(s.from, s.numbers.end()) }

// close frees the segment, which nobody reads any more.
func (s *Segment) close() error {
	s.Segment.Close()
	if s.workers != nil {
		s.workers.Close()
	}
	if s.beside != nil && s.beside.file != nil {
		defer s.beside.file.Close()
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
