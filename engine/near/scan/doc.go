// Package scan answers a batch of queries Q against fingerprints F that have
// no index: section 3.3 of the paper. Permuted tables are built on Q, which is
// small, and F is streamed past them.
//
//	Q --distinct, permuted, for each table--> tables
//	F, 64 MiB at a time --Map--> hits of the chunk --Reduce--> hits in order of the queries
//
// Map is a pure function of the tables and one chunk: chunks may go to many
// goroutines, processes or machines. Reduce puts hits in the order of a
// result, query row, distance, fingerprint, row of F, and drops repetitions, so
// that a chunk may even be mapped twice. Hits that do not fit the memory given
// for them are sorted in parts, written to temporary files and merged. Where only
// their number and a sum are wanted, [Count] keeps none.
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
// Most fingerprints are near no query, and a sieve says so of seven in eight for less than a
// table takes: what differs in at most 3 bits differs in at most 1 of one half, and a bit map
// for each half knows what halves are within 1 of a query's. Only what it leaves goes to the
// tables, whose leading bits are then bits of that half. See sieve.go and asm.ScatterHalves.
//
//	F --dealt by both halves--> piles --map of the half--> what is left --2 tables of the half--> hits
//
// Cost for each fingerprint of F, |Q| = 1 M, k = 3, at 2 GHz with AVX-512, maps of 2^28 bits: 4.5 ns to
// deal, 2 * 1.2 to sift, and 23 for each half in nine that is left, which tables far from the
// processor are looked up for; 2.5 in F of 100 M to make the maps and take their memory; and 250 ns for each hit.
// Without the sieve a table takes 1.8 ns to deal and 2.3 to join, 4 of them with 16 leading bits
// 16.5 ns on a quiet machine. Which design, sieve and number of buckets are best for some |Q|, |F| and k a
// cost model says, see cost.go. Of what BenchmarkMap measures for the plan that is chosen it says 0.9 to
// 1.1 for 10,000 to 1 M queries, 0.8 for 4 M and 16 M, whose tables lie far from the processor, and
// 0.5 to 0.7 for 1,000.
//
// Memory: for each distinct query 12 bytes, and some 12 for each table; for each
// goroutine a chunk and the piles, 150 MiB of a sieve, whose maps are twice 32 MiB for 1 M queries; and what
// is given for hits. Where that is too much there is no sieve.
package scan
