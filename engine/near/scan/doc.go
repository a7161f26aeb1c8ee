// Package scan answers a batch of queries Q against fingerprints F that have
// no index: section 3.3 of the paper. Permuted tables are built on Q, which is
// small, and F is streamed past them.
//
//	Q --distinct, permuted, for each table--> tables
//	F, 64 MiB at a time --Map--> hits of the chunk --Reduce--> hits in order of the queries
//
// [NewPlan] says what that takes in memory, [Answer] returns the hits and [Count] their number.
//
// Map is a pure function of the tables and one chunk: chunks may go to many
// goroutines, processes or machines. Reduce puts hits in the order of a
// result, query row, distance, fingerprint, row of F, and drops repetitions, so
// that a chunk may even be mapped twice. Hits that do not fit the memory given
// for them are sorted in parts, written to temporary files and merged.
//
// # Join
//
// A table is joined with fingerprints. Queries lie in buckets by their leading bits; of each there
// are 32 other bits of its permuted key, 16 queries in a vector. A fingerprint's
// key is compared with the whole of its bucket at once; those within k in 32 bits are compared in
// 64.
//
//	key     | bucket ....... | ..................... | 32 bits |
//	                |                                      | XOR, count, least, compare
//	buckets  [ 11 queries - - - - - ] [ 15 queries - ] [ 9 queries - - - - - - - ]
//
// # Prefilter
//
// Most fingerprints are near no query, and a prefilter finds seven in eight of them for less than a
// table takes: what differs in at most 3 bits differs in at most 1 of one half, and a bit map for
// each half has the halves that are within 1 of a query's. Only candidates, which it lets pass, go
// to the tables, whose leading bits are then bits of that half. See prefilter.go.
//
//	F --scatter by both halves--> partitions --map of the half--> candidates --2 tables of the half--> hits
//
// # Cost
//
// For each fingerprint of F, |Q| = 1 M, k = 3, at 2 GHz with AVX-512, maps of 2^28 bits: 4.5 ns to
// scatter it, 2 * 1.2 to filter it, and 23 for each candidate, one half in nine, which is looked up
// in tables far from the processor; 2.5 in F of 100 M to build the maps and take their memory; and
// 250 ns for each hit. Without the prefilter four tables of 16 leading bits take 20 ns. A cost
// model chooses the design, the prefilter and the number of buckets for |Q|, |F| and k: see
// strategy.go.
//
// Memory: for each distinct query 12 bytes, and some 12 for each table; for each goroutine a chunk,
// and with a prefilter 150 MiB of partitions and maps of twice 32 MiB for 1 M queries; and the
// memory for hits. If that is too much there is no prefilter.
//
// Functions of this package may be called from many goroutines at a time.
package scan
