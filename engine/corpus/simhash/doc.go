// Package simhash turns the text of a document into a 64-bit fingerprint. The Hamming distance of two fingerprints
// shows how much the two texts share. The recipe selects the sketch that makes the fingerprint:
//
//	minwise   one bit of each of 64 bins of a one-permutation min-hash; a bit flips with probability (1 - J)/2, where J
//	          is the share of features, by weight, that two texts have in common
//	simhash   Charikar's simhash over weighted features, section 2 of Manku, Jain and Das Sarma, "Detecting
//	          Near-Duplicates for Web Crawling", WWW 2007; a bit flips with probability arccos(c)/pi, where c is the
//	          cosine of the two texts' vectors of features
//
// Small changes flip several times fewer bits of minwise than of simhash, because 1 - J falls faster than the angle
// does.
//
// # Words
//
//	token        a word of a script that puts spaces between words, or one character of a script that
//	             does not (Han, kana, Thai, Lao, Khmer, Myanmar)
//	feature      minwise: a token or two neighbours; simhash: a shingle with a weight made from how often it
//	             occurs; identified by its 64-bit hash
//	run          the longest sequence of tokens of one kind; white space and punctuation between them are ignored
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
// A fingerprint is made from the tokens of a text, as package token defines them. If the recipe names a language, the
// stop words of that language are left out. Before the text is split, the recipe may extract the main text of a
// page. Numbers have 64 bits and wrap around.
//
// Recipes may have settings for words ([WordSettings]). Package token applies them in this order: dictionary,
// stop_words and stop_list, stem. With idf the weight of a feature is multiplied by its factor in the table. In
// simhash the weight is multiplied by the hundredths of the factor, divided by 100 and rounded down. In minwise it is
// multiplied by the hundredths. A feature of weight 0 does not count.
//
//	mix(x)      x = (x+1) * 9e3779b97f4a7c15;  x = (x ^ x>>30) * bf58476d1ce4e5b9;  x = (x ^ x>>27) * 94d049bb133111eb;  x ^ x>>31
//	mum(a, b)   high half ^ low half of the 128-bit product a * b
//	fold(a, b)  mum(a ^ 243f6a8885a308d3, b ^ 13198a2e03707344)
//
// minwise (version 2):
//
//   - The hash h of a token of n bytes is computed from its bytes, padded with zeros to a multiple of 16 and read as
//     little-endian words (lo, hi), (lo, hi), ... With k[i] = mix(bytes 8i to 8i+7 of the key, little-endian), the
//     steps are: h = 0; for each (lo, hi): h = mum(lo ^ h ^ k[0], hi ^ k[1]); at the end h = mum(h ^ k[2], n ^ k[3]).
//   - Each token is a feature. Its weight depends on its kind: word_weight or char_weight.
//   - Each pair of neighbours a, b is a feature with the hash fold(a, b), independent of the text between them. Its
//     weight is word_pair_weight if both are words, else char_pair_weight. A pair of weight 0 is no feature.
//   - The top 6 bits of the hash of a feature select its bin. Its rank is its other 58 bits, times the smallest
//     number that is at least 2^59 / weight, divided by 2^59 and rounded down. If the weight is a power of two, that
//     is a shift. The smallest rank in a bin wins. If fewer than min_bins bins have a feature, the text has no
//     fingerprint.
//   - A bin j without a feature borrows a winner. It takes the first bin that has a feature among mix(64 t + j) >> 58
//     for t = 1, 2, ...
//   - Bit j of the fingerprint is the top bit of winner(j) * (mix(j) | 1).
//
// simhash (version 1):
//
//   - The hash of a token is HighwayHash-64 of its bytes with the key, read as 4 little-endian words. A hash of 0
//     becomes 1.
//   - A run is a maximal sequence of tokens of one kind. A feature is a sequence of n tokens within a run, where n is
//     word_shingle or char_shingle. A run of fewer tokens is one feature. The hash of a feature is computed from the
//     hashes t of its tokens: h(1) = t(1), h(n) = fold(h(n-1), t(n)).
//   - Features of words and features of characters are counted separately. A feature that occurs t times has the
//     weight 8 t (tf), floor(8 sqrt t) (sqrt-tf), 8 (1 + floor(log2 t)) (log-tf) or 8 (binary). If there are fewer
//     than min_features features, there is no fingerprint.
//   - A bit of the fingerprint is 1 if the features whose hashes have the bit set weigh more than the features whose
//     hashes do not.
//
// In the published key the bytes are 00 to 1f, and k is 9e2425d170d64369 9d25d4519671a522 751c499d8ad86c7f
// e9184a6e66fdf65d. The minwise hash of "the" is 3bc360914aadf92c, of "internationalisations" ac9962ef8e705a1c, of
// both as a pair 6e8d7933e2c98373; the simhash hashes of the two words are 17628bdb0d7946ba and 77210ada7bd33666.
// Whole texts have these fingerprints:
//
//	                  The quick brown fox jumps over the       敏捷的棕色狐狸跳过了懒狗。กาแฟ ២៣
//	                  lazy dog near the river bank.            ᏣᎳᎩ ﬁne naïve isn't 3.14
//	minwise           dc7649b7ea530094                         8c3f4b0fa4a39719
//	minwise-pairs     cc5fed7fef5383f4                         2c3f4b0fa5a39711
//	simhash           9ba0e8d4664c43ba                         d33d1baf07f57c5d
//
// The Python program .ci/interop/recipes.py was written only from this definition, without the settings of words.
//
// # Results
//
// These results are for 26,152 English and Chinese documents (manuals and books in many versions, news, licences)
// with labelled pairs. They were measured with ndd eval --pairs for the documents of each language. Jaccard is
// computed from word 3-grams or character 5-grams.
//
//   - Recall is the share of pairs of one origin with a Jaccard of at least 0.8 that are found. It is the average
//     over groups of one origin.
//   - Precision is the share of reported pairs with a Jaccard of at least 0.5.
//   - Unrelated is the number of reported pairs without common origin and with a Jaccard below 0.5, among 10^9 pairs.
//
// The values are means of 8 keys: key i is the SHA-256 of the digit i, 0 to 7. Recall differs by 1 % between the keys.
// The precision of simhash differs most: in Chinese at k = 6 from .77 to .88, and .62 with the published key. The last
// column is for the published key.
//
//	                        recall at k = 3, 4, 6    precision at 3, 4, 6    unrelated at 3
//	English  minwise        .937  .970  .992         .9993  .9985  .9938         179
//	         minwise-pairs  .922  .958  .989        1.0000  .9998  .9983          36
//	         simhash        .799  .877  .959         .9978  .9951  .9774         332
//	Chinese  minwise        .988  .994  .999         .9992  .9973  .9761          32
//	         minwise-pairs  .987  .993  .999         .9992  .9973  .9760          32
//	         simhash        .972  .986  .996         .9794  .9515  .8304       3,671
//
// The next table shows the share of pairs that are found, by Jaccard, in percent of the pairs of one origin that are
// not identical. It is the mean of 8 keys:
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
// The rates are for one core and texts of 1 and 16 KiB. minwise processes English at 290 and 380 MB/s, and Chinese at
// 120 and 150 MB/s. It takes about 16 ns a word, including 12 ns to find, fold and hash it, and 20 ns a character
// with its pair. simhash processes English at 110 and 150 MB/s, and Chinese at 80 and 69 MB/s, because it counts
// every feature.
//
// # Concurrency
//
// A [Fingerprinter] owns its memory and belongs to one goroutine. Make one for each goroutine. Everything else has no
// state.
package simhash
