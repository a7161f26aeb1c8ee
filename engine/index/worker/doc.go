// Package worker distributes the tables of an index over the memory nodes of a host
// (package numa), and has each searched by workers beside it.
//
//	file, mapped                     node 0: arena, workers      node 1: arena, workers
//	  segment 0: tables 0, 1  --Add--> table 0 of 0, 1 of 1        table 1 of 0, 0 of 1
//	  segment 1: tables 0, 1
//
//	Request: queries --Submit--> a task for each node that has tables, all at once
//	                             worker: takes what waits, searches its node's tables for all of it
//	                 <-Wait-- matches; each is found by one table only, so they are
//	                          put together by appending them
//
// [Set.Add] places a segment while others are searched; the last segment that is closed ends the
// workers, and the next one starts others.
//
// Tables go to the node that has least of them for its processors, the largest
// first, and only where there is room. Far memory without processors comes
// last; a table without room anywhere stays in its file. Documents' numbers go with
// table 0; IDs stay in the file.
//
// A task costs its hand-over, some 20 microseconds to a worker who sleeps and little to one who finds
// more to do, against 1 to 2 microseconds for a query. Workers who find several requests answer them
// together, and their misses overlap.
//
// Answers do not depend on any of this. A [Set] is safe for many goroutines; a
// [Request] belongs to one.
package worker
