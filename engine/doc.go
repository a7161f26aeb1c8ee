// Package engine is the near-duplicate index: every stored fingerprint within Hamming distance k of
// a query, exactly.
//
//	fingerprint files --Build--> folder --Open--> Index --Query, Batch--> hits, nearest first
//	                               New in memory --> Index <--Insert, CheckAndInsert-- documents
//
// An [Index] is a set of immutable segments, and of memtables of the documents inserted since, which
// every query searches, too. On disk it is a folder of checksummed files. Documents are numbered in
// the order in which they came, from 0, through all files and inserts ([DocID]).
//
// An Index is safe for many goroutines. Readers never wait: they hold the version that is current when they
// begin. It may be closed at any time: calls under way end as if nothing had happened.
//
// This package and these are a stable interface, which changes with notice only:
//
//	ndd/engine/corpus/simhash     texts to fingerprints
//	ndd/engine/corpus/sketch      estimates of the similarity of texts
//	ndd/engine/corpus/format      files to documents
//	ndd/engine/corpus/text        bytes of a page or a text to UTF-8 text
//	ndd/engine/corpus/ndf         fingerprint files, the input of Build
//	ndd/engine/memory             budgets of memory
//	ndd/engine/near/dedup         a corpus against itself: what to keep, what to drop
//	ndd/permute                   which tables an index has
//	ndd/huffman                   the compression of sorted fingerprints
//
// All other packages are their parts and may change. The implementation of an Index is in
// engine/index/live.
package engine
