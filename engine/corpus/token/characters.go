package token

import "unicode/utf8"

// characters handles scripts without spaces from byte i on, without normalising a chunk. It pushes characters that
// are their own normal form and skips the punctuation between them. It returns the position where it stopped: the end
// of text, an ASCII byte, or a character from which on a chunk must be normalised, possibly i itself. A token must
// end before byte i.
//
// A character may be pushed if the next one cannot combine with it. That is true if the next one is ASCII or has an
// entry in the rune table.
func (s *Scanner) characters(text []byte, i int) int {
	if s.normal.table == nil {
		s.normal.table = runes()
	}
	table := s.normal.table
	r := threeBytes(text, i)
	for r != 0 {
		next := rune(0)
		if i+3 < len(text) && text[i+3] >= utf8.RuneSelf {
			if next = threeBytes(text, i+3); table.normal[next] == 0 {
				return i
			}
		}
		switch {
		case rune(table.normal[r]) == r && table.continuous[r>>6]>>(r&63)&1 != 0:
			lo := uint64(text[i]) | uint64(text[i+1])<<8 | uint64(text[i+2])<<16
			s.next().set(lo, 0, 3, i, i+3, Char)
		case !separates(rune(table.normal[r])):
			return i
		}
		i += 3
		r = next
	}
	return i
}

// separates reports whether a normal form is punctuation that is part of no word if a token ends before it. Then any
// character after it begins a new token.
func separates(normal rune) bool {
	switch {
	case normal == 0:
		return false
	case normal < utf8.RuneSelf:
		class := asciiClass[normal]
		return class != asciiLetter && class != asciiDigit && class != asciiExtend
	}
	return normal >= 0x3001 && normal <= 0x3003 || normal >= 0x3008 && normal <= 0x3011 || normal == 0x2014 ||
		normal >= 0x201c && normal <= 0x201d
}
