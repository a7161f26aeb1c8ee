package token

import (
	"unicode"
	"unicode/utf8"
)

// A class says how a character joins words. By UAX #29 a sequence of letters and marks between two gaps is one word
// if it begins with a letter.
type class uint8

const (
	classOther  class = iota // the rules of UAX #29 decide
	classLetter              // a letter, a digit or _
	classMark                // belongs to the character before it
	classGap                 // always separates words
)

// classify sets the class of each character by its category.
func (t *runeTable) classify() {
	for _, c := range []struct {
		class  class
		tables []*unicode.RangeTable
	}{
		{classLetter, []*unicode.RangeTable{unicode.L, unicode.Nd}}, {classMark, []*unicode.RangeTable{unicode.M}},
		{classGap, []*unicode.RangeTable{unicode.P, unicode.S, unicode.Z}}, {classOther, []*unicode.RangeTable{irregular}},
	} {
		each(c.tables, func(r rune) { t.setClass(r, c.class) })
	}
	for r := rune(0); r < utf8.RuneSelf; r++ {
		t.setClass(r, [...]class{asciiBreak: classGap, asciiLetter: classLetter, asciiDigit: classLetter, asciiExtend: classLetter,
			asciiQuote: classOther}[asciiClass[r]])
	}
}

func (t *runeTable) setClass(r rune, c class) {
	shift := r % 32 * 2
	t.class[r/32] = t.class[r/32]&^(3<<shift) | uint64(c)<<shift
}

// classOf returns the class of a character.
func (t *runeTable) classOf(r rune) class {
	if r >= classified {
		return classOther
	}
	return class(t.class[r>>5] >> (r & 31 * 2) & 3)
}

// irregular lists ranges with characters whose class differs from the class of their category.
var irregular = &unicode.RangeTable{R16: []unicode.Range16{
	{0xb7, 0xb8, 1}, {0x2c2, 0x2ff, 1}, {0x37e, 0x37e, 1}, {0x387, 0x387, 1}, {0x55a, 0x58a, 1}, {0x5f3, 0x5f4, 1},
	{0x60c, 0x60d, 1}, {0x66b, 0x66c, 1}, {0x7f8, 0x7f8, 1}, {0x1950, 0x1aa7, 1}, {0x2018, 0x2019, 1},
	{0x2024, 0x202f, 1}, {0x203f, 0x2044, 1}, {0x2054, 0x2054, 1}, {0x24b6, 0x24e9, 1}, {0x3006, 0x3006, 1},
	{0x3031, 0x3035, 1}, {0x309b, 0x30a0, 1}, {0x30fc, 0x30fc, 1}, {0x32d0, 0x3357, 1}, {0xa708, 0xa721, 1},
	{0xa789, 0xa78a, 1}, {0xaa80, 0xaadd, 1}, {0xab5b, 0xab5b, 1}, {0xfe13, 0xfe13, 1}, {0xfe33, 0xfe34, 1},
	{0xfe4d, 0xfe55, 1}, {0xff07, 0xff1b, 1}, {0xff3f, 0xff3f, 1}, {0xff70, 0xff70, 1}, {0xff9e, 0xff9f, 1},
}, R32: []unicode.Range32{
	{0x11700, 0x11746, 1}, {0x17000, 0x18d08, 1}, {0x1b170, 0x1b2fb, 1}, {0x1f130, 0x1f189, 1}, {0x1f3fb, 0x1f3ff, 1},
}}
