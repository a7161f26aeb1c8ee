package token

import (
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// runeTable holds properties of characters for the inner loops. It has 540 KiB and is made once, for the first text
// that is not ASCII.
type runeTable struct {
	normal     [1 << 16]uint16         // the normal form if it is one character that starts a sequence, else 0
	form       [1 << 16]uint16         // the index in forms of a longer normal form that starts a sequence, else 0
	forms      []string                // normal forms of 1,200 characters
	start      [classified / 64]uint64 // one bit: starts a sequence, see isStart
	alone      [classified / 64]uint64 // one bit: a character from U+10000 on that is its own normal form
	continuous [classified / 64]uint64 // one bit: a character of a script without spaces
	class      [classified / 32]uint64 // two bits: the class of a character
	compositions
}

// classified is the number of characters that have bits in the table: U+0000 to U+1FFFF.
const classified = 1 << 17

// runes returns the table. The first call makes it, which takes a few milliseconds.
var runes = sync.OnceValue(func() *runeTable {
	t := &runeTable{forms: []string{""}, compositions: compositions{pairs: map[[2]rune]rune{}, parts: map[rune]string{}}}
	for r := range rune(utf8.RuneSelf) {
		t.compositions.add(rune(lowerASCII(byte(r))))
	}
	t.classify()
	each(append(continuousScripts, extraContinuous), func(r rune) {
		if continuousScript(r) {
			t.continuous[r>>6] |= 1 << (r & 63)
		}
	})
	n := newNormaliser()
	for r := rune(0x80); r < 1<<16; r++ {
		t.normalise(&n, r)
	}
	for i := 1 << 10; i < len(t.start); i++ {
		t.start[i] = ^uint64(0)
	}
	each([]*unicode.RangeTable{unicode.M, unicode.Cf}, func(r rune) {
		if r >= 1<<16 {
			t.start[r>>6] &^= 1 << (r & 63)
		}
	})
	each([]*unicode.RangeTable{unicode.L, unicode.N}, func(r rune) {
		isFolded := unicode.SimpleFold(r) == r && !invisible(r)
		if r >= 1<<16 && t.isStart(r) && isFolded && norm.NFKC.PropertiesString(string(r)).Decomposition() == nil {
			t.alone[r>>6] |= 1 << (r & 63)
		}
	})
	return t
})

// normalise finds the normal form of a character if neither the character nor the form combines with characters
// before.
func (t *runeTable) normalise(n *normaliser, r rune) {
	isIdeograph, isSyllable, isPrivate := r >= 0x3400 && r < 0xa000, r >= 0xac00 && r < 0xd7a4, r >= 0xe000 && r < 0xf900
	if isIdeograph || isSyllable || isPrivate {
		t.normal[r], t.start[r>>6] = uint16(r), t.start[r>>6]|1<<(r&63)
		return
	}
	if !utf8.ValidRune(r) || r == utf8.RuneError {
		return
	}
	form := n.normalForm(nil, []byte(string(r)))
	if string(form) == string(r) {
		t.compositions.add(r)
	} else if len(form) == 0 || string(form) == norm.NFD.String(string(r)) {
		t.parts[r] = string(form)
	}
	if len(form) == 0 || !norm.NFKC.PropertiesString(string(r)).BoundaryBefore() || !norm.NFKC.Properties(form).BoundaryBefore() {
		return
	}
	t.start[r>>6] |= 1 << (r & 63)
	if m, size := utf8.DecodeRune(form); size == len(form) && m < 1<<16 {
		t.normal[r] = uint16(m)
		return
	}
	t.form[r] = uint16(len(t.forms))
	t.forms = append(t.forms, string(form))
}

// each calls do for each character below classified in the tables.
func each(tables []*unicode.RangeTable, do func(rune)) {
	for _, table := range tables {
		for _, x := range table.R16 {
			for r := rune(x.Lo); r <= rune(x.Hi); r += rune(x.Stride) {
				do(r)
			}
		}
		for _, x := range table.R32 {
			for r := rune(x.Lo); r <= rune(min(x.Hi, classified-1)); r += rune(x.Stride) {
				do(r)
			}
		}
	}
}

// simple returns the normal form of r if it is one character that starts a sequence, or 0 if r needs the slow path.
func (t *runeTable) simple(r rune) rune {
	if r < 1<<16 {
		return rune(t.normal[r])
	}
	isAlone := r < classified && t.alone[r>>6]>>(r&63)&1 != 0
	if isAlone || isEmoji(r) || r >= 0x20000 && r < 0x2f800 || r >= 0x30000 && r < 0x32000 { // Han, less the compatibility block
		return r
	}
	return 0
}

// isEmoji reports whether r is a regional indicator or in one of the emoji blocks. These blocks have no letters and
// no characters that normalisation changes.
func isEmoji(r rune) bool { return r >= 0x1f1e6 && r < 0x1f200 || r >= 0x1f300 && r < 0x1fb00 }

// isStart reports whether neither a character nor its normal form combines with characters before it.
func (t *runeTable) isStart(r rune) bool {
	if r < classified {
		return t.start[r>>6]>>(r&63)&1 != 0
	}
	return !invisible(r) && norm.NFKC.PropertiesString(string(r)).BoundaryBefore()
}

// isContinuous returns the same as continuousScript, but reads the table.
func (t *runeTable) isContinuous(r rune) bool {
	if r < classified {
		return t.continuous[r>>6]>>(r&63)&1 != 0
	}
	return continuousScript(r)
}

var (
	continuousScripts = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar}
	// The Han zero is a number, and the long vowel mark is common to the kana.
	extraContinuous = &unicode.RangeTable{R16: []unicode.Range16{{0x3007, 0x3007, 1}, {0x30fc, 0x30fc, 1}}}
)

// continuousScript reports whether r is a letter or vowel sign of a script that puts no spaces between words.
func continuousScript(r rune) bool {
	return r >= 0xe01 && (unicode.Is(extraContinuous, r) ||
		unicode.In(r, continuousScripts...) && (unicode.IsLetter(r) || unicode.IsMark(r)))
}

// invisible reports whether a character has no shape.
func invisible(r rune) bool {
	if r < 0x600 || r > 0x8e2 && r < 0x180b { // most marks, without a search in the tables
		return r == 0xad || r == 0x34f
	}
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r)
}

// runeAt returns the character at byte i of valid UTF-8, and its length.
func runeAt(s []byte, i int) (r rune, size int) {
	switch r = rune(s[i]); {
	case r < utf8.RuneSelf:
		return r, 1
	case r < 0xe0:
		return r&0x1f<<6 | rune(s[i+1]&0x3f), 2
	case r < 0xf0:
		return r&0x0f<<12 | rune(s[i+1]&0x3f)<<6 | rune(s[i+2]&0x3f), 3
	}
	return utf8.DecodeRune(s[i:])
}

// threeBytes returns the character of three bytes at byte i, or 0 if there is none. For overlong forms and surrogates
// it returns 0 or a character without an entry in the rune table.
func threeBytes(text []byte, i int) rune {
	if i+3 > len(text) || text[i]&0xf0 != 0xe0 || text[i+1]&0xc0 != 0x80 || text[i+2]&0xc0 != 0x80 {
		return 0
	}
	if r := rune(text[i]&0x0f)<<12 | rune(text[i+1]&0x3f)<<6 | rune(text[i+2]&0x3f); r >= 0x800 {
		return r
	}
	return 0
}
