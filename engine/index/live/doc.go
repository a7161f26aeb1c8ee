// Package live is an index that changes while it is read: immutable segments, the memtables behind
// them, and the versions in which readers see both.
//
//	Insert --> memtable --seal--> segment in memory --merge--> larger segment in memory
//	           4,096 fingerprints,                    of like size, as in a binary counter
//	           scanned whole by every query
//
//	version  = segments, ascending by DocID | memtables, the last one taking inserts
//	Edit     = what leaves a version and what comes; Apply makes the next version of it
//
// Build, open, seal, merge and placement are all one [Edit]. Nothing tells a segment from another
// by its place in a list: each knows the DocIDs of its documents, the file or memory that it is in,
// and who searches it.
//
// # Locks
//
//	writer.mu     one writer at a time: inserts, and edits of background work. Outer.
//	versions.mu   the books of which version has which segment. Inner, held for microseconds,
//	              or for as long as a segment takes to be unmapped.
//
// Readers take neither: they count themselves in a version (17 ns) and see it as it is until they
// release it. A segment is unmapped when the last version that has it is released.
//
// # Check and insert
//
// What an index holds is searched without a lock, so that calls run side by side; under the lock
// only the documents are scanned that came in since the search began. They are in memtables, unless
// the call waited for long: then it searches once more under the lock.
package live
