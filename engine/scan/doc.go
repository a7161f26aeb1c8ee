// Package scan answers a batch of queries Q against fingerprints F that have
// no index: section 3.3 of the paper. Permuted tables are built on Q, which is
// small, and F is streamed past them.
//
//	Q --distinct, permuted, for each table--> Tables
//	F, 64 MiB at a time --Map--> hits of the chunk --Reduce--> hits in order of the queries
//
// Map is a pure function of the tables and one chunk: chunks may go to many
// goroutines, processes or machines. Reduce puts hits in the order of a
// result, query row, distance, fingerprint, row of F, and drops repetitions, so
// that a chunk may even be mapped twice. Hits that do not fit the memory given
// for them are sorted in parts, written to temporary files and merged.
//
// A table is a join. Queries lie in buckets by their leading bits; of each there
// are 32 other bits of its permuted key, 16 queries in a vector. A fingerprint's
// key is compared with the whole of its bucket at once, and what is within k in
// 32 bits is compared in 64.
//
//	key     | bucket ....... | ..................... | 32 bits |
//	                |                                      | XOR, count, least, compare
//	buckets  [ 11 queries - - - - - ] [ 15 queries - ] [ 9 queries - - - - - - - ]
//
// What one table has for 1 M queries, 6 MiB, fits no near cache. So where it is
// more than a part of the second-level cache, fingerprints are first dealt into 64
// piles by their leading bits, and each pile, when it is full, is joined with its
// part of the table, 90 KiB: both kernels are in package asm, join.go and
// joindeal.go.
//
// Cost for each fingerprint of F and table, |Q| = 1 M, k = 3, at 2 GHz with AVX-512: 1.7
// to 2 ns to permute and deal, 2.1 to join; 4 tables of 16 leading bits, so 16 ns, and
// 250 ns for each hit: 50 M fingerprints a second from 100 M of which one in 200 is a
// hit, tables and order included (bench, BenchmarkBatch). Which design and how many
// buckets are best for some |Q| and k a cost model says, see cost.go.
//
// Memory: for each distinct query 12 bytes, and some 12 for each table; for each
// goroutine a chunk and the piles; and what is given for hits.
package scan
