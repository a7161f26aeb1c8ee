// Package engine is the near-duplicate index: every stored fingerprint within
// Hamming distance k of a query, exactly.
//
//	fingerprint files --Build--> folder --Open--> Index --Query, Batch--> hits, nearest first
//	                                              Insert --> buffer --> segments in memory
//
// An [Index] is a list of segments (package segment) and of buffers of
// fingerprints inserted since, which every query scans whole: 4,096
// fingerprints are 32 KiB, under a microsecond. A full buffer becomes a
// segment in memory, off the Go heap; segments of like size are merged, so that
// n inserts leave about log2(n / 4,096) of them.
//
// Documents are numbered in the order in which they came, from 0, through all
// files and inserts ([DocID]).
//
// On disk an index is a folder of checksummed files (package store):
//
//	INDEX/
//	  manifest            what the index is, and which segments it has
//	  00000001.segment    tables, ids, names
//
// Build writes a folder under a temporary name beside its place and renames
// it; it appears whole or not at all. Open maps the files.
//
// On a host of several memory nodes the tables can be spread over them, each
// searched by workers beside it ([OpenOptions].Spread, package worker). Where
// they are and who searches them is no matter for the answers.
//
// An Index is safe for many goroutines. Readers never wait: they hold the
// version (segments and buffers) that is current when they begin, for 17 ns, and
// what they hold is not unmapped before they release it. An Index may be closed
// at any time: calls under way end as if nothing had happened.
package engine
