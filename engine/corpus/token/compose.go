package token

import (
	"slices"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// compositions holds the data for canonical composition of the first 65,536 characters. Package norm takes ten times
// as long for NFKC of a random sequence of marks. It still handles other characters, such as those that decompose or
// fold.
type compositions struct {
	marks [1 << 16]uint16 // combining class of a character, with the bits below; 0 if the character is not supported
	pairs map[[2]rune]rune
	parts map[rune]string // characters that always become other characters, or none
}

const (
	isComposable = 1 << 8 // the character is its own normal form and its own decomposition
	isSecond     = 1 << 9 // the character is the second one of a pair
)

// add adds a character that is its own normal form.
func (c *compositions) add(r rune) {
	parts := []rune(norm.NFD.String(string(r)))
	last := len(parts) - 1
	if last > 0 {
		first := []rune(norm.NFC.String(string(parts[:last])))
		if parts[last] < 1<<16 && len(first) == 1 {
			c.pairs[[2]rune{first[0], parts[last]}] = r
			c.marks[parts[last]] |= isSecond
		}
		return
	}
	c.marks[r] |= isComposable | uint16(norm.NFC.PropertiesString(string(r)).CCC())
	if r >= 0x1161 && r < 0x1176 || r >= 0x11a8 && r < 0x11c3 {
		c.marks[r] |= isSecond
	}
}

// pair returns the composition of two characters. Hangul syllables are ordered by their parts. There are 28 tails,
// and the first one is empty.
func (c *compositions) pair(a, b rune) (r rune, found bool) {
	switch {
	case a >= 0x1100 && a < 0x1113 && b >= 0x1161 && b < 0x1176:
		return 0xac00 + ((a-0x1100)*21+b-0x1161)*28, true
	case a >= 0xac00 && a < 0xd7a4 && (a-0xac00)%28 == 0 && b >= 0x11a8 && b < 0x11c3:
		return a + b - 0x11a7, true
	}
	r, found = c.pairs[[2]rune{a, b}]
	return r, found
}

// compose appends the normal form of a sequence. ok is false if package norm must compute it.
func (c *compositions) compose(dst, sequence []byte) (result []byte, ok bool) {
	// Decompose the sequence, with its marks in canonical order.
	var row [2 * rowMax]rune
	n := 0
	for i := 0; i < len(sequence); n++ {
		r, size := runeAt(sequence, i)
		if r < utf8.RuneSelf {
			r = rune(lowerASCII(byte(r)))
		}
		if n == len(row) || r >= rune(len(c.marks)) {
			return dst, false
		}
		if c.marks[r]&isComposable == 0 {
			parts, isKnown := c.parts[r]
			if !isKnown {
				return dst, false
			}
			return c.compose(dst, slices.Concat(sequence[:i], []byte(parts), sequence[i+size:]))
		}
		position := n // insert in order of combining class, after the last character of class 0
		for class := uint8(c.marks[r]); class > 0 && position > 0 && uint8(c.marks[row[position-1]]) > class; position-- {
			row[position] = row[position-1]
		}
		row[position] = r
		i += size
	}
	// Compose each character with the last starter, unless a mark between them prevents it (UAX #15).
	length, starter, lastClass := 0, -1, -1 // lastClass is that of the last character kept after the starter
	for _, r := range row[:n] {
		class := int(uint8(c.marks[r]))
		if starter >= 0 && lastClass < class && c.marks[r]&isSecond != 0 {
			if pair, found := c.pair(row[starter], r); found {
				row[starter] = pair
				continue
			}
		}
		if lastClass = class; class == 0 {
			starter, lastClass = length, -1
		}
		row[length] = r
		length++
	}
	for _, r := range row[:length] {
		dst = utf8.AppendRune(dst, r)
	}
	return dst, true
}
