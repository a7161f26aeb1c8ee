package version

import (
	"context"
	"path/filepath"

	"ndd/engine/corpus/sketch"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/segment"
	"ndd/engine/index/worker"
	"ndd/engine/storage/store"
)

// A Segment is a segment in its index: the DocIDs of its documents, the file or the memory that it
// is in, and who searches it. It does not change, but that documents of it are deleted.
type Segment struct {
	*segment.Segment
	Numbers rows.Numbers
	Expires rows.Expiries
	From    rows.DocID // where it stands among others: at most its first document
	Dead    rows.Tombstones
	IDIndex rows.IDIndex // empty where IDs are not looked up
	File    *store.File  // on the disk; nil for one in memory
	Beside  *store.File  // file with numbers, earlier deletions and the index of IDs; nil without
	Older   []rows.DocID // deletions of documents of earlier segments, which that file lists

	// Sketches are the documents' sketches by row, mapped from SketchFile; both are nil where they are
	// not kept. The zero sketch stands for a document without one.
	Sketches   []sketch.Sketch
	SketchFile *store.File

	Workers *worker.Segment // who search it; nil when whoever asks does
	Free    func() error    // gives its memory back; nil when that is the heap
	Bytes   uint64          // of memory that its files take, where they are in memory

	Owned   bool // the index made it, or is open for writing: it may be merged and dropped
	Busy    bool // it is being merged; guarded by writer.mu
	Dropped bool // no manifest names its files any more; set before it leaves the last version
}

// Name returns that of the file that the segment is in.
func (s *Segment) Name() string { return filepath.Base(s.File.Path()) }

// FileBytes returns the length of the segment's files, in memory or on the disk.
func (s *Segment) FileBytes() uint64 {
	bytes := s.Bytes
	if s.File != nil {
		bytes += s.File.Bytes()
		if s.Beside != nil {
			bytes += s.Beside.Bytes()
		}
		if s.SketchFile != nil {
			bytes += s.SketchFile.Bytes()
		}
	}
	return bytes
}

// Live returns how many documents of the segment are neither deleted nor expired.
func (s *Segment) Live(now rows.Time) uint64 {
	gone := s.Dead.Len() + s.Expires.Count(now)
	if gone > s.Dead.Len() && s.Dead.Len() > 0 { // some may be both
		s.Dead.Each(func(doc rows.DocID, _ rows.Deletion) {
			if row, ok := s.Numbers.Row(doc); ok && s.Expires.At(row).Expired(now) {
				gone--
			}
		})
	}
	return s.Documents() - gone
}

// MayHide reports whether a reader that began at now may not see some document of the segment.
func (s *Segment) MayHide(now rows.Time) bool { return s.Dead.Len() > 0 || s.Expires.Any(now) }

// Hides reports whether a reader of that moment, which began at now, does not see the document of a
// row.
func (s *Segment) Hides(row uint64, doc rows.DocID, at rows.Moment, now rows.Time) bool {
	return s.Dead.Has(doc, at) || s.Expires.At(row).Expired(now)
}

// memory returns how many bytes the segment takes beside its file.
func (s *Segment) memory() uint64 {
	return s.Bytes + s.Dead.Bytes() + s.Numbers.Bytes() + s.Expires.Bytes()
}

// End returns the number behind those of the segment.
func (s *Segment) End() rows.DocID { return max(s.From, s.Numbers.End()) }

// Close frees the segment, which nobody reads any more.
func (s *Segment) Close() error {
	s.Segment.Close()
	if s.Beside != nil {
		defer s.Beside.Close()
	}
	if s.SketchFile != nil {
		defer s.SketchFile.Close()
	}
	if s.Free == nil {
		return nil
	}
	return s.Free()
}

// Sweep is [segment.Segment.Sweep], by the workers where there are some.
func (s *Segment) Sweep(ctx context.Context, queries []uint64, k, threads, limit int) (*segment.Found, error) {
	if s.Workers != nil {
		return s.Workers.Sweep(ctx, queries, k, limit)
	}
	return s.Segment.Sweep(ctx, queries, k, threads, limit)
}
