// Package segment holds a set of documents' fingerprints as an immutable unit:
// the permuted tables of a design over the distinct fingerprints, the
// documents of each fingerprint, and their IDs.
//
//	ids.ordinals   documents by (rank in table 0, row), in little more than log2 n bits each
//	ids.firsts     a bit for each of them: first of its fingerprint?  (only with duplicates)
//	ids.samples    every 512th one of ids.firsts                      (only with duplicates)
//	segment        design, layout, counts (JSON)
//	names, names.ends  IDs by row (package idlist), when the documents have them
//	t0.*, t1.* ... one table for each of the design (package table)
//
// A search probes every table, drops what an earlier table reports (the canonical
// rule of permute.Design.First), and so yields each fingerprint once. Its
// documents are found by one exact probe of table 0: rank, then ordinals. The tables may be
// searched in parts ([Segment.SearchTables]): each match is found by one of them only.
// Thousands of queries are a sweep ([Segment.Sweep]): sorted,
// and the table walked once; a [Team] does its part of one beside the memory of its tables.
//
// Bytes for n distinct fingerprints of n documents: those of the tables, and
// log2 n bits each for the ordinals. The memory that building takes is known before: see
// [NewPlan]. Segments are merged by the same code, which reads their tables instead of a list of
// fingerprints ([Input.Sources]).
//
// A segment is written to a file or to memory (package store) and read from
// it; a [Segment] is safe for many goroutines, each with its own [Scratch].
package segment
