package token

import "encoding/binary"

// Kind is the kind of a token.
type Kind uint8

const (
	// Word is a word of a script that puts spaces between words, or a number.
	Word Kind = iota
	// Char is one character of a script that puts no spaces between words.
	Char
)

// packedMax is the maximum length in bytes of a token that a [Token] holds itself.
const packedMax = 16

// Token is one token of a text. The Token itself holds its normalised bytes if there are at most 16, and otherwise
// the Scanner holds them. [Scanner.AppendText] returns them in both cases.
type Token struct {
	lo, hi uint64 // normalised bytes, padded with zeros; for a long token, its position in Scanner.long and its length
	// Start and End are the range of bytes of the source text from which the token was made. If characters were
	// normalised together, the range includes all of them, so that ranges of neighbours may be equal or overlap.
	Start, End int
	packed     uint8 // length of the normalised bytes, 0 if they are longer than packedMax
	Kind       Kind
	// Stop is true for a stop word of the Scanner's lexicon.
	Stop bool
}

// pack returns at most packedMax bytes as two little-endian words padded with zeros. No normalised token has a zero
// byte, so that tokens are equal only if their bytes are.
func pack(s []byte) (lo, hi uint64) {
	var pad [packedMax]byte
	copy(pad[:], s)
	return binary.LittleEndian.Uint64(pad[:8]), binary.LittleEndian.Uint64(pad[8:])
}

// Odd random multipliers that spread every byte of a packed token to the top bits.
const (
	spreadLo = 0x9e3779b97f4a7c15
	spreadHi = 0xc2b2ae3d27d4eb4f
)
