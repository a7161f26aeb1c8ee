// Package plan says which tables an index should have: which design of
// permute's catalogue, packed in which layout, for n fingerprints, distance k
// and so much memory. It predicts bytes and time for every pair of them, with
// the machine's own costs, picks one, and says why in words and numbers.
//
// # Words
//
// An option is a design in a layout. A probe reads one run of a sorted table:
// the keys that share the probe's leading bits; those keys are candidates.
// Online is the time of one query asked alone, in batch that of one among
// hundreds, both on one thread with the tables in memory, for a query with few
// hits. An option is on the frontier when no other is better in bytes, online
// and in batch at once.
//
//	n, k, memory --+                          +-> bytes, part by part
//	catalogue -----+--> options --model-------+-> ns online, in batch
//	sample --------+        ^                        |
//	            Machine: costs measured here         +-> frontier, choice, why
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
//	table   fixed work of a table for a query that comes alone
//	probe   instructions of one probe in passes, everything in cache
//	unit    instructions of one more unit: a planar table's 64 bytes of run, a
//	        huffman table's block
//	read    one random line: a function of the bytes it may lie in, since
//	        caches hold a part of them; amortised when many are in flight, in
//	        full when the next depends on it
//
// The first three are measured on a small table that stays in cache, with the
// very code and kernels that will answer ([Measure]), the reads on a buffer
// as large as the tables will be, up to a few hundred MiB. A probe of a batch then costs
//
//	probe + units * unit + lines * read(bytes of the tables)
//
// and a query alone at least the latency of each pass that waits for the one
// before. Napkin, for 2 tables of 100 M keys: 46 probes, 50 lines of 15 ns, 0.8 us
// of reading and 0.3 us of instructions.
//
// # Skew
//
// Real fingerprints cluster, and a bit that is nearly always 0 should not carry a
// table. With a sample, candidates are not n * Ball / 2^p but what the sample
// shows under each mask: the chance that two of its fingerprints agree there
// ([Sample.Share]), and its longest run.
//
// # Concurrency and cost
//
// Everything but [Measure] is arithmetic on values: safe anywhere. A plan takes
// about a millisecond, seconds with a large sample; measuring under a second,
// once a process ([Here]).
package plan
