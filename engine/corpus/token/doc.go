// Package token takes texts apart into tokens with their places in the text: words, the characters
// of scripts without spaces, with stop words marked.
// Fingerprints, shingles, SpotSigs, CCDet and winnowing are all made of them, so that they agree on
// what a word is.
//
// # Words
//
//	token        a word of a script that puts spaces between words, or one character of a script that does not
//	             (Han, kana, Thai, Lao, Khmer, Myanmar)
//	normal form  NFKC, full case folding, no invisible characters, ’ as ': equal words are equal bytes (normal.go)
//	chunk        a piece of text that is normalised and taken apart on its own
//	packed       of a token's normalised bytes: lying in two machine words, as nearly all tokens do
//
// # Data flow
//
//	text ──► chunk ──► normalise, fold ──► segment ──► batch of 256 tokens ──► yield ──► token hash
//	         ascii.go  normal.go       segment.go  scanner.go                       hash.go
//	           │                               ▲
//	           └── ASCII: one table-driven ────┘
//	               pass, nothing copied
//
// Tokens come in batches, so that neither the loops that find them nor those that use them pay a
// call for each.
//
// # Definition
//
// This makes the tokens of a text, which is UTF-8 (an invalid byte is U+FFFD). Properties of
// characters are those of Unicode 15.
//
//  1. Cut the text at the characters of ASCII that are neither letters nor digits nor one of _ : .
//     ' , ; " and drop them. A piece with characters beyond ASCII that is longer than 16 KiB ends before
//     the next character after these that is a token by itself, as in 3, or that becomes one of the
//     characters named here. From 64 KiB on it ends before any character beyond ASCII.
//
//  2. In each piece, of a row of characters that begin nothing keep the first 8. Such are those of combining class other than 0,
//     the second ones of canonical compositions, with the vowels 1161-1175 and tails 11A8-11C2 of Hangul, those whose
//     NFKC begins with one of these, those that are removed below, and the marks (M) from 10000 to 1FFFF.
//     Bring the piece to normal form: NFKC; full case folding (statuses C and F of
//     CaseFolding.txt), but for the Cherokee letters 13A0-13EF, which become AB70-ABBF, and
//     13F0-13F5, which become 13F8-13FD; remove the invisible characters, which are those of
//     category Cf, the variation selectors 180B-180D, 180F, FE00-FE0F and E0100-E01EF, and 034F;
//     NFKC again; U+2019 becomes an apostrophe. The lower-case letters of Cherokee fold to upper
//     case, as CaseFolding.txt has it, so that each case becomes the other.
//
//  3. Each character of a script without spaces is a token of kind Char:
//
//     E01-E3A E40-E4E E81-E82 E84 E86-E8A E8C-EA3 EA5 EA7-EBD EC0-EC4 EC6 EC8-ECE EDC-EDF 1000-103F 1050-108F
//     109A-109D 1780-17D3 17D7 17DC-17DD 3005 3007 303B 3041-3096 309D-309F 30A1-30FA 30FC-30FF 31F0-31FF 3400-4DBF
//     4E00-9FFF A9E0-A9EF A9FA-A9FE AA60-AA76 AA7A-AA7F F900-FA6D FA70-FAD9 FF66-FF6F FF71-FF9D 16FE3 16FF0-16FF1
//     1AFF0-1AFF3 1AFF5-1AFFB 1AFFD-1AFFE 1B000-1B122 1B132 1B150-1B152 1B155 1B164-1B167 20000-2A6DF 2A700-2B739
//     2B740-2B81D 2B820-2CEA1 2CEB0-2EBE0 2F800-2FA1D 30000-3134A 31350-323AF
//
//     These are the letters and marks (L, M) of Han, Hiragana, Katakana, Thai, Lao, Khmer and Myanmar,
//     with 3007, and 30FC, which is common to the kana. A vowel sign or tone mark is a token of its own.
//     Digits of these scripts are not among them, nor are combining marks that are common to all
//     scripts, such as 0301.
//
//  4. Segment each stretch between such characters by the default word boundaries of UAX #29 alone,
//     whatever is beside it. A segment with a letter or a number (L, N) is a token of kind Word,
//     with all that is in it: "isn't", "3.14", "u.s".
//
// Then options may change the tokens, in this order:
//
//   - FoldArabic: U+0622, 0623, 0625 and 0671 become 0627; 0649 and 06CC become 064A; 0640 and the marks (Mn) from
//     0600 to 08FF are removed. A token of which nothing is left is dropped.
//   - The words of the Lexicon with characters of kind Char, at most 32 tokens long: from left to right, the longest
//     row of tokens that is one of them becomes a token of kind Word. Nothing may lie between the tokens.
//   - Tokens that are stop words of the Lexicon are marked.
//   - Stem: other tokens of kind Word, of 64 bytes at most, become their stems, by
//     github.com/blevesearch/snowballstem v0.9.0.
//
// With [Options].Chars each letter, mark and number of such a word is a token of kind Char instead.
//
// # Cost
//
// English about 8 ns a word, Chinese about 10 ns a character, and scripts of two bytes a character 5 ns a byte, on one core; the hash
// of a token that was seen before about 3 ns more. A byte of no text takes more than about ten times as long as one of English, but
// for U+FDFA, which becomes 33 bytes of 4 words (15 times), and letters with two to eight marks in random order (15 times).
//
// # Concurrency
//
// A [Scanner] and a [Hasher] belong to one goroutine each.
package token
