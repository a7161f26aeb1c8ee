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
//	call    a query that comes alone, and each table of it
//	table   each table, for a query in a batch: permutation, test of hits
//	probe   instructions of one probe, everything in cache
//	unit    instructions of one more unit that a probe looks into: a planar
//	        bucket, a huffman block
//	read    one random line: a function of the bytes it may lie in, since
//	        caches hold a part of them; amortised when many are in flight, in
//	        full when the next depends on it
//
// The first four are measured on small tables and segments that stay in cache,
// with the very code and kernels that will answer ([Here]), the reads on a
// buffer of huge pages as large as the tables will be, up to 256 MiB. A query of
// a batch then costs
//
//	tables * table + probes * probe + units * unit + lines * read(bytes of the tables)
//
// and one alone at least the latency of each pass that waits for the one before.
// Names, ids and answers do not count. Napkin, for 2 planar tables of 100 M keys:
// 58 probes of 12 ns, 42 lines of buckets of 9 ns and 18 of runs of 14 ns.
//
// What that is worth, predicted / measured with AVX-512, k = 3 (BenchmarkPlan in bench, one run, 10 M; bytes
// agree to the third digit everywhere):
//
//	design        layout   online  batch  measured, ns
//	one           planar     1.22   1.19  43,456  44,702
//	halves        planar     0.97   1.18   1,555   1,072
//	mixed-3-1000  planar     0.89   1.18   1,291     657
//	cover-6-4-3   planar     0.87   1.05   1,773     861
//	cover-11-6-3  planar     0.61   0.67   2,042     437
//	halves        huffman    0.85   0.73  25,088  27,997
//	paper-10      huffman    0.94   1.16   8,723   2,142
//
// Furthest off are eleven tables of one probe each, whose instructions hide fewer of their misses than
// assumed. It repeats within a factor of 1.3 or so: what other programs do to the caches
// while costs are measured shows in them. Tables that are mapped, not loaded, have
// pages of 4 KiB and take longer.
//
// # Skew
//
// Real fingerprints cluster, and a bit that is nearly always 0 should not carry a
// table. With a sample, candidates are not n * Ball / 2^p but what the sample
// shows under each mask: the chance that two of its fingerprints agree there
// ([Sample]), and its longest run.
//
// # Trial
//
// Before an index is built, the best option of each layout is made of a sample of
// the data and asked ([Plan.Try]). By how far the model was off for a layout, all
// its options are corrected, and the choice is made again: one decision about
// design and layout, by cost measured on the data. The index's manifest keeps it.
//
// # Concurrency and cost
//
// Everything but [Here] is arithmetic on values: safe anywhere. A plan takes
// about a millisecond, seconds with a large sample; measuring under a second,
// once a process ([Here]).
package plan
