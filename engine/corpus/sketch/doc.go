// Package sketch makes sketches of texts. A sketch has 64 bytes, one cache line. From two sketches the package
// estimates the Jaccard similarity of the shingles of both texts. A fingerprint finds candidates, a sketch confirms them.
//
//	tokens ──► units ──► shingles ──► hash ──► bin: the largest of each ──► empty bins borrow ──► a bit of each
//
// # Definition
//
// This is version 1 of the rules.
//
// A unit is a character of a script without spaces (Han, kana, Thai, Lao, Khmer, Myanmar), or a word. A word is taken as
// its characters if a character was among the last 8 tokens before it: in Chinese, Japanese and Thai a Latin word counts as its
// characters do, while a longer stretch of Latin words in a Chinese manual has words. A run is units of one kind in a row. A shingle is 3
// words or 5 characters of a run in a row, or a whole run of fewer. Numbers are unsigned, have 64 bits and wrap around.
// The function fold, and the hashes of tokens and of characters by the key of the recipe, are those of package token:
//
//		3 words a, b, c            fold(fold(a, b), c)
//		5 characters a, b, c, d, e fold(fold(fold(a, b), fold(c, d)), e)
//		a shorter run              fold of all, from the left
//
//	  - The bin of a shingle is the top 9 bits of its hash. Its rank is the low 32 bits, with the lowest bit set to 1. The
//	    winner of a bin is the largest rank in it.
//	  - Bin j without a shingle borrows the winner of the first bin that has one among j ^ o[0], j ^ o[1], ..., where o is 1 to
//	    511 in the order of mix(o).
//	  - Bit j of the sketch is bit 1 + j mod 16 of the winner of bin j. Bit 511 is 1.
//	  - The sketch of a text with fewer than 8 distinct shingles is their set instead: the hashes, ascending, then zeros, and in the
//	    last word their number. So bit 511 is 0.
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
//	                                         English, 64 bytes  128 bytes   Chinese, 64 bytes  128 bytes
//	deviation, J from .6 to .8               .028               .024        .063               .062
//	of J >= .8, estimated at .7 and more     100.00 %           100.00 %    100.00 %           100.00 %
//	of J >= .7                                99.60 %            99.63 %     99.04 %            98.70 %
//	of J < .7                                  5.20 %             5.35 %      1.07 %             1.13 %
//	of J < .6                                  0.01 %             0.01 %      0.07 %             0.08 %
//	more time than for the fingerprint alone
//	  6.6 KB of English, 12 KB of Chinese      25 %               46 %        55 %               56 %
//	  1.2 KB of English, 1.5 KB of Chinese    123 %              401 %        49 %               99 %
//
// Twice the bytes decide no better, since most doubtful pairs are within .05 of the threshold. On invented pairs, where the exact
// similarity is of the same shingles, the deviation is .031 for 64 bytes and .022 for 128.
//
// # Cost
//
// A word takes 2 ns and a character 4 beside the fingerprint, and a text 1 us for the bits of all bins, up to 3 where most of them
// must borrow. To compare two sketches takes 2 ns, and the miss of a line of the cache.
//
// # Concurrency
//
// A [Sketcher] belongs to one goroutine. Everything else is free of state.
package sketch
