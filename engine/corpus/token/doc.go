// Package token takes texts apart into tokens with their places in the text: words, the characters of scripts without
// spaces, punctuation marks and ends of sentences, with stop words marked. Fingerprints, shingles, SpotSigs, CCDet and
// winnowing are all made of them, so that they agree on what a word is.
//
// # Words
//
//	token        a word of a script that puts spaces between words, or one character of a script that does not
//	             (Han, kana, Thai, Lao, Khmer, Myanmar); by option also a punctuation mark or symbol
//	normal form  NFKC, full case folding, no invisible characters, ’ as ': equal words are equal bytes (normal.go)
//	chunk        a piece of text that is normalised and taken apart without looking at what is around it
//	packed       of a token's normalised bytes: lying in two machine words, as nearly all tokens do
//
// # Data flow
//
//	text ──► chunk ──► normalise, fold ──► segment ──► batch of 256 tokens ──► yield ──► token hash
//	         ascii.go  normal.go, runes.go segment.go  scanner.go                       hash.go, key.go
//	           │       positions: piece.go     ▲
//	           └── ASCII: one table-driven ────┘
//	               pass, nothing copied
//
// Words are those of UAX #29. Tokens come in batches, so that neither the loops that find them nor those that use them
// pay a call for each.
//
// # Cost
//
// English about 8 ns a word, Chinese about 10 ns a character, on one core; the hash of a token that was seen before
// about 3 ns more.
//
// # Concurrency
//
// A [Scanner] and a [Hasher] belong to one goroutine each.
package token
