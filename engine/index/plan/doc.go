// Package plan chooses the tables of an index: a design of permute's catalogue and a layout, for n fingerprints,
// distance k and a memory limit. It predicts bytes and time for every pair by a cost model. It chooses one and
// explains the choice in sentences and numbers. The same request gives the same plan on every machine.
//
// # Terms
//
// An option is a design in a layout. A probe reads one run of a sorted table: the candidates, which are the keys that
// share the probe's leading bits. "Online" is the time of a single query. "In batch" is the time per query among
// hundreds. Both are for one thread and tables in memory, if half of the queries have an answer. An option is on the
// frontier if it is faster than all smaller ones of the frontier, alone or in batches, by more than the error of the
// model.
//
//	n, k, memory --+                          +-> bytes, part by part
//	catalogue -----+--> options --model-------+-> ns online, in batch
//	sample --------+        ^                        |
//	              costs of a machine                 +-> frontier, choice, why
//
// # Bytes
//
// Bytes are computed, not measured. The distribution of n sorted uniform keys is known. At depth d of the binary tree
// of their leading bits, a node has Poisson(n / 2^d) keys. The expected number of neighbours that first differ there
// is the expected number of nodes with keys on both sides. This gives the Huffman code of a table of 8 billion keys
// without the keys. Renewal theory gives the number of keys per block. The parts of the planar layout are sums of
// widths. For comparison, the lower bound of every structure is 64 - log2 n + 1.44 bits per key.
//
// # Time
//
//	call    a single query, and each of its tables
//	table   each table, for a query in a batch: permutation, test of hits
//	probe   instructions of one probe, with all data in the cache
//	unit    instructions of one more unit that a probe reads: a planar
//	        bucket, a huffman block
//	read    one random line: a function of the size of the memory, because caches contain
//	        a part of it; amortised if many reads are concurrent, and the full
//	        latency if the next read depends on it
//
// The costs of a plan are those of a reference machine, so that the choice is the same everywhere. [Measure] times
// random reads on this machine, and [Plan.ForMachine] predicts its times. A query of a batch takes
//
//	index + tables * table + probes * probe + units * unit + waiting * lines * read(bytes of the tables) + answers
//
// where waiting is 1/2: a search works during half of the time of its prefetched reads. A single query takes at least
// the latency of each pass that waits for the previous one. IDs are not included. If that is more than comparing the
// query with all keys of one table, a segment does the latter, and the option has its time ([table.ScanNS]).
//
// Measured times are 0.76 to 1.4 times the predicted ones of starred designs (go run ./bench search). Bytes agree to
// the third digit. Tables that are mapped, not loaded, have pages of 4 KiB and take longer.
//
// # Skew
//
// Real fingerprints cluster, and a bit that is nearly always 0 should not lead a table. With a sample, the number of
// candidates is not n * Ball / 2^p. It follows from the probability that two fingerprints of the sample agree under
// each mask ([Sample]). The sample must have distinct fingerprints, like that of distribution.Distinct. A sample of
// documents contains frequent fingerprints too often. Under long masks it predicts two to three times the counted
// candidates (TestLongMasks).
//
// # Concurrency and cost
//
// A [Sample] is used by one goroutine; all else computes with values. A plan takes about a millisecond, and some
// tenths of a second with a sample, for all fingerprints (TestPlanningIsQuick).
package plan
