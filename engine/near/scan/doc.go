// Package scan answers a batch of queries Q against fingerprints F that have
// no index (section 3.3 of the paper). It builds permuted tables of Q, which
// is small, and streams F past them.
//
//	Q --distinct, permuted, for each table--> tables
//	F, 64 MiB at a time --Map--> hits of the chunk --Reduce--> hits in order of the queries
//
// [NewPlan] returns the memory that this takes, and [Answer] the hits.
//
// Map is a pure function of the tables and one chunk, so goroutines, processes
// or machines may map chunks at the same time. Reduce sorts hits by query row,
// distance, fingerprint and row of F, and removes repetitions, so a chunk may
// even be mapped twice. Hits that exceed their memory are sorted in parts,
// written to temporary files and merged.
//
// # Join
//
// A table is joined with fingerprints. The queries of a table are in buckets
// by the leading bits of their permuted keys. The table stores 32 other bits
// of each key, 16 queries in a vector. A fingerprint's key is compared with
// its whole bucket at once. Pairs within k in these 32 bits are then compared
// in all 64.
//
//	key     | bucket ....... | ..................... | 32 bits |
//	                |                                      | XOR, count, least, compare
//	buckets  [ 11 queries - - - - - ] [ 15 queries - ] [ 9 queries - - - - - - - ]
//
// # Prefilter
//
// Most fingerprints are near no query. A prefilter excludes seven in eight of
// them in less time than one table takes. Two fingerprints that differ in at
// most 3 bits differ in at most 1 bit of one half. For each half, a bitmap
// marks the values within 1 bit of a query's half. Only candidates pass, and
// are joined with tables whose leading bits are bits of that half. See
// prefilter.go.
//
//	F --scatter by both halves--> partitions --map of the half--> candidates --2 tables of the half--> hits
//
// # Cost
//
// Nanoseconds a fingerprint of F, for 1 M queries and k = 3, at 2 GHz with
// AVX-512 and maps of 2^28 bits:
//
//	scatter                                                      4.5
//	filter both halves                                           2.4
//	look up a candidate, one half in nine, in tables in memory  23 each
//	build the maps and allocate them, F of 100 M                 2.5
//	a hit                                                      250 each
//	four tables of 16 leading bits instead of the prefilter     20
//
// A cost model chooses the design, the prefilter and the number of buckets for
// |Q|, |F| and k. See strategy.go.
//
// Memory: 12 bytes for each distinct query, and about 12 for each of them and
// each table; a chunk for each goroutine; the hits. For 1 M queries a
// prefilter needs two maps of 32 MiB and 150 MiB of partitions for each
// goroutine. A plan with too little memory has no prefilter.
//
// Functions of this package are safe for concurrent use.
package scan
