// Package cluster joins a set of fingerprints with itself and groups what is
// near: [Join] and [Pairs] find every pair within Hamming distance k, [Find] the
// clusters that the pairs connect. Memory: [Options.Bytes], about 33 bytes a document.
//
//	rows --sort--> distinct --for each table: permute, partition--> runs of equal leading bits --XOR, popcount--> pairs --union-find--> clusters
//
// The join needs no index and no sort: for each table of a radius-0 design the
// fingerprints that share its leading bits are brought together as a run
// (radix.Runs), and all pairs of a run are compared (asm.NearRows). A pair is
// reported by its canonical table only (permute.Design.First), so no pair twice and
// no memory for pairs.
//
// Comparing is so cheap, eight keys a step, that few tables with long runs are
// best: runs of 15 to 150. Cost for n fingerprints, T tables with p leading bits,
// one thread, AVX-512: T partitions (9 to 10 ns a fingerprint) and as many
// comparisons of runs (1.3 ns, and 0.064 for each key of a run, n/2^p of them).
// [Choose] takes the design with the least of both. Measured (BenchmarkJoin):
//
//	n       tables   leading bits   a run    ns a fingerprint
//	1e6     4        16             15       53
//	1e7     5        18             38       64
//	1e8     6        21             48       79
//
// Equal fingerprints are joined before and cost nothing. Where very many different
// ones share the leading bits of a table, their run is joined by itself, with tables of
// its own; a corpus built to collide in those too costs the square of its run.
//
// A cluster is a connected component: its members need not all be within k of
// each other, which is why every member's distance to the representative is
// worth a report ([Result.Distance]). A star (Options.Star) has only what is
// within k of its representative.
package cluster
