// Package permute defines the tables of an index. It has bit permutations, and designs: small sets of sorted tables
// that together find every fingerprint within Hamming distance k. It only computes and stores no fingerprints.
//
// # Words
//
// A table contains all fingerprints, permuted and sorted. The permutation moves the bits of the table's mask to the
// front. They are its leading bits; the paper's p_i is their number. The radius is the maximum number of flips among
// them that a query allows. A probe searches one run of the sorted table: all keys that begin with the query's
// leading bits, or with a variant of them with at most radius flips. A design is a set of tables. It is valid for k
// if, for any difference in at most k bits, some table finds the fingerprint:
//
//	for every set E of at most k of the 64 bits there is a table with |E & Mask| <= Radius.
//
//	query 1011...                     design "halves", k = 3
//	  |                                 table 0: mask = bits A, radius 1
//	  +- Apply, table 0 -> AAAABBBB     table 1: mask = bits B, radius 1
//	  |    probe AAAA, and AAAA with     3 errors: one of A and B has at most 1.
//	  |    each single bit flipped
//	  +- Apply, table 1 -> BBBBAAAA
//	       probe BBBB, and ...
//
// A table uses the top g bits of its keys as a bucket number. In package table, g is log2 n plus 0.5 to 1.5, so that
// a bucket has less than one fingerprint on average. A table with p >= g leading bits needs Ball(g, radius) probes of
// one bucket each. A table with p < g needs Ball(p, radius) probes of 2^(g-p) neighbouring buckets each. So leading
// bits beyond g save nothing, and each missing bit doubles the work.
//
// # Coverings: fewer tables for radius 0
//
// The paper uses radius 0. It divides the 64 bits into m blocks, and lets each choice of m-k blocks lead one table
// (choose-M-LEAD). At most k blocks have errors, so the leading blocks of some table have none. This uses more tables
// than necessary: not every choice of k blocks must be exactly the rest of some table. It is enough that it is part
// of such a rest. Families of b-sets of v points such that every k points are in one of them are covering designs,
// C(v, b, k). Small ones are well studied. Their sets are the rests; the complements lead. Equivalently, no k errors
// can meet all sets of leading blocks.
//
//	6 tables, k = 3: two triangles              11 tables, k = 3: the biplane
//
//	   a       d      each edge leads:          blocks 0..10, table i leads with
//	  / \     / \     2 errors to hit a         i + {1, 3, 4, 5, 9} modulo 11;
//	 b---c   e---f    triangle's 3 edges,       no 3 blocks hit all of them:
//	                  4 for both: 3 miss one.   29 of 64 bits for 11 tables.
//
// # Radii: fewer tables still, for more probes
//
// Memory is scarcer than probes: each table repeats every fingerprint, while the cache misses of independent probes
// overlap. Of m disjoint parts, some part has at most floor(k/m) of k errors. So m tables with that radius are
// enough. By the general pigeonhole principle (parts) the radii only need to sum to k-m+1. For k = 3, three parts
// need the radii (1, 0, 0) instead of (1, 1, 1). Coverings and radii can be combined:
//
//	5 tables, k = 3: mixed-3-10000
//
//	 |<---- A: 29 bits, radius 1 ---->|<-- a -->|<-- b -->|<-- c -->|<-- d -->|
//
// At most 1 error in A: table 0 finds it, with 1 + 28 probes for 28 bucket bits. Otherwise at most 1 error is in a,
// b, c, d, and one of the tables abc, abd, acd, bcd of radius 0 has none: 4 probes.
//
// This takes 33 probes, and two halves take 58. The catalogue has such families for k = 3 to 8, found by simulated
// annealing. A family is a lottery design in which a number may be drawn twice: every ticket of k errors meets the
// rest of some table in at least k-radius places.
//
// # What they cost
//
// This table is for k = 3. Probes and buckets are per query, with buckets of 28 bits as for tables of 100 M
// fingerprints. There, every table takes about 5.1 bytes per fingerprint.
//
//	design         tables leading  probes  buckets  valid because
//	one                 1 64         3683     3683  trivially
//	halves              2 32           58       58  one half has at most 1 of 3 errors
//	thirds              3 20-24        27      912  radii 1, 0, 0 sum to 3-3+1
//	paper-4             4 16            4    16384  one of 4 blocks has none
//	mixed-3-1000        4 24-28        32       77  2 in A leave 1 for a triangle
//	cover-7-5-3         5 18-19         5     4096  a triangle and 2 edges: 2+1+1 > 3
//	mixed-3-10000       5 26-29        33       43  2 in A leave 1 for 4 triples of 4 blocks
//	cover-6-4-3         6 21-22         6      640  two triangles: 2+2 > 3
//	cover-8-5-3         8 24            8      128  4 triples of 4 blocks, twice: 2+2 > 3
//	paper-10           10 25-26        10       56  2 of 5 blocks have none
//	cover-11-6-3       11 28-30        11       11  the biplane of order 3
//	cover-8-4-3        14 32           14       14  the planes of AG(3, 2)
//	paper-16           16 28           16       16  the paper's nested blocks
//	paper-20           20 31-33        20       20  3 of 6 blocks have none
//
// # Which bits
//
// Some bits may be the same on all pages of a site. So bits are assigned to blocks at random, as in the paper. The
// seed is part of the design, and seed 0 keeps the order of the bits. See [ByName].
//
// # Concurrency and cost
//
// Permutations and designs are immutable values and safe for concurrent use. Apply takes some nanoseconds;
// asm.Permute takes 1 ns per word for many words. Building a design of the catalogue takes up to 0.2 ms. Proving it
// ([Design.Validate]) takes up to 0.05 ms.
package permute
