// Package engine is the near-duplicate index: every stored fingerprint within Hamming distance k of
// a query, exactly.
//
//	fingerprint files --Build--> folder --Open--> Index --Query, Batch--> hits, nearest first
//	                               New in memory --> Index <--Insert, CheckAndInsert-- documents
//
// An [Index] is a set of immutable segments, and of memtables of the documents inserted since, which
// every query scans whole. Documents are numbered in the order in which they came, from 0, through
// all files and inserts ([DocID]).
//
// On disk an index is a folder of checksummed files:
//
//	INDEX/
//	  manifest            what the index is, and which segments it has
//	  00000001.segment    tables, documents of each fingerprint, IDs
//
// An Index is safe for many goroutines. Readers never wait: they hold what is current when they
// begin, for 17 ns, and what they hold is not unmapped before they release it. An Index may be
// closed at any time: calls under way end as if nothing had happened.
//
// # What is stable
//
// This package and these are an interface for other programs, which changes with notice only:
//
//	ndd/engine                    the index
//	ndd/engine/corpus/simhash     texts to fingerprints
//	ndd/engine/corpus/document    files to texts
//	ndd/engine/near/dedup         a corpus against itself: what to keep, what to drop
//	ndd/permute                   which tables an index has
//	ndd/huffman                   the compression of sorted fingerprints
//
// All other packages are what these are made of, and change as they need to. What stands behind an
// Index is in engine/index/live.
package engine
