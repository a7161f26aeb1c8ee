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
		r, size := utf8.DecodeRune(chunk[i:])
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

func (f *Fingerprinter) pushChar(char []byte) { f.pushHash(f.memo.bytes(char), kindChar) }

// pushHash pushes a token by its hash, unless it is a stop word.
func (f *Fingerprinter) pushHash(hash uint64, k kind) {
	if hash != 0 {
		f.shingles.push(hash, k)
	}
}
