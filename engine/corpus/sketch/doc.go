// Package sketch makes sketches of texts. A sketch has 64 bytes, one cache line. From two sketches the package
// estimates the Jaccard similarity of the shingles of both texts. A fingerprint finds candidates, a sketch confirms them.
//
//	tokens ──► units ──► shingles ──► hash ──► bin: the largest of each ──► empty bins borrow ──► a bit of each
//	           sketcher.go                     bins.go
//
// # Definition
//
// This is version 1 of the rules.
//
// A unit is a character of a script without spaces (Han, kana, Thai, Lao, Khmer, Myanmar), or a word. A word is taken as
// its characters if a character was among the last 8 tokens before it: in Chinese, Japanese and Thai a Latin word counts as its
// characters do, while a longer stretch of Latin words in a Chinese manual has words. A run is units of one kind in a row. A shingle is 3
// words or 5 characters of a run in a row, or a whole run of fewer. Numbers are unsigned, have 64 bits and wrap around.
// The functions fold and mix, and the hashes of tokens and of characters by the key of the recipe, are those of package token.
//
//   - The hash of a shingle of the units u1, u2, ... is fold(x, 0). Here x is 0, and for each unit x is rotated left by 11 bits and
//     XORed with the hash of the unit.
//   - The bin of a shingle is the top 9 bits of its hash. Its rank is the low 32 bits, with the lowest bit set to 1. The
//     winner of a bin is the largest rank in it.
//   - A bin 64w + b without a shingle borrows the winner of the first bin that has one among 64(w XOR (o div 64)) +
//     (b - o) mod 64, where o is 1 to 511 in the order of mix(o).
//   - The bits b(0) to b(6) of a winner are its bits 1 to 7, and b(t) = b(t-7) XOR b(t-6). Bit j of the sketch is b(0) of bin j's
//     own winner, or b(t) of a winner that is borrowed from the bin of the t-th o. Bit 511 is 1.
//   - The sketch of a text with fewer than 8 distinct shingles is their set instead: the hashes, ascending, then zeros, and in the
//     last word their number. So bit 511 is 0.
//
// Two texts with the similarity J have the same winner in a bin with probability J, and otherwise equal bits by chance.
// So J is estimated as 1 - 2 d/511, where d is how many of 511 bits differ, with the standard error sqrt((1 - J^2)/511). Of two
// sets J is exact. To compare a set with another sketch, the set is first turned into a sketch of bins.
//
// # Why 64 bytes
//
// Pairs of documents that are not equal, from the labelled development set of manuals, books, news and licences. J is that
// of word 3-grams, or of Chinese character 5-grams over letters and digits, which differ from the shingles of listings here.
//
//	                                       English     Chinese
//	pairs                                  267,245       9,463
//	deviation, J from .6 to .8                .027        .065
//	of J >= .8, estimated at .7 and more  100.00 %     99.95 %
//	of J >= .7                             99.29 %     99.23 %
//	of J < .7                               4.08 %      1.70 %
//	of J < .6                               0.00 %      0.13 %
//
// Sketches of 128 bytes decide no better, since most doubtful pairs are within .05 of the threshold. On invented pairs, where the
// exact similarity is of the same shingles, the deviation is .031, and .029 to .034 for texts of 12 to 60 words.
//
// # Cost
//
// A word or a character takes 2 ns beside the fingerprint, and a spelled word 15. The bits of all bins take 0.3 us, in a text of
// 160 shingles 0.7 and in one of 50 shingles 1.2, since most bins must borrow. So fingerprint and sketch have this share of the
// rate of the fingerprint alone:
//
//	English of 1, 3, 6.6, 30 KB            67, 81, 86, 88 %
//	Chinese of 1, 1.5, 12 KB               77, 80, 84 %
//	Chinese manuals with code, 4 to 12 KB  65 to 69 %
//
// To compare two sketches takes 2 ns, and the miss of a line of the cache.
//
// # Concurrency
//
// A [Sketcher] belongs to one goroutine. Everything else is free of state.
package sketch
