package token

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// runeTable holds, for the first 65,536 characters, what the hot loops ask: 144 KiB, made once, when the
// first text beyond ASCII comes.
type runeTable struct {
	normal     [1 << 16]uint16 // the normal form where it is one character that starts anew, else 0
	continuous [1 << 10]uint64 // one bit: a character of a script without spaces
	letter     [1 << 10]uint64 // one bit: a letter or a number
}

// runes returns the table, which it makes when it is called first; that takes a few milliseconds.
var runes = sync.OnceValue(func() *runeTable {
	t := &runeTable{}
	n := newNormaliser()
	var form []byte
	for r := rune(0x80); r < 1<<16; r++ {
		if continuousScript(r) {
			t.continuous[r>>6] |= 1 << (r & 63)
		}
		if wordly(r) {
			t.letter[r>>6] |= 1 << (r & 63)
		}
		if r >= 0xd800 && r < 0xe000 || r == utf8.RuneError {
			continue
		}
		if !norm.NFKC.PropertiesString(string(r)).BoundaryBefore() {
			continue
		}
		form = n.normalForm(form[:0], string(r))
		m, size := utf8.DecodeRune(form)
		if size == len(form) && size > 0 && m < 1<<16 && norm.NFKC.Properties(form).BoundaryBefore() {
			t.normal[r] = uint16(m)
		}
	}
	return t
})

// simple returns the normal form of r, or 0 where it takes the slow way.
func (t *runeTable) simple(r rune) rune {
	if r < 1<<16 {
		return rune(t.normal[r])
	}
	if r >= 0x20000 && r < 0x2f800 || r >= 0x30000 && r < 0x32000 { // Han, less the compatibility block
		return r
	}
	return 0
}

// isContinuous returns what continuousScript does, by table.
func (t *runeTable) isContinuous(r rune) bool {
	if r < 1<<16 {
		return t.continuous[r>>6]>>(r&63)&1 != 0
	}
	return continuousScript(r)
}

// isLetter returns what wordly does, by table.
func (t *runeTable) isLetter(r rune) bool {
	if r < 1<<16 {
		return t.letter[r>>6]>>(r&63)&1 != 0
	}
	return wordly(r)
}

// continuousScript returns whether r is among the letters and vowel signs of scripts that put no spaces between words.
func continuousScript(r rune) bool {
	if r < 0xe01 {
		return false
	}
	if r == 0x30fc || r == 0x3007 { // the long vowel mark, common to the kana; the Han zero, a number
		return true
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) &&
		(unicode.IsLetter(r) || unicode.IsMark(r))
}
