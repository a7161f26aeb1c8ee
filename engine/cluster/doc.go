// Package cluster joins a set of fingerprints with itself and groups what is
// near: [Join] and [Pairs] find every pair within Hamming distance k, [Find] the
// clusters that the pairs connect.
//
//	rows --sort--> distinct --for each table: permute, sort--> runs of equal leading bits --XOR, popcount--> pairs --union-find--> clusters
//
// The join needs no index: each table of a radius-0 design is sorted in turn,
// fingerprints that share its leading bits stand together as a run, and all
// pairs of a run are compared. A pair is reported by its canonical table only
// (permute.Design.First), so no pair twice and no memory for pairs.
//
// Cost for n fingerprints, T tables with p leading bits: T sorts (about 20 ns
// a fingerprint, one thread) and T * n * n / 2^(p+1) comparisons (about 0.3 ns
// each): [Choose] takes the design with the least of both. Memory:
// [Options.Bytes], about 33 bytes a document. A run of m equal leading bits
// costs m^2/2 comparisons, so a corpus built to collide can be slow; equal
// fingerprints are joined before and cost nothing.
//
// A cluster is a connected component: its members need not all be within k of
// each other, which is why every member's distance to the representative is
// worth a report ([Result.Distance]). A star (Options.Star) has only what is
// within k of its representative.
package cluster
