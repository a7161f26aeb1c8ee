// Package ndf reads and writes fingerprint files in these formats: .ndf, the format of `ndd fingerprint -o`; raw
// arrays of little-endian uint64 (.bin); and the text that `ndd fingerprint` prints, with one fingerprint in
// hexadecimal digits a line.
//
// An .ndf file is a checksummed file of package store with the sections
//
//	recipe         recipe of the fingerprints, JSON         once, first
//	fingerprints   uint64 each                              \
//	text.bytes     length of the text, uint32 each           | once per chunk of
//	names          package idlist's blocks of IDs            | documents
//	names.ends     package idlist's ends                    |
//	sketches.1     package sketch's, by row; optional       |
//	hashes.1       hash of the text, 16 bytes; optional     /
//	unmarked       IDs of the documents with too few        \
//	unmarked.ends  features for a fingerprint               |  once, last
//	unmarked.hashes.1  hashes of their texts; with hashes.1 /
//
// Hashes are package ingest's, two little-endian uint64 each. Documents with equal texts have equal hashes.
//
// The file of a share ([Writer.KeepPlaces]) has the sections of places.go at the end. Because of this order a file
// can be written as documents arrive. The row of a document counts through all chunks from 0.
//
// # Memory
//
// A [Writer] holds one chunk: 12 bytes for each of at most 2^20 documents, 64 more with sketches and 16 more with
// hashes, and their compressed IDs, about 16 MiB at most. Between the first document and the millionth one, a process
// grows by up to about 100 MiB including garbage, or 45 MiB with short IDs. After that it does not grow, not even for
// the billionth document. The exception is documents without a fingerprint. Their compressed IDs and their hashes are
// all held until the end, some 2 to 20 bytes and 16 bytes for each.
package ndf
