package token

import (
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// segment pushes the tokens of a normalised chunk. It pushes characters of scripts without spaces one by one, and
// splits the stretches between them by UAX #29.
//
//	"vue的组件v2"  ►  word vue, characters 的 组 件, word v2
func (s *Scanner) segment(chunk []byte) {
	table := s.normal.table
	start, isASCII := 0, true // start of the stretch without such characters
	for i := 0; i < len(chunk); {
		// Pass over characters that belong to the stretch, most frequent ones first.
		if chunk[i] < utf8.RuneSelf {
			i++
			continue
		}
		if chunk[i] < 0xe0 { // two bytes
			isASCII = false
			i += 2
			continue
		}
		r, size := threeBytes(chunk, i), 3
		if r == 0 {
			r, size = utf8.DecodeRune(chunk[i:])
		}
		if !table.isContinuous(r) {
			isASCII = false
			i += size
			continue
		}
		// Push the stretch, and then the character as a token of its own.
		if start < i {
			s.spaced(chunk[:i], start, isASCII)
		}
		if size == 3 {
			lo := uint64(chunk[i]) | uint64(chunk[i+1])<<8 | uint64(chunk[i+2])<<16
			s.next().set(lo, 0, 3, s.origin+i, s.origin+i+3, Char)
		} else {
			s.pushChar(chunk[i:i+size], i)
		}
		i += size
		start, isASCII = i, true
	}
	s.spaced(chunk, start, isASCII)
}

// spaced pushes the tokens of chunk[start:], which has no character of a script without spaces. Nearly all words are
// letters, digits and marks between characters that join no words. The rules of UAX #29 take 10 ns a character, so
// spaced uses them only for the other words.
func (s *Scanner) spaced(chunk []byte, start int, isASCII bool) {
	if isASCII {
		s.words(chunk, start)
		return
	}
	table := s.normal.table
	for i := start; i < len(chunk); {
		// Find the end of a sequence of letters, digits and marks.
		begin, class, size, isWord := i, classOther, 0, false
		for ; i < len(chunk); i += size {
			r := rune(chunk[i])
			if size = 1; r >= 0xc0 && r < 0xe0 { // a copy of runeAt, which is not inlined
				r, size = r&0x1f<<6|rune(chunk[i+1]&0x3f), 2
			} else if r >= 0xe0 {
				r, size = runeAt(chunk, i)
			}
			if class = table.classOf(r); class == classLetter {
				isWord = isWord || r != '_'
			} else if class != classMark || i == begin {
				break
			}
		}
		// Push the sequence if no rule can extend it. Otherwise, the rules decide.
		switch {
		case i > begin && (i == len(chunk) || class == classGap || endsWord(chunk[i:])):
			if isWord {
				s.pushWord(chunk[begin:i], begin)
			}
		case i == begin && (class != classOther || chunk[i] < utf8.RuneSelf):
			i += size // no word begins here
		default:
			i = s.byRules(chunk, begin)
		}
	}
}

// endsWord reports whether text, which follows a letter or digit, begins with ASCII punctuation that ends the word.
// An apostrophe after a Hebrew letter belongs to the word, so the rules of UAX #29 decide about apostrophes.
func endsWord(text []byte) bool {
	if text[0] == '\'' {
		return false
	}
	if text[0] >= utf8.RuneSelf || len(text) == 1 {
		return text[0] < utf8.RuneSelf
	}
	switch asciiClass[text[1]] {
	case asciiLetter, asciiDigit, asciiExtend, asciiBeyond:
		return false
	}
	return true
}

// byRules pushes the words by UAX #29 from start up to the next ASCII boundary, and returns the end.
func (s *Scanner) byRules(chunk []byte, start int) (end int) {
	for end = start; end < len(chunk) && asciiClass[chunk[end]] != asciiBreak; end++ {
	}
	for w := words.FromBytes(chunk[start:end]); w.Next(); {
		if token := w.Value(); isWord(token) {
			s.pushWord(token, start)
		}
		start += len(w.Value())
	}
	return end
}

// pushWord pushes a word that starts at a byte.
func (s *Scanner) pushWord(token []byte, start int) {
	t := s.next()
	t.Start, t.End, t.Kind = s.origin+start, s.origin+start+len(token), Word
	s.replace(t, token)
}

// isWord reports whether a token is a word: whether it has a letter or a number.
func isWord(token []byte) bool {
	for len(token) > 0 {
		r, size := utf8.DecodeRune(token)
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return true
		}
		token = token[size:]
	}
	return false
}

// pushChar pushes a character by its 1 to 4 bytes.
func (s *Scanner) pushChar(char []byte, start int) {
	var lo uint64
	for i, c := range char {
		lo |= uint64(c) << (8 * i)
	}
	s.next().set(lo, 0, len(char), s.origin+start, s.origin+start+len(char), Char)
}
