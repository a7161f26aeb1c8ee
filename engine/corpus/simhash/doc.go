// Package simhash turns the text of a document into a 64-bit fingerprint whose Hamming distance to
// another one says how much the two texts share: Charikar's simhash over weighted features, section 2
// of Manku, Jain and Das Sarma, "Detecting Near-Duplicates for Web Crawling", WWW 2007.
//
// # Words
//
//	token        a word of a script that puts spaces between words, or one character of a script that
//	             does not (Han, kana, Thai, Lao, Khmer, Myanmar)
//	run          the longest stretch of tokens of one kind, whatever white space and punctuation lies between
//	shingle      n tokens in a row within a run; a run shorter than n is one shingle
//	feature      a distinct shingle, known by its 64-bit hash, with a weight made from how often it occurs
//	recipe       everything that decides which fingerprint a text gets; two fingerprints may be compared
//	             only if their recipes are equal
//
// # Data flow
//
//	text ──► tokens, their hashes ──► shingle ──► count ──► votes ──► sign
//	         package token            shingle.go  count.go  counters.go, votes.go
//
// Every feature votes on each of the 64 bits: its weight for a 1 where its hash has a 1, its weight for a
// 0 where it has a 0. The fingerprint has a 1 where the ones have strictly more votes; a tie is a 0.
//
// The hash of a token is HighwayHash-64 under the recipe's key. The hash of a shingle of more than one
// token folds the hashes of its tokens (shingle.go): hashing the bytes of each shingle anew would cost
// 90 ns, the fold costs about 1.5 ns a token.
//
// # Cost
//
// English, one thread: a 6-byte word should cost about 8 ns to scan and fold, 5 ns to find in the memo of
// word hashes (L2), which counts it too if it came before, 8 ns to count if it did not, and 2 to 4 ns to vote:
// about 20 ns, or 300 MB/s. Measured on a shared virtual core: 96 MB/s on news of 1 KB, where most
// words are new to their text, 138 MB/s on chapters of a book. Chinese, where a character costs a place in
// the memo, a fold and a count, mostly of a new pair: 43 to 69 MB/s. What is missing is mispredicted
// branches: the length of each word, and whether it is new.
//
// # Concurrency
//
// A [Fingerprinter] owns its memory and belongs to one goroutine; make one for each. Everything else is
// free of state.
package simhash
