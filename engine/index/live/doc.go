// Package live is an index that changes while it is searched.
//
//	insert ─► log record ─► memtable ──flush──► segment file ──merge──► larger segment file
//	             │
//	         one sync for many callers ─► acknowledged
//
//	query ─► view: segments, then memtables, at a moment ─► hits
//
// Its packages, in the order in which they import each other:
//
//	rows       document numbers, expiry, deletions, the index of IDs
//	memtable   the newest documents, exactly searchable in memory
//	version    the segments and memtables that readers see, and who holds them
//	search     answers from a view
//	live       the log, the files, flushes and merges; [Index] wires it all
//
// # Writing
//
// A change is one log record (record.go). It is applied in memory first, under writer.mu; one log write and one sync
// then serve many callers. If the disk is full, the changes that could not be written are undone before their callers
// get the error (refuse.go). After a failed sync the error is [ErrUnknown]: only the next opening shows whether the
// change lasts.
//
// A reader sees the index at a moment: the number of the next document and the number of requests to delete. A change
// becomes visible as a whole when the moment passes it. A deletion has the number of its request, or of the document
// that replaces the deleted one.
//
// Check-and-insert searches without a lock. Under the lock it compares only the documents that were
// inserted since.
//
// # Segments
//
// Full memtables become a segment: a flush freezes them and rotates the log, writes the segment, publishes a manifest
// and removes the old log. A segment is merged with all later ones when they have five thirds of its documents, or
// alone when a quarter of its documents are deleted or expired (policy.go). After a hundred flushes each document was
// written 3.8 times, and at most seven segments are left. Flushes and merges write only changes in the log. A document
// keeps its number forever.
//
//	INDEX/
//	  manifest              JSON: the segments and where the log begins; replaced by a rename
//	  00000007.segment      tables, documents of each fingerprint, IDs; never changed
//	  00000007.documents    numbers, deletions of earlier documents, index of IDs; never changed
//	  00000012.wal          records since the last flush (package wal)
//
// An index that is not open for writing also has flushes and merges, but with files in memory ([disk.InMemory]) and
// without log and manifest.
//
// Opening reads the manifest, the deletions in the files of segments, and the log. It removes files that no manifest
// names.
//
// # Locks
//
// Locks are taken in this order. Readers take only the lock of tombstones.
//
//	upkeep.flushing, upkeep.merging   one flush and one merge at a time
//	folder.mu                         the next manifest
//	writer.mu                         all changes of the index; no disk access, except to resume a log after a full disk
//	memtable indexing, tombstones     a few map and memory accesses
//	version.Set                       which version has which segment
//
// # Memory and cost
//
// Memtables, indexes of IDs and tombstones are reserved from the budget. With files, inserts wait for flushes at eight
// memtables or half of the budget. In memory only, they fail when the budget is used up. A memtable takes about 150
// bytes per document. A check-and-insert costs a query, 1 to 2 µs at 100 million documents, and about 0.5 µs more.
package live
