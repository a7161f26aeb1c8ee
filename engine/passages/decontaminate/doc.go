// Package decontaminate finds the documents of a corpus that hold items of evaluations, such as the
// questions of a benchmark, and says how much of each item they hold.
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
//	seed       an n-gram that a document holds
//	run        tokens that an item and a document have in common, one after the other, around a seed
//	candidate  a place of a document with runs of one item
//	hit        a candidate whose score reaches the threshold
//
// # Items
//
// An item is the text of a question; its answer is kept apart. Punctuation, case and line ends are
// no part of tokens and so do not matter. Its length decides which n-grams are seeds:
//
//	tokens        n       found with one word of each 15 changed
//	104 and more  13      always, but for changes just 13 or 14 words apart all along
//	24 to 103     8       always
//	5 to 23       5       always, from 10 tokens on
//	fewer         all
//
// Items of fewer than [Options].MinWords words are left out, and counted; two characters of a
// script without spaces are a word. Items of fewer than 8 words are found only as a whole. An
// n-gram that items have more than 32 times is no seed, since it is an instruction rather than a
// question, or one word again and again; items without any other are left out, and counted.
//
// # Runs and gaps
//
// A seed is extended to both sides while tokens are equal, and across gaps of up to 3 tokens on
// either side where two equal tokens follow. Runs of an item that are within 64 tokens of each
// other are one candidate; of several in one document the one with most of the item counts. The
// tokens in runs that follow each other in both texts are covered, and no others.
//
// # Score
//
// The score is the weight of the covered tokens divided by that of all, or their share in the number
// of tokens if that is less. Tokens that are only in n-grams of more than 32 items, such as an
// instruction, do not count in the number. The weight of a token is
//
//	1 / max over the n-grams with it of (items with the n-gram × documents with the n-gram)²
//
// where the documents are at least 1 and at most [Options].Common. So
// instructions of many items, a law or a licence that the corpus has more often than the question
// weigh next to nothing, and a document with the same law and another question scores low. If all
// of an item is in many documents, its weights are equal, and the score is the share that is
// covered.
//
// A candidate is no hit in any case without the words that few items share: with less than 0.3 of
// the item's rows of 3 tokens, each weighing 1 divided by the square of the items with it. So a
// template with another subject is no hit.
//
// Of hits whose passages overlap by more than half of the shorter one, the item with most equal tokens, less those
// that are not, is listed. Others are listed only if all their tokens are equal, once for each set.
//
// Documents are counted in the pass that finds candidates, all of them rather than a sample, and
// the scores are computed at its end: so a pipe can be read, and the order does not matter. Items
// of fewer than 8 words that stand in more than Common documents are phrases; they are counted, and
// no hits.
//
// Missed are items with more than one word of 15 changed, in part; those of 5 to 9 words with
// one changed; a part of an item, such as its question without the passage before it; a text said
// in other words or in another language. A false hit is a document with the same law and another
// question, if the law is four times as long and the corpus has it nowhere else.
//
// # Exactness
//
// Tokens are compared by hashes of 64 bits, runs token by token. So a false run of 5 tokens needs 5
// collisions, each with a chance of 2^-64 for a pair of words. The filter only saves look-ups.
//
// # Cost
//
// A word of English, 6 bytes with its space, takes some 10 ns to find and hash. A step of the rolling
// hash takes 1 ns; the gates of 13, 8 and 5 tokens are looked up once in 6, 4 and 2 tokens, .9 look-ups
// a token, of which one in 20 passes by chance, and finds up to 6 places for the filter: 15 ns for a
// token if the gates, 8 bits for each token of the items, are in the third-level cache. A seed costs two
// cache misses and a few tokens compared, 0.3 µs; of those that follow within runs the n-gram is known
// from the item, and if all its places are in open runs nothing else is done. An n-gram takes 40 bytes
// in the table with its token, and 64 while the table is built: 256 MB for 100,000 items of 40 tokens.
//
// BenchmarkFind took 7 ns a byte of processor time, 144 MB/s. A candidate takes some 50 bytes and its
// document's names in a temporary file; its score, a difference of sums that its item keeps, is
// computed at the end.
//
// # Concurrency
//
// Find works on all threads, and gives the same for any number of them. A Result may be read by
// many goroutines.
package decontaminate
