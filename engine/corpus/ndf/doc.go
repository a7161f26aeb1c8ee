// Package ndf reads and writes fingerprint files: what `ndd fingerprint -o`
// writes (.ndf), raw arrays of little-endian uint64 (.bin), NumPy's arrays of
// them (.npy), and what `ndd fingerprint` prints: hexadecimal digits, a
// fingerprint a line.
//
// An .ndf file is a checksummed file of package store with the sections
//
//	recipe         how texts became fingerprints, JSON      once, first
//	fingerprints   uint64 each, or two of them              \
//	text.bytes     length of the text, uint32 each           | once per 2^20
//	names          package idlist's blocks of IDs            | documents
//	names.ends     package idlist's ends                    /
//	unmarked       IDs of the documents with too few        \
//	unmarked.ends  features for a fingerprint               /  once, last
//
// so that it is written as documents arrive, with memory for 2^20 of them.
// The row of a document counts through all chunks from 0.
package ndf
