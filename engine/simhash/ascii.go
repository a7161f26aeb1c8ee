package simhash

import "encoding/binary"

// Classes of ASCII bytes, after the word boundary property of UAX #29.
const (
	asciiBreak  = iota // white space, most punctuation: a boundary on both sides, whatever stands beside it
	asciiLetter        // ALetter
	asciiDigit         // Numeric
	asciiExtend        // ExtendNumLet: _
	asciiMid           // MidLetter, between letters only
	asciiMidAny        // MidNumLet and Single_Quote, between letters or between digits: . '
	asciiMidNum        // MidNum, between digits only: , ;
	asciiQuote         // Double_Quote: joins only Hebrew, so a break here, but none inside a chunk
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

// words segments text from byte i on, as UAX #29 does, as long as all is ASCII, and pushes the words. It
// returns where it stopped: the end of text, or the first byte of the token (possibly empty) that a
// character beyond ASCII touches.
//
// A table-driven pass over the bytes finds the end of a word; its folded bytes are then made eight at a time.
func (f *Fingerprinter) words(text []byte, i int) int {
	for i < len(text) {
		switch asciiClass[text[i]] {
		case asciiLetter, asciiDigit, asciiExtend:
		case asciiBeyond:
			return i
		default:
			i++
			continue
		}
		end := i
		wordly := false // has a letter or a digit, not underscores alone
		last := uint8(asciiExtend)
	word:
		for end < len(text) {
			class := asciiClass[text[end]]
			switch class {
			case asciiLetter, asciiDigit:
				wordly = true
			case asciiExtend:
			case asciiBeyond:
				return i
			case asciiMid, asciiMidAny, asciiMidNum:
				if end+1 == len(text) {
					break word
				}
				next := asciiClass[text[end+1]]
				if next == asciiBeyond {
					return i
				}
				joins := next == last &&
					(last == asciiLetter && class != asciiMidNum || last == asciiDigit && class != asciiMid)
				if !joins {
					break word
				}
				end++
				class = next
			default:
				break word
			}
			last = class
			end++
		}
		if wordly {
			f.asciiWord(text, i, end)
		}
		i = end
	}
	return i
}

// asciiWord folds and pushes text[i:end].
func (f *Fingerprinter) asciiWord(text []byte, i, end int) {
	n := end - i
	switch {
	case f.recipe.Tokeniser == TokeniserChars, n > memoMax:
		f.folded = f.folded[:0]
		for _, c := range text[i:end] {
			f.folded = append(f.folded, lowerASCII(c))
		}
		f.pushWord(f.folded)
		return
	case i+memoMax <= len(text):
		lo := binary.LittleEndian.Uint64(text[i:])
		hi := binary.LittleEndian.Uint64(text[i+8:])
		if n <= 8 {
			lo, hi = lo&(^uint64(0)>>(64-8*n)), 0
		} else {
			hi &= ^uint64(0) >> (128 - 8*n)
		}
		f.pushHash(f.memo.short(lowerASCII8(lo), lowerASCII8(hi), n), kindWord)
	default: // the last bytes of the text
		var pad [memoMax]byte
		copy(pad[:], text[i:end])
		lo, hi := binary.LittleEndian.Uint64(pad[:8]), binary.LittleEndian.Uint64(pad[8:])
		f.pushHash(f.memo.short(lowerASCII8(lo), lowerASCII8(hi), n), kindWord)
	}
}

func lowerASCII(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// lowerASCII8 folds eight ASCII bytes. Adding 0x80-'A' and 0x7f-'Z' to a byte raises its top bit if it is
// at least 'A', and if it is above 'Z'; no byte carries into the next one.
func lowerASCII8(x uint64) uint64 {
	const ones = 0x0101010101010101
	upper := (x + ones*(0x80-'A')) &^ (x + ones*(0x7f-'Z')) & (ones * 0x80)
	return x | upper>>2
}

// chunkEnd is the end of the chunk that starts at i: the first ASCII byte that is a boundary for words and
// for normalisation both. Nothing before it depends on anything after it.
func chunkEnd(text []byte, i int) int {
	for i < len(text) && asciiClass[text[i]] != asciiBreak {
		i++
	}
	return i
}
