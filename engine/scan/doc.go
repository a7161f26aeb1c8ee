// Package scan answers a batch of queries Q against fingerprints F that have
// no index: section 3.3 of the paper. Permuted tables are built on Q, which is
// small, and F is streamed past them.
//
//	Q --permute, sort, for each table--> Tables
//	F, 64 MiB at a time --Map--> hits of the chunk --Reduce--> hits in order of the queries
//
// Map is a pure function of the tables and one chunk: chunks may go to many
// goroutines, processes or machines. Reduce puts hits in the order of a
// result, query row, distance, fingerprint, row of F, and drops repetitions,
// so that a chunk may even be mapped twice.
//
// For each table a chunk is permuted, and each key is looked up in a bitmap of
// the leading bits that queries have. About one key in 16 passes; it is
// compared with the queries that share its leading bits.
//
//	key  1011010..   bitmap 2^b bits, b = log2(queries) + 4, in the second-level cache for |Q| = 1 M
//	      | b bits   starts 2^d, where the queries of each d leading bits begin
//	      `--------> keys   |Q| * 8 bytes, sorted
//
// Cost for each fingerprint of F and table: 1 ns to permute, 1-2 ns for the
// bitmap, and for one in 16 a miss or two in the outer cache: 3 ns, so about
// 25 ns with 8 tables.
//
// Memory: 8 bytes a query and table, the bitmaps, a chunk for each goroutine,
// and 24 bytes a hit.
package scan
