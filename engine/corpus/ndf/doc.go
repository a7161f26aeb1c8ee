// Package ndf reads and writes fingerprint files: what `ndd fingerprint -o`
// writes (.ndf), raw arrays of little-endian uint64 (.bin), NumPy's arrays of
// them (.npy), and what `ndd fingerprint` prints: hexadecimal digits, a
// fingerprint a line.
//
// An .ndf file is a checksummed file of package store with the sections
//
//	recipe         how texts became fingerprints, JSON      once, first
//	fingerprints   uint64 each                              \
//	text.bytes     length of the text, uint32 each           | once per chunk of
//	names          package idlist's blocks of IDs            | documents
//	names.ends     package idlist's ends                    |
//	sketches.1     package sketch's, by row; or none at all /
//	unmarked       IDs of the documents with too few        \
//	unmarked.ends  features for a fingerprint               /  once, last
//
// and, in the file of a share ([Writer.KeepPlaces]), those of places.go behind them,
// so that it is written as documents arrive. The row of a document counts
// through all chunks from 0.
//
// # Memory
//
// A [Writer] holds one chunk: 12 bytes for each of at most 2^20 documents and their IDs,
// compressed, about 16 MiB at most. With garbage a process takes up to about 100 MiB more for the
// millionth document than for the first, 45 MiB with short IDs, and no more for the billionth. The
// compressed IDs of documents without a fingerprint are all held until the end, some 2 to 20 bytes
// for each.
package ndf
