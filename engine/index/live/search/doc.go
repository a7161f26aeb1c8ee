// Package search answers queries from a view of an index:
//
//	view ─► matches in segments (one by one, several together, by workers, or by a sweep) and in memtables
//	     ─► hits: the matches of one fingerprint, with its documents that the view sees
//	     ─► answers of a few queries, or pieces of a large answer
//
// [Searcher] answers a few queries; [Sweep] and [PlanBatch] are for many. [Documents] lists all documents of a view. A
// searcher belongs to one goroutine; [Pool] provides them.
package search
