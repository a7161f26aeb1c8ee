package version

import (
	"cmp"
	"context"
	"path/filepath"

	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/worker"
	"example.org/ndd/engine/storage/store"
)

// A Segment is a segment of an index, with the DocIDs of its documents, its files or memory, and its workers. Only its
// deletions change.
type Segment struct {
	*segment.Segment
	Numbers    rows.Numbers
	Expires    rows.Expiries
	FirstDoc   rows.DocID // at most its first document; orders segments
	Tombstones rows.Tombstones
	IDIndex    rows.IDIndex // empty if IDs are not looked up
	File       *store.File  // on the disk; nil for one in memory
	DocsFile   *store.File  // file with numbers, deletions of earlier documents and the index of IDs; may be nil
	Older      []rows.DocID // deleted documents of earlier segments, listed in DocsFile

	// Sketches are the sketches of the rows, mapped from SketchFile. Both are nil if the segment has none. A document
	// without a sketch has the zero sketch.
	Sketches   []sketch.Sketch
	SketchFile *store.File

	Workers *worker.Segment // workers that search it; nil if the caller does
	Free    func() error    // frees its memory; nil if that is on the heap
	Bytes   uint64          // memory of its files, if they are in memory

	Owned   bool // the index may merge and drop it, because it made it or is open for writing
	Busy    bool // it is being merged; guarded by writer.mu
	Dropped bool // no manifest names its files; set before the last version drops it
}

// Name returns the name of the segment's file.
func (s *Segment) Name() string { return filepath.Base(s.File.Path()) }

// Files returns the files of the segment on the disk.
func (s *Segment) Files() (files []*store.File) {
	for _, f := range []*store.File{s.File, s.DocsFile, s.SketchFile} {
		if f != nil && s.File != nil {
			files = append(files, f)
		}
	}
	return files
}

// FileBytes returns the size of the segment's files, in memory or on disk.
func (s *Segment) FileBytes() uint64 {
	bytes := s.Bytes
	for _, f := range s.Files() {
		bytes += f.Bytes()
	}
	return bytes
}

// Live returns the number of documents that are neither deleted nor expired.
func (s *Segment) Live(now rows.Time) uint64 {
	gone := s.Tombstones.Len() + s.Expires.Count(now)
	if gone > s.Tombstones.Len() && s.Tombstones.Len() > 0 { // some may be both
		s.Tombstones.Each(func(doc rows.DocID, _ rows.Deletion) {
			if row, ok := s.Numbers.Row(doc); ok && s.Expires.At(row).Expired(now) {
				gone--
			}
		})
	}
	return s.Documents() - gone
}

// MayHide reports whether some documents may be hidden from a reader that began at now.
func (s *Segment) MayHide(now rows.Time) bool { return s.Tombstones.Len() > 0 || s.Expires.Any(now) }

// Hides reports whether the document of a row is hidden from a reader of that moment. The reader began at now.
func (s *Segment) Hides(row uint64, doc rows.DocID, moment rows.Moment, now rows.Time) bool {
	return s.Tombstones.Has(doc, moment) || s.Expires.At(row).Expired(now)
}

// memory returns the memory of the segment in bytes, without mapped files.
func (s *Segment) memory() uint64 {
	return s.Bytes + s.Tombstones.Bytes() + s.Numbers.Bytes() + s.Expires.Bytes()
}

// End returns the first document number after the segment.
func (s *Segment) End() rows.DocID { return max(s.FirstDoc, s.Numbers.End()) }

// Close frees the segment. Nobody may read it any more.
func (s *Segment) Close() error {
	s.Segment.Close()
	if s.DocsFile != nil {
		defer s.DocsFile.Close()
	}
	if s.SketchFile != nil {
		defer s.SketchFile.Close()
	}
	if s.Free == nil {
		return nil
	}
	return s.Free()
}

// CheckIDs looks up the ID of each document in the index of IDs, which has hashes with that key.
func (s *Segment) CheckIDs(ctx context.Context, key *rows.IDKey) (err error) {
	if s.DocsFile == nil || s.Segment.IDs() == nil {
		return nil
	}
	defer store.EndFaults(store.BeginFaults(), &err)
	row := uint64(0)
	for id, err := range s.Segment.IDs().All() {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		found := id == ""
		s.IDIndex.Rows(key.Hash(id), func(r uint64) bool {
			found = found || r == row
			return !found
		})
		if !found {
			return s.DocsFile.Corrupt("document %d has the ID %.200q, which the index of IDs lacks", s.Numbers.Doc(row), id)
		}
		row++
	}
	return nil
}

// WorkersOf returns the workers that search the segment for that many queries, or nil if the caller does.
func (s *Segment) WorkersOf(queries int) *worker.Segment {
	if queries < worker.QueriesMin {
		return nil
	}
	return s.Workers
}

// Sweep is like [segment.Segment.Sweep]; workers do it if there are some.
func (s *Segment) Sweep(ctx context.Context, queries []uint64, k, threads, limit int) (*segment.MatchLists, error) {
	if s.Workers != nil {
		return s.Workers.Sweep(ctx, queries, k, limit)
	}
	return s.Segment.Sweep(ctx, queries, k, limit, []segment.Team{{Threads: threads}})
}
