package simhash

import (
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
)

// segment pushes the tokens of a normalised chunk: characters of continuous scripts one by one, what lies
// between them by UAX #29.
//
//	"vue的组件v2"  ►  word vue, characters 的 组 件, word v2
func (f *Fingerprinter) segment(chunk []byte) {
	table := f.normal.table
	start := 0 // of the stretch that is not continuous
	ascii := true
	for i := 0; i < len(chunk); {
		if chunk[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := decodeValid(chunk[i:])
		if !table.isContinuous(r) {
			ascii = false
			i += size
			continue
		}
		if start < i {
			f.stretch(chunk[start:i], ascii)
		}
		f.pushChar(chunk[i : i+size])
		i += size
		start, ascii = i, true
	}
	if start < len(chunk) {
		f.stretch(chunk[start:], ascii)
	}
}

// stretch pushes the words of text that has no character of a continuous script.
func (f *Fingerprinter) stretch(s []byte, ascii bool) {
	if ascii {
		f.words(s, 0)
		return
	}
	for w := words.FromBytes(s); w.Next(); {
		if token := w.Value(); isWord(token) {
			f.pushWord(token)
		}
	}
}

// isWord tells words from white space, punctuation and symbols.
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

// pushWord pushes a folded word; the chars tokeniser takes its letters and digits apart.
func (f *Fingerprinter) pushWord(token []byte) {
	if f.recipe.Tokeniser != TokeniserChars {
		f.pushHash(f.memo.bytes(token), kindWord)
		return
	}
	for len(token) > 0 {
		r, size := utf8.DecodeRune(token)
		if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) {
			f.pushChar(token[:size])
		}
		token = token[size:]
	}
}

// pushChar pushes a character by its 1 to 4 bytes.
func (f *Fingerprinter) pushChar(char []byte) {
	if len(char) != 3 {
		f.pushHash(f.memo.bytes(char), kindChar)
		return
	}
	packed := uint64(char[0]) | uint64(char[1])<<8 | uint64(char[2])<<16
	f.pushHash(f.memo.short(packed, 0, 3).hash, kindChar)
}

// decodeValid decodes the first character of valid UTF-8 that begins with one beyond ASCII; the three-byte ones of
// Chinese, Japanese and Thai without a call.
func decodeValid(s []byte) (r rune, size int) {
	if s[0]&0xf0 == 0xe0 && len(s) >= 3 {
		return rune(s[0]&0x0f)<<12 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), 3
	}
	return utf8.DecodeRune(s)
}

// pushSlot pushes a word by its slot in the memo.
func (f *Fingerprinter) pushSlot(s *memoSlot) {
	switch {
	case f.shingles.size[kindWord] > 1 || s.hash == 0:
		f.pushHash(s.hash, kindWord)
	case s.text == f.text && f.shingles.kind == kindWord:
		f.counts[kindWord].again(s.feature)
	default:
		f.pushHash(s.hash, kindWord)
		s.text, s.feature = f.text, f.counts[kindWord].last
	}
}

// pushHash pushes a token by its hash, unless it is a stop word.
func (f *Fingerprinter) pushHash(hash uint64, k kind) {
	if hash != 0 {
		f.shingles.push(hash, k)
	}
}
