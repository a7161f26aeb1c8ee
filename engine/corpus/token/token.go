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

// packedMax is the number of bytes of the longest token that a [Token] holds itself.
const packedMax = 16

// Token is one token of a text. Its normalised bytes are held by the token itself where they are at most 16, and
// by the Scanner otherwise; [Scanner.AppendText] returns them in both cases.
type Token struct {
	lo, hi uint64 // the normalised bytes, padded with zeros; of a long token its place in Scanner.long and its length
	// Start and End are the range of the source text's bytes that the token was made of. Where characters were
	// normalised together, the range covers all of them, so that ranges of neighbours may be equal or overlap.
	Start, End int
	packed     uint8 // length of the normalised bytes, 0 if they are longer than packedMax
	// Kind says what the token is.
	Kind Kind
	// Stop is true for a word of the list of stop words that the Scanner was asked to mark.
	Stop bool
}

// pack returns at most packedMax bytes as two little-endian words padded with zeros. No normalised token has a zero byte,
// so that equal words are equal tokens.
func pack(s []byte) (lo, hi uint64) {
	var pad [packedMax]byte
	copy(pad[:], s)
	return binary.LittleEndian.Uint64(pad[:8]), binary.LittleEndian.Uint64(pad[8:])
}
