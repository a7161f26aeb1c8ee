// Package segment holds a set of documents' fingerprints as an immutable unit:
// the permuted tables of a design over the distinct fingerprints, the
// documents of each fingerprint, and their IDs.
//
//	ids.ordinals   documents, sorted by rank in table 0 and row, in little more than log2 n bits each
//	ids.firsts     1 for the first document of each fingerprint, else 0 (only with duplicates)
//	ids.samples    every 512th one of ids.firsts                      (only with duplicates)
//	segment        design, layout, counts (JSON)
//	names, names.ends  IDs by row (package idlist), if the documents have IDs
//	t0.*, t1.* ... one table for each of the design (package table)
//
// A search probes every table and drops the matches that an earlier table reports (the canonical rule of
// permute.Design.First), so it yields each fingerprint once. One exact probe of table 0 finds the rank of a fingerprint
// and then its documents. The tables may be searched in parts ([Segment.SearchTables]): each match is found by exactly
// one of them. Thousands of queries are answered by a sweep ([Segment.Sweep]), which sorts them and walks each table
// once. A [Team] sweeps the tables in the memory of its node.
//
// Size: the tables, and log2 n bits for each of n documents. [NewPlan] returns the memory that building needs. The same
// code merges segments: it reads their tables instead of a list of fingerprints ([Input.Sources]).
//
// A segment is written to a file or to memory (package store) and read from
// it; a [Segment] is safe for many goroutines, each with its own [Scratch].
package segment
