// Package engine is the near-duplicate index. It finds exactly the stored fingerprints within Hamming
// distance k of a query.
//
//	fingerprint files --Build--> folder --Open--> Index --Query, Batch--> hits, nearest first
//	                               New in memory --> Index <--Insert, CheckAndInsert-- documents
//
// An [Index] consists of immutable segments, and of memtables with the documents that were inserted
// later. Every query searches both. On disk an index is a folder of files with checksums. Documents are
// numbered from 0 in order of arrival, through all files and inserts ([DocID]).
//
// An Index is safe for concurrent use. Readers never wait: they use the version that is current when they
// begin. An index may be closed at any time: calls that have begun complete normally.
//
// This package and the following packages are a stable interface, which changes only with notice:
//
//	example.org/ndd/engine/corpus/simhash     texts to fingerprints
//	example.org/ndd/engine/corpus/sketch      estimates of the similarity of texts
//	example.org/ndd/engine/corpus/format      files to documents
//	example.org/ndd/engine/corpus/text        bytes of a page or a text to UTF-8 text
//	example.org/ndd/engine/corpus/ndf         fingerprint files, the input of Build
//	example.org/ndd/engine/memory             budgets of memory
//	example.org/ndd/engine/near/dedup         a corpus against itself: which documents to keep
//	example.org/ndd/permute                   designs: the tables of an index
//	example.org/ndd/huffman                   the compression of sorted fingerprints
//
// All other packages may change. The implementation of an Index is in engine/index/live.
package engine
