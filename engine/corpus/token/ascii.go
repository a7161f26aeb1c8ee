package token

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Classes of ASCII bytes, after the word boundary property of UAX #29.
const (
	asciiBreak  = iota // white space, most punctuation: always a boundary on both sides
	asciiLetter        // ALetter
	asciiDigit         // Numeric
	asciiExtend        // ExtendNumLet: _
	asciiMid           // MidLetter, between letters only
	asciiMidAny        // MidNumLet and Single_Quote, between letters or between digits: . '
	asciiMidNum        // MidNum, between digits only: , ;
	asciiQuote         // Double_Quote: joins only Hebrew letters; a boundary here, but not the end of a chunk
	asciiBeyond        // 0x80 and up
)

var asciiClass = func() (class [256]uint8) {
	for c := range class {
		switch {
		case c >= 0x80:
			class[c] = asciiBeyond
		case c >= '0' && c <= '9':
			class[c] = asciiDigit
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			class[c] = asciiLetter
		}
	}
	class['_'] = asciiExtend
	class[':'] = asciiMid
	class['.'], class['\''] = asciiMidAny, asciiMidAny
	class[','], class[';'] = asciiMidNum, asciiMidNum
	class['"'] = asciiQuote
	return class
}()

// words segments text from byte i on by the rules of UAX #29, while it is ASCII, and pushes the tokens. It
// returns the position where it stopped: the end of text, or the start of the token (possibly empty) that is adjacent
// to a character beyond ASCII.
//
// Most words have up to 16 letters. For them shortWord finds, folds and packs eight bytes at a time. For all other
// words a table-driven pass over the bytes finds the end.
func (s *Scanner) words(text []byte, i int) int {
	for i < len(text) {
		switch asciiClass[text[i]] {
		case asciiLetter:
			if i+packedMax+2 <= len(text) {
				if lo, hi, n := shortWord(text[i:]); n > 0 {
					s.next().set(lo, hi, n, s.origin+i, s.origin+i+n, Word)
					i += n
					continue
				}
			}
		case asciiDigit, asciiExtend:
		case asciiBeyond:
			return i
		default:
			i++
			continue
		}
		end, wordly := asciiWordEnd(text, i)
		if end == i {
			return i
		}
		if wordly {
			s.asciiWord(text, i, end)
		}
		i = end
	}
	return i
}

// asciiWordEnd returns the end of the word that starts at i with a letter, a digit or an underscore, and whether the
// word has a letter or a digit. It returns i if the word is adjacent to a character beyond ASCII.
func asciiWordEnd(text []byte, i int) (end int, wordly bool) {
	last := uint8(asciiExtend)
	for end = i; end < len(text); end++ {
		class := asciiClass[text[end]]
		switch class {
		case asciiLetter, asciiDigit:
			wordly = true
		case asciiExtend:
		case asciiBeyond:
			return i, false
		case asciiMid, asciiMidAny, asciiMidNum:
			if end+1 == len(text) {
				return end, wordly
			}
			next := asciiClass[text[end+1]]
			if next == asciiBeyond {
				return i, false
			}
			joins := next == last &&
				(last == asciiLetter && class != asciiMidNum || last == asciiDigit && class != asciiMid)
			if !joins {
				return end, wordly
			}
			end++
			class = next
		default:
			return end, wordly
		}
		last = class
	}
	return end, wordly
}

// asciiWord folds and pushes text[i:end].
func (s *Scanner) asciiWord(text []byte, i, end int) {
	if end-i > packedMax {
		t := s.next()
		t.set(uint64(len(s.long)), uint64(end-i), 0, s.origin+i, s.origin+end, Word)
		s.long = slices.Grow(s.long, end-i)
		for _, c := range text[i:end] {
			s.long = append(s.long, lowerASCII(c))
		}
		return
	}
	lo, hi := pack(text[i:end])
	s.next().set(lowerASCII8(lo), lowerASCII8(hi), end-i, s.origin+i, s.origin+end, Word)
}

// shortWord folds and packs the word at the start of s if the word has 1 to 16 letters and the next byte ends it.
// Otherwise n is 0. s must have at least 18 bytes.
func shortWord(s []byte) (lo, hi uint64, n int) {
	_ = s[packedMax+1]
	lo = binary.LittleEndian.Uint64(s)
	if stop := ^letters8(lo) & tops; stop != 0 {
		n = bits.TrailingZeros64(stop) / 8
		lo = (lo | ones*0x20) & (1<<(8*n) - 1)
	} else {
		hi = binary.LittleEndian.Uint64(s[8:])
		n = 8 + bits.TrailingZeros64(^letters8(hi)&tops)/8
		lo |= ones * 0x20
		hi = (hi | ones*0x20) & (1<<(8*(n-8)) - 1) // a shift by 64 gives a mask of all bits
	}
	switch asciiClass[s[n]] {
	case asciiBreak, asciiQuote, asciiMidNum:
		return lo, hi, n
	case asciiMid, asciiMidAny:
		if next := asciiClass[s[n+1]]; next != asciiLetter && next != asciiBeyond {
			return lo, hi, n
		}
	}
	return 0, 0, 0
}

const (
	ones = 0x0101010101010101
	tops = 0x8080808080808080
)

// letters8 sets the top bit of each byte that is an ASCII letter. It clears the top bits first. Adding 0x80-'a' to a
// folded byte sets its top bit if the byte is at least 'a', and adding 0x7f-'z' sets it if the byte is above 'z'. No
// byte carries into the next one. Folding turns @[\]^ into `{|}~ and DEL, and none of these is a letter.
func letters8(x uint64) uint64 {
	y := (x | ones*0x20) &^ tops
	return (y + ones*(0x80-'a')) &^ (y + ones*(0x7f-'z')) &^ x & tops
}

func lowerASCII(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// lowerASCII8 folds eight ASCII bytes. Adding 0x80-'A' to a byte sets its top bit if the byte is at least 'A', and
// adding 0x7f-'Z' sets it if the byte is above 'Z'. No byte carries into the next one.
func lowerASCII8(x uint64) uint64 {
	upper := (x + ones*(0x80-'A')) &^ (x + ones*(0x7f-'Z')) & tops
	return x | upper>>2
}
