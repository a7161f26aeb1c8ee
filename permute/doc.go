// Package permute says which tables an index has: bit permutations, and the designs that make a
// handful of sorted tables find every fingerprint within Hamming distance k. It is arithmetic only and
// stores no fingerprints.
//
// # Words
//
// A table holds all fingerprints, permuted and sorted. Its mask names the bits that the permutation
// moves to the front: its leading bits (the paper's p_i are their number). Its radius is how many
// flips among them a query allows for. A probe looks at one run of the sorted table: everything that
// begins with the query's leading bits, or with them but for a pattern of at most radius flips. A
// design is a set of tables, valid for k if whatever at most k bits differ, some table finds it:
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
// A table tells its fingerprints apart by their top g bits, as buckets (package table: g is log2 n and
// half to one and a half more, so that a bucket has less than one fingerprint). A table with p >= g leading bits needs
// Ball(g, radius) probes of one bucket each; one with p < g needs Ball(p, radius) probes of 2^(g-p) neighbouring
// buckets each. So leading bits beyond g buy nothing, and missing ones double the work each.
//
// # Coverings: fewer tables for radius 0
//
// The paper has radius 0: cut the 64 bits into m blocks, and make a table for each choice of m-k of
// them to lead (choose-M-LEAD). At most k blocks have errors, so some choice has none. But it is not
// needed that every choice of k blocks is what some table leaves behind: it is enough that it is part
// of what some table leaves behind. Families of b-sets of v points such that every k points lie
// inside one are covering designs, C(v, b, k), and decades of work went into small ones. Leave behind
// the b-sets, let their complements lead. Seen from the other side: sets of leading blocks that no k
// errors can all hit.
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
// Memory is scarcer than probes: each table repeats every fingerprint, and independent probes overlap
// their cache misses. With m disjoint parts and k errors some part has at most floor(k/m): m tables of
// that radius will do. The general pigeonhole principle (parts) needs less: radii that sum to k-m+1.
// For k = 3 three parts need not be (1, 1, 1) but (1, 0, 0).
// Parts may overlap (weave): if every bit leads in l of m tables, k errors are counted k*l times, and
// radii that sum to k*l-m+1 are enough. And coverings and radii mix:
//
//	5 tables, k = 3: mixed-3-10000
//
//	 |<---- A: 29 bits, radius 1 ---->|<-- a -->|<-- b -->|<-- c -->|<-- d -->|
//
//	At most 1 error in A: table 0 finds it, with 1 + 28 probes for 28 bucket bits. Otherwise at most
//	1 is left for a, b, c, d, and of the tables abc, abd, acd, bcd, radius 0, one has none: 4 probes.
//
// That is 33 probes where two halves take 58. The catalogue has such families for k = 3 to 8, found
// by simulated annealing; a family is a lottery design (every ticket of k errors
// meets some table's rest in at least k-radius places) in which numbers may be drawn twice.
//
// # What they cost
//
// For k = 3. Probes and buckets are per query with buckets of 28 bits, as tables of 100 M fingerprints have
// them; every table costs about 5.1 bytes a fingerprint there.
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
// A site's template may hold some bits fixed, so bits get into blocks at random, as in the paper, by a
// seed that is part of the design; seed 0 leaves them in order. See [Named].
//
// # Concurrency and cost
//
// Permutations and designs are values that nothing changes after they are made: use them from as many
// goroutines as you like. Apply takes some nanoseconds (asm.Permute 1 ns a word of many); making a design
// of the catalogue takes up to 0.2 ms, and proving it ([Design.Validate]) up to 0.05 ms.
package permute
