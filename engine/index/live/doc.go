// Package live is an index that changes while it is read: immutable segments, the memtables behind
// them, the log that makes what is in memory last, and the versions in which readers see it all.
//
//	Insert ─► log record ─► memtable ───flush───► segment in a file
//	              │         of a million           │         ▲
//	          group sync    documents              └──merge──┘  when outgrown
//	              ▼
//	        acknowledged              (in memory alone: ───seal───► segment in memory)
//
//	Query ─► version = segments, ascending by number | memtables, the last one taking inserts
//
// # Edits
//
// Build, open, flush, seal, merge, add and placement are all one [Edit]: what leaves a version and
// what comes; Apply makes the next version of it. Nothing tells a segment from another by its place
// in a list: each knows the numbers (DocIDs) of its documents, the file or memory that it is in, and
// who searches it.
//
//	         state of a segment                        in the manifest   its documents' log
//	memtable, growing                                  no                needed
//	memtable, full or frozen ── flush ──► in a file    from publishing   removed behind that
//	in a file, busy ── merge ──► dropped               until publishing  -
//	dropped ── last version with it released ──► unmapped, its files removed
//
// A memtable is one exact structure for all that is in no file (blocks.go): of two fingerprints that
// differ in at most k of 64 bits, k + 1 blocks of which the bits are cut in, one block is the same in both. A bucket for
// each value of each block has the fingerprints with it: a query of a million documents, with k = 3, looks
// at four buckets of 16, in some 300 ns, whatever else there is. The newest rows, some 64 as a rule, are in no block yet and are scanned
// (unindexed.go). It costs about 150 bytes a document until that is in a
// segment. With K above 7 blocks are too short: memtables have 65,536 documents at most, and are scanned. IDs of a memtable are beside it, with a
// hash table of them.
//
// Merges take neighbours, so that numbers ascend through segments; a document keeps its number as
// long as it is there. A segment is merged with all behind it when these have five thirds of its documents (tiers.go): of a hundred
// flushes each document is written 3.8 times to files, and once to the log, whatever the index had before, and seven segments are left at
// most. A segment of an eighth of the documents or less may have tables of another design than the index, larger ones that a query
// probes less (design.go): 1.8 times the bytes for 0.7 of the time. One that holds more is, byte for byte, what building makes of the
// same documents; what depends on how they came (their numbers, deletions, an index of their IDs) stands in a file beside it.
//
// # What is on the disk
//
//	INDEX/
//	  manifest              JSON: segments, and where the log begins; replaced by a rename
//	  00000007.segment      tables, documents of each fingerprint, IDs; never changed
//	  00000007.documents    numbers, deletions of earlier documents, hash table of IDs; never changed
//	  00000012.log          records since the last flush (package wal)
//	  lock                  held by who writes
//
// A log record is one change (record.go), whole or not at all: documents with their numbers and what
// they replace, or deletions, or numbers that are left out. A manifest is a whole new generation, not
// an edit: it is read at once, and either is there or is not. Recovery is the manifest, the deletions
// beside its segments, and the log from where the manifest says; what no manifest names is removed.
//
// A flush moves the beginning of the log: the memtable is frozen and the log rotated in one moment,
// all memtables before it become a segment, deletions that came since the last flush stand beside that, the
// manifest names it and the new beginning, and only then are old log files removed.
//
// # Deletions and IDs
//
// A deletion is a tombstone in memory until a merge leaves the document out. The clock of an index
// is the number of its next document; a reader sees deletions with a clock below that with which it
// began, so that a document and the one that it replaces are never both seen, nor neither.
// IDs are found by a hash table for each segment, of 11 bytes a document.
//
// Readers take the clock first and the version second, and see what is below the clock: a change is
// in memtables and tombstones before the clock moves beyond it, so that it is seen at once.
//
// # Time to live
//
// A document has the second from which on nobody sees it: in its log record, in its memtable and, as
// runs of documents that expire together, beside its segment. A reader compares that with the time at
// which it began. Segments of which all has expired are dropped unread, each second; others are
// merged when a quarter of them is deleted or has expired.
//
// # Check and insert
//
// What an index holds is searched without a lock, so that calls run side by side; under the lock
// only the documents are scanned that came in since the search began. They are in memtables, unless
// the call waited for long: then it searches once more under the lock. What is admitted is written behind the row before it, and goes into
// blocks behind the lock, some 64 documents at a time, by the call that finds them: of two callers, one by one, each holds the lock for a
// sixth of a call. Who is told that a document is near waits until that is durable.
//
// # What is refused
//
// A change is in memory before the log is written, which many share. Where the disk is full, all changes that the log could not
// write are taken back before any of their callers is told so: their records leave the log, what they inserted is deleted and what they
// deleted is there again (refuse.go). So what was refused can be sent again, with the same ID, and is not near itself.
// A check-and-insert that met one of them meanwhile searches again. After a sync that failed nobody knows what the disk has:
// the error is [ErrUnknown], and the next opening of the index decides. Flushes and merges write only what the log has.
//
// # Memory
//
// Each version reserves what it has in memory: memtables, which are full with a million documents, a
// sixteenth of the budget or with 256 MiB, segments with their IDs, and tombstones. Where files are, full memtables
// are flushed, and inserts wait while they have eight times that many documents or half of the budget; in memory alone
// they are refused when the budget is used up, but for what making a segment takes. Merges reserve theirs
// before they begin, no more than building as many documents does, and leave more segments where they cannot: the fingerprints are
// read from the tables that are merged, and a bit a document says which are left out.
//
// # Locks
//
// Each is taken before those below it:
//
//	flushing, merging   one flush or seal, and one merge, at a time; for as long as it takes
//	folder.mu           the next manifest: written and published under it
//	writer.mu           one writer: what is inserted, edits, marks of busy segments; never during a
//	                    call to the disk, but to resume a log after a full disk
//	memtable.indexing   who puts rows into blocks: behind writer.mu, or without it; under that only where many rows came at once
//	tombstones, log     for the time of a map access, and of a copy of a record
//	versions.mu         which version has which segment; for as long as a segment takes to be unmapped
//
// Readers take none but that of tombstones, and that only where a segment has some: they count
// themselves in a version (17 ns) and see it as it is until they release it.
//
// # Cost
//
// A check-and-insert is a query (1 to 2 microseconds at 100 M) and about half a microsecond for the
// memtable: four buckets to look at, and four to append to, together with those of other documents. The heads of the buckets are prefetched before segments are searched, and those
// are searched together, so that the misses of all overlap; each segment more takes some 0.5 microseconds. An insert that is durable waits for one sync
// of the disk, shared by all that wait. Recovery appends what the log has, and makes the blocks at the end, on all processors.
package live
