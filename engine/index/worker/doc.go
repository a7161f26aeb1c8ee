// Package worker distributes the tables of an index over the memory nodes of a host (package numa). Workers on the
// same node search each table.
//
//	file, mapped                     node 0: arena, workers      node 1: arena, workers
//	  segment 0: tables 0, 1  --Add--> table 0 of 0, 1 of 1        table 1 of 0, 0 of 1
//	  segment 1: tables 0, 1
//
//	Request: queries --Submit--> a task for each node that has tables, all at once
//	                             worker: takes a task, searches its node's tables
//	                 <-Wait-- matches; only one table finds each of them, so
//	                          Wait appends the lists
//
// [Set.Add] places a segment while others are searched. Closing the last segment stops the workers. The next segment
// starts new ones.
//
// The largest tables are placed first. A table is placed on the node with the fewest table bytes per processor that
// has space. Nodes without processors come last. A table without space on any node stays in its file. The numbers
// of documents are placed with table 0; IDs stay in the file.
//
// Passing a task takes some 20 microseconds, and a query 1 to 2 microseconds. So a caller should search fewer than
// [QueriesMin] queries itself, in the tables of all nodes.
//
// Answers do not depend on the distribution. A [Set] is safe for concurrent use. A [Request] is used by one
// goroutine.
package worker
