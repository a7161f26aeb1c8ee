// Package plan says which tables an index should have: which design of
// permute's catalogue, packed in which layout, for n fingerprints, distance k
// and so much memory. It predicts bytes and time for every pair of them by a fixed
// cost model, picks one, and says why in words and numbers. The same request gives the
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
//	            Machine: the costs of Reference,     +-> frontier, choice, why
//	            or of Measure
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
//	list    of each probe, where a query has more than are prepared (planar; Reference counts it to the probe)
//	unit    instructions of one more unit that a probe looks into: a planar
//	        bucket, a huffman block
//	read    one random line: a function of the bytes it may lie in, since
//	        caches hold a part of them; amortised when many are in flight, in
//	        full when the next depends on it
//	beside  one more line of half a huffman block, asked for with a random one: a core waits for a dozen or so lines at a time,
//	        wherever they lie
//
// The costs are those of one machine, written down in [Reference]. [Measure] takes those of
// the machine that runs it: the first four on small tables and segments that stay in cache,
// with the very code and kernels that will answer, the reads on a
// buffer of huge pages as large as the tables will be, up to 256 MiB or what the last cache does not hold: what a miss of that takes cannot be
// told from less. Before, the buffer is read through, as tables in use have been. A query of
// a batch then costs
//
//	index + tables * table + probes * probe + units * unit + lines * read(bytes of the tables)
//
// and one alone at least the latency of each pass that waits for the one before. An index adds 20 ns to each, as a call starts goroutines,
// for a batch of a thousand or so.
// Names, ids and answers do not count. Napkin, for 2 planar tables of 100 M keys:
// 58 probes of 12 ns, 42 lines of buckets of 9 ns and 18 of runs of 14 ns.
//
// Where that is more than it takes to compare a query with all keys of one table, a
// segment does so, and the option has that time ([table.ScanNS]).
//
// What that is worth, predicted by Reference / measured on the machine that it describes, k = 3 (BenchmarkPlan
// in bench, one run, 10 M, while other programs ran; bytes agree to the third digit everywhere):
//
//	design        layout   online  batch  measured, ns
//	one           planar     0.78   0.82  46,876  44,263
//	halves        planar     1.38   1.52     916     589
//	mixed-3-1000  planar     1.32   1.57     841     370
//	cover-6-4-3   planar     1.19   1.26   1,256     525
//	cover-11-6-3  planar     1.10   1.20   1,323     247
//	halves        huffman    1.05   1.05   6,559   5,885
//	paper-10      huffman    0.93   1.12   6,623   1,658
//
// The costs are older than some of the code, which has become faster since. With costs measured on the
// machine itself, batches of 1 M and 10 M were foretold within 0.91 to 1.30 in either layout, 1.35 in one run, and queries alone within 0.81 to 1.28 (bench/record). Tables that are mapped, not loaded, have pages of 4 KiB and take longer.
//
// # Skew
//
// Real fingerprints cluster, and a bit that is nearly always 0 should not carry a
// table. With a sample, candidates are not n * Ball / 2^p but what the sample
// shows under each mask: the chance that two of its fingerprints agree there
// ([Sample]), and its longest run. A sample must be one of distinct fingerprints, as
// distribution.Distinct keeps: one of documents has the frequent fingerprints too often, and under long
// masks foretells two to three times the candidates that are counted (TestLongMasks).
//
// # Trials
//
// On request, the best option of each layout is built from a sample of
// the data and searched ([Plan.RunTrials]). By how far the model was off for a layout, all
// its options are corrected, and the choice is made again. The index's manifest keeps it. A
// choice by trials may differ from one time to the next.
//
// # Concurrency and cost
//
// Everything but [Measure] and the trials is arithmetic on values: safe anywhere. A plan takes
// about a millisecond, some tenths of a second with a sample, whatever the fingerprints
// (TestPlanningIsQuick); measuring takes about a second.
package plan
