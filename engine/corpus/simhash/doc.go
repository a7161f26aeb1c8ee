// Package simhash turns the text of a document into a 64-bit fingerprint whose Hamming distance to
// another one says how much the two texts share. Which sketch makes the fingerprint is part of its
// recipe:
//
//	minwise   one bit of each of 64 bins of a one-permutation min-hash; a bit flips with probability (1 - J)/2, where J
//	          is the share of features, by weight, that two texts have in common
//	simhash   Charikar's simhash over weighted features, section 2 of Manku, Jain and Das Sarma, "Detecting
//	          Near-Duplicates for Web Crawling", WWW 2007; a bit flips with probability arccos(c)/pi, where c is the
//	          cosine of the two texts' vectors of features
//
// Small changes flip several times fewer bits of the first, because 1 - J falls faster than the
// angle does.
//
// # Words
//
//	token        a word of a script that puts spaces between words, or one character of a script that
//	             does not (Han, kana, Thai, Lao, Khmer, Myanmar)
//	feature      of minwise: a token or two neighbours; of simhash: a shingle with a weight made from how often it
//	             occurs; known by its 64-bit hash
//	run          the longest sequence of tokens of one kind, whatever white space and punctuation lies between
//	shingle      n tokens in a row within a run; a run shorter than n is one shingle
//	recipe       everything that decides which fingerprint a text gets; two fingerprints may be compared
//	             only if their recipes are equal
//
// # Data flow
//
//	                             ┌─► hash ──► bin, rank ──► least of each bin ──► bit of each        minwise.go
//	text ──► tokens ─────────────┤
//	         package token       └─► hash ──► shingle ──► count ──► votes ──► sign                   simhash.go
//
// # Definition
//
// A fingerprint is made of a text's tokens, as package token defines them, less stop words if the
// recipe names a language. Before that the recipe may extract the main text of a page and drop
// parts of the text ([token.Drop]). Numbers have 64 bits and wrap around.
//
// Recipes may have settings for words ([WordSettings]), which package token applies in this order: fold,
// dictionary, stop_words and stop_list, stem. With idf the weight of a feature is multiplied by its factor of
// the table: simhash weights times the hundredths of the factor, divided by 100 and rounded down; minwise
// weights times the hundredths. A weight of 0 makes no feature.
//
//	mix(x)      x = (x+1) * 9e3779b97f4a7c15;  x = (x ^ x>>30) * bf58476d1ce4e5b9;  x = (x ^ x>>27) * 94d049bb133111eb;  x ^ x>>31
//	mum(a, b)   high half ^ low half of the 128-bit product a * b
//	fold(a, b)  mum(a ^ 243f6a8885a308d3, b ^ 13198a2e03707344)
//
// minwise (versions 2 and 3):
//
//   - The hash of a token of n bytes is computed from its bytes, padded with zeros to a multiple of
//     16 and read as little-endian words (lo, hi), (lo, hi), ..., and k[i] = mix(bytes 8i to 8i+7
//     of the key, little-endian): h = 0; for each (lo, hi): h = mum(lo ^ h ^ k[0], hi ^ k[1]); at
//     the end mum(h ^ k[2], n ^ k[3]).
//   - Tokens are words or characters. In version 3 a word of at most 16 bytes that starts with one of 0
//     to 9 is a number, and a character below U+2000, or from U+A000 to U+AFFF, is a letter.
//   - Each token is a feature, of the weight of its kind: word_weight, number_weight, char_weight,
//     letter_weight. Each two neighbours a, b are one with the hash fold(a, b), whatever lies between
//     them: of number_pair_weight if one is a number, else of word_pair_weight if both are words, else
//     of letter_pair_weight if both are letters, else of char_pair_weight. A weight of 0 makes no
//     feature.
//   - The top 6 bits of a feature's hash are its bin. Its other 58 bits, times the smallest number that
//     is at least 2^59 / weight, divided by 2^59 and rounded down, are its rank; with a weight of a
//     power of two that is a shift. The smallest rank in a bin wins. With fewer than min_bins bins
//     that have a feature the text has no fingerprint.
//   - Bin j without a feature borrows the winner of the first bin that has one among mix(64 t + j)
//     >> 58 for t = 1, 2, ...
//   - Bit j of the fingerprint is the top bit of winner(j) * (mix(j) | 1).
//
// simhash (version 1):
//
//   - The hash of a token is HighwayHash-64 of its bytes with the key, read as 4 little-endian
//     words; a hash of 0 becomes 1.
//   - A run is all tokens in a row of one kind. A feature is n tokens in a row of a run, n =
//     word_shingle or char_shingle, or a whole run of fewer. Its hash is that of the tokens,
//     folded: h(1) = t(1), h(n) = fold(h(n-1), t(n)).
//   - Features of words and of characters are counted apart. A feature that occurs t times has the
//     weight 8 t (tf), floor(8 sqrt t) (sqrt-tf), 8 (1 + floor(log2 t)) (log-tf) or 8 (binary).
//     With fewer than min_features features there is no fingerprint.
//   - A bit of the fingerprint is 1 if the features whose hashes have it set weigh more than those
//     whose hashes have it clear.
//
// With the published key (bytes 00 to 1f; ordered has that of version 3), k is
// 9e2425d170d64369 9d25d4519671a522 751c499d8ad86c7f e9184a6e66fdf65d. The minwise hash of "the" is
// 3bc360914aadf92c, of "internationalisations" ac9962ef8e705a1c, of both as a pair
// 6e8d7933e2c98373; the simhash hashes of the two words are 17628bdb0d7946ba and 77210ada7bd33666.
// Whole texts:
//
//	                  The quick brown fox jumps over the       敏捷的棕色狐狸跳过了懒狗。กาแฟ ២៣
//	                  lazy dog near the river bank.            ᏣᎳᎩ ﬁne naïve isn't 3.14
//	minwise           dc7649b7ea530094                         8c3f4b0fa4a39719
//	minwise-pairs     cc5fed7fef5383f4                         2c3f4b0fa5a39711
//	ordered           56d1ca4d949ac815                         c9bce0c5f7e613d5
//	simhash           9ba0e8d4664c43ba                         d33d1baf07f57c5d
//
// .ci/interop/recipes.py is written from this alone, in Python, but for the settings of words.
//
// # Results
//
// Measured on 26,152 English and Chinese documents (manuals and books in many versions, news,
// licences) with labelled pairs, by ndd eval --pairs of the documents of one language; Jaccard is that of word 3-grams
// or character 5-grams. Recall: of pairs of one origin with Jaccard of 0.8 and more, the share found, averaged over
// groups of one origin. Precision: of all pairs reported, the share with Jaccard of 0.5 and more. Unrelated: pairs
// without common origin and with Jaccard below 0.5 in 10^9 pairs. These are of the recipes with the published key;
// other keys give recalls that differ by 1 % or so.
//
//	                        recall at k = 3, 4, 6    precision at 3, 4, 6    unrelated at 3
//	English  minwise        .937  .974  .995         .9998  .9994  .9958         179
//	         minwise-pairs  .924  .961  .994        1.0000  .9998  .9963          36
//	         simhash        .800  .872  .949         .9909  .9861  .9658         332
//	Chinese  minwise        .986  .992  .998         .9993  .9983  .9814          32
//	         minwise-pairs  .985  .992  .998         .9993  .9983  .9811          32
//	         simhash        .974  .987  .996         .9189  .8375  .6241       3,671
//
// Found by Jaccard, mean of 8 keys, in percent of pairs of one origin that are not identical:
//
//	                        k = 3: .95-1  .9-.95  .8-.9  .7-.8  .5-.7     k = 6: .8-.9  .7-.8  .5-.7
//	English  minwise                 99.8   93.4   69.5   40.0   12.4             94.1   80.5   47.4
//	         minwise-pairs           99.7   91.0   58.4   23.5    2.6             92.3   69.1   25.7
//	         simhash                 95.1   65.5   38.5   22.1   12.7             81.0   62.4   49.9
//	Chinese  minwise                100.0   94.4   73.5   43.1    6.4             96.9   81.5   31.9
//	         minwise-pairs          100.0   92.8   70.2   34.4    5.1             96.4   78.9   28.7
//	         simhash                 99.6   83.9   64.9   47.6   20.7             93.6   89.7   57.2
//
// # Cost
//
// One core, text of 1 and 16 KiB. minwise: English
// 290 and 380 MB/s, Chinese 120 and 150 MB/s: about 16 ns a word, of which 12 are spent to find, fold
// and hash it, and 20 ns a character with its pair. simhash: English 110 and 150 MB/s, Chinese 80 and
// 69 MB/s; it counts every feature.
//
// # Concurrency
//
// A [Fingerprinter] owns its memory and belongs to one goroutine; make one for each. Everything
// else is free of state.
package simhash
