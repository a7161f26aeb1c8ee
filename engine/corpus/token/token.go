package token

import "encoding/binary"

// Kind says what a token is.
type Kind uint8

const (
	// Word is a word of a script that puts spaces between words, or a number.
	Word Kind = iota
	// Char is one character of a script that puts no spaces between words; of the chars tokeniser, any letter or digit.
	Char
	// Punctuation is one punctuation mark or symbol that ends no sentence.
	Punctuation
	// SentenceEnd is one punctuation mark that may end a sentence, such as "." "?" "。".
	SentenceEnd
)

var kindNames = [...]string{"word", "char", "punctuation", "sentence end"}

// String returns the name of the kind.
func (k Kind) String() string { return kindNames[k] }

// MaxPacked is the number of bytes of the longest token that [Token.Packed] holds.
const MaxPacked = 16

// Token is one token of a text. Its normalised bytes are held by the token itself where they are at most MaxPacked, and
// by the Scanner otherwise; [Scanner.AppendText] returns them in both cases.
type Token struct {
	lo, hi uint64 // the normalised bytes, padded with zeros; of a long token its place in Scanner.long and its length
	// Start and End are the range of the source text's bytes that the token was made of. Where characters were
	// normalised together, the range covers all of them, so that ranges of neighbours may be equal or overlap.
	Start, End int
	packed     uint8 // length of the normalised bytes, 0 if they are longer than MaxPacked
	// Kind says what the token is.
	Kind Kind
	// Stop is true for a word of the list of stop words that the Scanner was asked to mark.
	Stop bool
}

// Packed returns the normalised bytes as two little-endian words padded with zeros, and their number n; n is 0 for a
// token longer than MaxPacked. No normalised token has a zero byte, so that equal words are equal tokens.
func (t *Token) Packed() (lo, hi uint64, n int) { return t.lo, t.hi, int(t.packed) }

// pack returns at most MaxPacked bytes as two words.
func pack(s []byte) (lo, hi uint64) {
	var pad [MaxPacked]byte
	copy(pad[:], s)
	return binary.LittleEndian.Uint64(pad[:8]), binary.LittleEndian.Uint64(pad[8:])
}
