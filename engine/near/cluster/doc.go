// Package cluster joins a set of fingerprints with itself: [Find] finds the clusters of fingerprints within Hamming
// distance k, for which it needs only enough pairs to connect them.
// Memory: [Options.NeedBytes], 5.5 bytes a document where few are near others.
//
//	rows --sort--> distinct --for each table: permute, partition--> buckets of equal leading bits
//	buckets --XOR, popcount--> links --union-find--> components
//
// The join needs no index and no sort: for each table of a radius-0 design the
// fingerprints that share its leading bits are brought together in a bucket
// (radix.Buckets), and all pairs of a bucket are compared (asm.NearRows). A pair is
// reported by its canonical table only (permute.Design.First), so no pair twice and
// no memory for pairs.
//
// Comparing is so cheap, eight keys a step, that few tables with large buckets are
// best: buckets of 15 to 150 keys. Cost for n fingerprints, T tables with p leading bits,
// one thread, AVX-512: T partitions (9 to 10 ns a fingerprint) and as many
// comparisons within buckets (1.3 ns, and 0.064 for each key of a bucket, n/2^p of them).
// [Choose] returns the design with the least of both. Measured (BenchmarkJoin):
//
//	n       tables   leading bits   a bucket ns a fingerprint
//	1e6     4        16             15       53
//	1e7     5        18             38       64
//	1e8     6        21             48       79
//
// # Dense groups
//
// A site's template makes dense groups: thousands of fingerprints of which each is near hundreds.
// Equal fingerprints are brought together before and cost nothing. Of a dense group, clusters need
// no pairs but those that connect it: in a bucket where near pairs are many they are the edges of a
// spanning forest, and a key that another has reached is not compared again (forest.go). If very many different ones share the leading bits of a table, the unconnected rest of
// their bucket is joined by itself, with tables of bits that tell these apart; a corpus built to
// collide in those too costs the square of its bucket. Measured, one thread (BenchmarkDenseGroups),
// us a document:
//
//	documents                              near pairs   clusters
//	400,000 in 20 groups, 0-3 bits changed   22 million      0.4
//	400,000 in 20 groups, 2-6 bits changed   19 million      1.3
//	262,144, all values of 18 bits          129 million      1.0
//	4,194,304, all values of 22 bits      3,760 million      2.5 (with reading and output)
//
// A cluster is a connected component: its members need not all be within k of each other, so each
// member's distance to the representative is reported. [Representatives] finds the kept documents of a
// cluster that are within k of another one, for package dedup, which divides clusters.
//
// # Concurrency
//
// Buckets are compared, and components solved, by Options.Threads goroutines; links go into one
// lock-free forest. Results depend on nothing but the fingerprints and options.
package cluster
