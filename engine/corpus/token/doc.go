// Package token splits texts into tokens, with their positions in the text. A token is a word, or one character of a
// script without spaces. Stop words are marked. Fingerprints, shingles, SpotSigs, CCDet and winnowing all use these
// tokens, so that they agree on what a word is.
//
// # Words
//
//	token        a word of a script that puts spaces between words, or one character of a script that does not
//	             (Han, kana, Thai, Lao, Khmer, Myanmar)
//	normal form  NFKC, full case folding, no invisible characters, ’ as ': equal words are equal bytes (normal.go)
//	chunk        a piece of text that is normalised and split on its own
//	packed       a token is packed if its normalised bytes fit into two machine words; nearly all tokens do
//
// # Data flow
//
//	text ──► chunk ──► normalise, fold ──► segment ──► batch of 256 tokens ──► yield ──► token hash
//	         ascii.go  normal.go       segment.go  scanner.go                       hash.go
//	           │                               ▲
//	           └── ASCII: one table-driven ────┘
//	               pass, nothing copied
//
// Tokens are passed in batches. So neither the loops that find tokens nor those that use them need a call for each
// token.
//
// # Definition
//
// These rules define the tokens of a text in UTF-8. An invalid byte counts as U+FFFD. The properties of characters
// come from Unicode 15.
//
//  1. Cut the text at all ASCII characters except letters, digits and _ : . ' , ; " and drop the characters at which
//     it is cut. If a piece with characters beyond ASCII is longer than 16 KiB, it ends after these 16 KiB, before the
//     next character beyond ASCII that is a token by itself (rule 3) or becomes one of the characters at which texts
//     are cut. From 64 KiB on it ends before any character beyond ASCII.
//
//  2. Some characters start no sequence: characters of a combining class other than 0; the second characters of
//     canonical compositions, with the vowels 1161-1175 and tails 11A8-11C2 of Hangul; characters whose NFKC begins
//     with one of these; the invisible characters below; and the marks (M) from 10000 to 1FFFF. If more than 8 of
//     them follow each other in a piece, keep the first 8. Then bring the piece to normal form in these steps: NFKC;
//     full case folding (statuses C and F of CaseFolding.txt); remove the invisible characters; NFKC again; replace
//     U+2019 by an apostrophe. The invisible characters are category Cf, the variation selectors 180B-180D, 180F,
//     FE00-FE0F and E0100-E01EF, and 034F. The Cherokee letters 13A0-13EF become AB70-ABBF, and 13F0-13F5 become
//     13F8-13FD, unlike in CaseFolding.txt. The lower-case letters of Cherokee fold to upper case, as CaseFolding.txt
//     says. So each case becomes the other one.
//
//  3. Each character of a script without spaces is a token of kind Char:
//
//     E01-E3A E40-E4E E81-E82 E84 E86-E8A E8C-EA3 EA5 EA7-EBD EC0-EC4 EC6 EC8-ECE EDC-EDF 1000-103F 1050-108F
//     109A-109D 1780-17D3 17D7 17DC-17DD 3005 3007 303B 3041-3096 309D-309F 30A1-30FA 30FC-30FF 31F0-31FF 3400-4DBF
//     4E00-9FFF A9E0-A9EF A9FA-A9FE AA60-AA76 AA7A-AA7F F900-FA6D FA70-FAD9 FF66-FF6F FF71-FF9D 16FE3 16FF0-16FF1
//     1AFF0-1AFF3 1AFF5-1AFFB 1AFFD-1AFFE 1B000-1B122 1B132 1B150-1B152 1B155 1B164-1B167 20000-2A6DF 2A700-2B739
//     2B740-2B81D 2B820-2CEA1 2CEB0-2EBE0 2F800-2FA1D 30000-3134A 31350-323AF
//
//     These are the letters and marks (L, M) of Han, Hiragana, Katakana, Thai, Lao, Khmer and Myanmar. The numeral
//     3007 and the long vowel mark 30FC, which both kana use, are included. A vowel sign or tone mark is a token of
//     its own. Digits of these scripts are not included, and neither are combining marks that all scripts use, such
//     as 0301.
//
//  4. Segment each stretch between such characters by the default word boundaries of UAX #29, independently of its
//     neighbours. A segment that contains a letter or a number (L, N) is a token of kind Word. It keeps all its
//     characters: "isn't", "3.14", "u.s".
//
// Then options may change the tokens, in this order:
//
//   - Lexicon words with characters of kind Char, at most 32 tokens long: from left to right, the longest sequence of
//     tokens that equals such a word becomes one token of kind Word. There must be no text between these tokens.
//   - Tokens that are stop words of the Lexicon are marked.
//   - Stem: other tokens of kind Word, of 64 bytes at most, become their stems, by
//     github.com/blevesearch/snowballstem v0.9.0.
//
// # Cost
//
// One core takes about 8 ns for an English word, 10 ns for a Chinese character, and 5 ns for a byte of scripts with
// two bytes a character. The hash of a token that was seen before takes about 3 ns more. The slowest texts known take
// this multiple of the time of plain English for each byte:
//
//	letters with 2 to 8 marks each    9 to 10
//	U+3300                            11.5
//	all characters of Unicode         13
//	U+FDFA, which becomes 33 bytes    17
//
// # Concurrency
//
// A [Scanner] and a [Hasher] belong to one goroutine each.
package token
