// Package cluster joins a set of fingerprints with itself. [Find] finds the clusters of fingerprints within Hamming
// distance k. It needs only enough pairs to connect each cluster. Its memory is 5 bytes a document, and
// [CandidateBytes] for each document that is near others. Memory beyond the budget of [Options.Arena] is in
// temporary files.
//
//	rows --sort--> distinct --for each table: permute, partition--> buckets of equal leading bits
//	buckets --XOR, popcount--> links --union-find--> components
//
// The join needs no index and no sort. For each table of a radius-0 design it brings the fingerprints with the same
// leading bits together in a bucket (radix.Buckets). Then it compares all pairs of a bucket (asm.NearRows). Only the
// canonical table of a pair reports it (permute.Design.First). So no pair is reported twice, and pairs take no memory.
//
// A comparison is cheap, because it takes eight keys a step. So few tables with large buckets of 15 to 150 keys are
// best. The cost for n fingerprints and T tables with p leading bits, on one thread with AVX-512, is T partitions
// (9 to 10 ns a fingerprint) and T comparisons within buckets (1.3 ns a fingerprint, and 0.064 ns for each of the n/2^p
// keys of its bucket). [Choose] returns the design with the lowest sum. Measured (BenchmarkJoin):
//
//	n       tables   leading bits   a bucket ns a fingerprint
//	1e6     4        16             15       53
//	1e7     5        18             38       64
//	1e8     6        21             48       79
//
// # Dense groups
//
// A site's template makes dense groups: thousands of fingerprints, each near hundreds of others. Equal fingerprints
// are brought together before and cost nothing. To find a cluster, the join needs only the pairs that connect it. In a
// bucket with many near pairs these are the edges of a spanning forest, and each key is reached once (forest.go). If
// very many different fingerprints share the leading bits of a table, the unconnected rest of their bucket is joined by
// itself, with tables of bits that distinguish them. If a corpus was made to collide in these bits, too, the
// cost is the square of its bucket. Measured on one thread, in us a document (BenchmarkDenseGroups):
//
//	documents                              near pairs   clusters
//	400,000 in 20 groups, 0-3 bits changed   22 million      0.4
//	400,000 in 20 groups, 2-6 bits changed   19 million      1.3
//	262,144, all values of 18 bits          129 million      1.0
//	4,194,304, all values of 22 bits      3,760 million      2.5 (with reading and output)
//
// A cluster is a connected component: not all of its members are within k of each other. Package dedup divides
// clusters. It uses [Representatives] to find the kept documents of a cluster within k of another document.
//
// # Concurrency
//
// Options.Threads goroutines compare buckets. They put links into one lock-free forest. Results depend on the
// fingerprints and options only.
package cluster
