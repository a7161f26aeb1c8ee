// Package decontaminate finds the documents of a corpus that contain items of evaluations, such as the questions of
// a benchmark. It reports how much of each item a document contains.
//
//	evaluations ─► ingest ─► tokens, hashes ─► n-grams ─► radix sort ─► table, filter
//	                                                                        │
//	corpus ──────► ingest ─► tokens, hashes ─► windows ─────────────────► seeds ─► runs ─► candidates
//	                                                                        │                  │
//	                                              documents of each n-gram ◄┘    temporary file┘
//	                                                                        └──► weights ─► scores ─► hits
//
// # Words
//
//	token      a word, or a character of a script without spaces, in normal form (package token)
//	n-gram     n tokens of an item that follow each other
//	seed       an n-gram that a document contains
//	run        a sequence of tokens around a seed that an item and a document have in common
//	candidate  a part of a document with runs of one item
//	hit        a candidate whose score reaches the threshold
//
// # Items
//
// An item is the text of a question. Its answer is stored separately. Tokens have no punctuation, case or line ends,
// so these do not matter. The length of an item decides which n-grams are seeds:
//
//	tokens        n       found with one word of each 15 changed
//	104 and more  13      always, unless the changes are 13 or 14 words apart throughout
//	24 to 103     8       always
//	5 to 23       5       always, from 10 tokens on
//	fewer         all
//
// Items with fewer than [Options].MinWords words are left out, and counted. Two characters of a script without
// spaces count as one word. Items with fewer than 8 words are found only as a whole. An n-gram that occurs more than
// 32 times in the items is no seed, because it is an instruction rather than a question, or one word repeated many
// times. Items that have no other n-grams are left out, and counted.
//
// # Runs and gaps
//
// A seed is extended to both sides while tokens are equal. It is also extended across gaps of up to 3 tokens in
// either text if two equal tokens follow. Runs of an item that are within 64 tokens of each other are one candidate.
// If a document has several candidates of an item, the one with most of the item counts. A token is covered if it is
// in one of the candidate's runs that follow each other in both texts.
//
// # Score
//
// The score is the smaller of two shares. The first is the weight of the covered tokens divided by the weight of all
// tokens. The second is the number of covered tokens divided by the number of all tokens. The second share ignores
// tokens that are only in n-grams of more than 32 items, such as an instruction. The weight of a token is
//
//	1 / max over the n-grams with it of (items with the n-gram × documents with the n-gram)²
//
// The number of documents counts as at least 1 and at most [Options].Common. So an instruction of many items has
// almost no weight, and neither has a law or a licence that the corpus has more often than the question. A document
// with the same law and another question scores low. If all n-grams of an item are in many documents, all weights
// are equal, and the score is the covered share.
//
// A candidate must also have words that few items share. It needs at least 0.3 of the item's rows of 3 tokens. Each
// row weighs 1 divided by the square of the number of items with it. So a template with another subject is no hit.
//
// If the passages of several hits overlap by more than half of the shorter one, the best item is listed: the one
// with the largest number of equal tokens minus other tokens. Another item is listed only if all its tokens are
// equal, and once for each set.
//
// Documents are counted in the pass that finds the candidates. All documents are counted, not a sample. The scores
// are computed at the end of the pass. So the input can be a pipe, and the order of documents does not matter. Items
// with fewer than 8 words that occur in more than Common documents are phrases. Phrases are counted, but are no hits.
//
// The search misses some items with more than one word of 15 changed, items of 5 to 9 words with one word changed,
// and a part of an item, such as its question without the passage before it. It also misses a text in other words or
// in another language. A document with the same law and another question is a false hit if the law is four times as
// long as the question and the corpus has the law nowhere else.
//
// # Exactness
//
// Tokens are compared by 64-bit hashes, and runs token by token. So a false run of 5 tokens needs 5 collisions. The
// chance of a collision is 2^-64 for a pair of words. The filter only saves look-ups and does not affect the result.
//
// # Cost
//
// A word of English, 6 bytes with its space, takes about 10 ns to find and hash. For each of 13, 8 and 5 tokens, a step
// of the rolling hash takes 1 ns, and a look-up in the filter 1 ns, or 10 if the filter does not fit the third-level
// cache. It has 16 bits for each n-gram. A seed costs two cache misses and the comparison of a few tokens, 0.3 µs. An
// n-gram takes 40 bytes in the table with its token, and 64 while the table is built: 256 MB for 100,000 items of 40
// tokens.
//
// BenchmarkFind took 7 ns of CPU time a byte, 144 MB/s. A candidate takes about 50 bytes in a temporary file, and the
// names of its document. Its score is computed at the end, as a difference of sums that its item keeps.
//
// # Concurrency
//
// Find uses all threads. Its result is the same for any number of threads. Many goroutines may read a Result.
package decontaminate
