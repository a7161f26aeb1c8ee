package token

import (
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// holds is the set of kinds of characters in a range.
type holds uint8

const (
	beyondASCII holds = 1 << iota
	letters           // or digits, without which there is no word
)

// segment pushes the tokens of a normalised chunk: characters of continuous scripts one by one, the
// stretches between them by UAX #29.
//
//	"vue的组件v2"  ►  word vue, characters 的 组 件, word v2
func (s *Scanner) segment(chunk []byte) {
	table := s.normal.table
	start := 0 // of the range that is not continuous
	var kinds holds
	for i := 0; i < len(chunk); {
		if chunk[i] < utf8.RuneSelf {
			if c := asciiClass[chunk[i]]; c == asciiLetter || c == asciiDigit {
				kinds |= letters
			}
			i++
			continue
		}
		r, size := threeBytes(chunk, i), 3
		if r == 0 {
			r, size = utf8.DecodeRune(chunk[i:])
		}
		if !table.isContinuous(r) {
			kinds |= beyondASCII
			if table.isLetter(r) {
				kinds |= letters
			}
			i += size
			continue
		}
		if start < i {
			s.spaced(chunk[:i], start, kinds)
		}
		if size == 3 {
			lo := uint64(chunk[i]) | uint64(chunk[i+1])<<8 | uint64(chunk[i+2])<<16
			s.next().set(lo, 0, 3, s.origin+i, s.origin+i+3, Char)
		} else {
			s.pushChar(chunk[i:i+size], i)
		}
		i += size
		start, kinds = i, 0
	}
	if start < len(chunk) {
		s.spaced(chunk, start, kinds)
	}
}

// spaced pushes the tokens of chunk[start:], which has no character of a continuous script.
func (s *Scanner) spaced(chunk []byte, start int, kinds holds) {
	switch {
	case kinds&beyondASCII == 0:
		s.words(chunk, start)
		return
	case kinds&letters == 0:
		return
	}
	for w := words.FromBytes(chunk[start:]); w.Next(); {
		token := w.Value()
		switch {
		case !isWord(token):
		case s.opts.Chars:
			s.pushChars(token, start)
		default:
			s.push(token, s.origin+start, s.origin+start+len(token), Word)
		}
		start += len(token)
	}
}

// wordly returns whether r makes a word of the token that it is in.
func wordly(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// isWord returns whether a token is a word: no white space, punctuation or symbols alone.
func isWord(token []byte) bool {
	for len(token) > 0 {
		r, size := utf8.DecodeRune(token)
		if wordly(r) {
			return true
		}
		token = token[size:]
	}
	return false
}

// pushChars pushes the letters, digits and marks of a word that starts at start, for the chars
// tokeniser.
func (s *Scanner) pushChars(token []byte, start int) {
	for len(token) > 0 {
		r, size := utf8.DecodeRune(token)
		if wordly(r) || unicode.IsMark(r) {
			s.pushChar(token[:size], start)
		}
		token, start = token[size:], start+size
	}
}

// pushChar pushes a character by its 1 to 4 bytes.
func (s *Scanner) pushChar(char []byte, start int) {
	var lo uint64
	for i, c := range char {
		lo |= uint64(c) << (8 * i)
	}
	s.next().set(lo, 0, len(char), s.origin+start, s.origin+start+len(char), Char)
}
