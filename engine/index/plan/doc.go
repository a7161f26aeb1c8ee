// Package plan chooses which tables an index should have: which design of
// permute's catalogue, packed in which layout, for n fingerprints, distance k
// and a limit on memory. It predicts bytes and time for every pair of them by a fixed
// cost model, picks one, and explains it in words and numbers. The same request gives the
// same plan on every machine.
//
// # Terms
//
// An option is a design in a layout. A probe reads one run of a sorted table:
// the keys that share the probe's leading bits; those keys are candidates.
// Online is the time of one query by itself, in batch that of one among
// hundreds, both on one thread with the tables in memory, for a query with few
// hits. An option is on the frontier when no other is better in bytes, online
// and in batch at once.
//
//	n, k, memory --+                          +-> bytes, part by part
//	catalogue -----+--> options --model-------+-> ns online, in batch
//	sample --------+        ^                        |
//	                   fixed costs                   +-> frontier, choice, why
//
// # Bytes
//
// Arithmetic, not measurement. n uniform keys in sorted order are a known
// distribution: at depth d of the binary tree of their leading bits, a node has
// Poisson(n / 2^d) keys, and the expected number of neighbours that first differ
// there is that of the nodes with keys on both sides. This gives the Huffman
// code of a table of 8 billion keys without the keys, and with renewal theory how
// many fit in a block. The planar layout's parts are sums of widths. The bound
// beside them is what any structure needs: 64 - log2 n + 1.44 bits a key.
//
// # Time
//
//	call    a query that comes alone, and each table of it
//	table   each table, for a query in a batch: permutation, test of hits
//	probe   instructions of one probe, everything in cache
//	unit    instructions of one more unit that a probe looks into: a planar
//	        bucket, a huffman block
//	read    one random line: a function of the bytes it may lie in, since
//	        caches hold a part of them; amortised when many are in flight, in
//	        full when the next depends on it
//
// The costs are constants, measured on one machine. A query of a batch costs
//
//	index + tables * table + probes * probe + units * unit + lines * read(bytes of the tables)
//
// and one alone at least the latency of each pass that waits for the one before. Names, ids and answers do
// not count. Where that is more than it takes to compare a query with all keys of one table, a segment
// does so, and the option has that time ([table.ScanNS]).
//
// The predictions are 0.8 to 1.4 times what is measured for a query alone, and 0.8 to 1.6 times for one of
// a batch (go run ./bench search); bytes agree to the third digit. Tables that are mapped, not loaded, have
// pages of 4 KiB and take longer.
//
// # Skew
//
// Real fingerprints cluster, and a bit that is nearly always 0 should not carry a
// table. With a sample, candidates are not n * Ball / 2^p but what the sample
// shows under each mask: the chance that two of its fingerprints agree there
// ([Sample]). A sample must be one of distinct fingerprints, as
// distribution.Distinct keeps: one of documents has the frequent fingerprints too often, and under long
// masks foretells two to three times the candidates that are counted (TestLongMasks).
//
// # Concurrency and cost
//
// Everything is arithmetic on values: safe anywhere. A plan takes about a millisecond, some
// tenths of a second with a sample, whatever the fingerprints (TestPlanningIsQuick).
package plan
