package token

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// normaliser converts text to the form in which equal words are equal bytes. It applies these steps in this order:
//
//	NFKC   ►  full case folding  ►  without invisible characters (Cf, variation selectors)  ►  NFKC  ►  ’ to '
//
// The result is close to Unicode's NFKC_Casefold. normalForm is the specification. chunk gives the same bytes, but
// takes the slow path only around characters that need it. It takes about 3 ns a character. Chinese and German text
// needs no slow path.
type normaliser struct {
	table *runeTable
	fold  cases.Caser
	dst   []byte // the result
	a, b  []byte // results of the steps
	forms []form // normal forms of sequences, by their hash

	pieces []piece // pieces of the last chunk
	cursor int     // index into pieces, for locate
}

func newNormaliser() normaliser { return normaliser{fold: cases.Fold()} }

// normalForm appends the normal form of valid UTF-8 to dst.
func (n *normaliser) normalForm(dst, s []byte) []byte {
	n.a = norm.NFKC.Append(n.a[:0], s...)
	n.b = n.folded(n.b[:0], n.a)
	n.a = withoutInvisible(n.a[:0], n.b)
	start := len(dst)
	if norm.NFKC.IsNormal(n.a) {
		dst = append(dst, n.a...)
	} else {
		// Use n.b first: Append to dst would let the first character combine with the last one of dst.
		n.b = norm.NFKC.Append(n.b[:0], n.a...)
		dst = append(dst, n.b...)
	}
	if bytes.Contains(dst[start:], []byte("’")) {
		dst = append(dst[:start], bytes.ReplaceAll(dst[start:], []byte("’"), []byte("'"))...)
	}
	return dst
}

// folded appends the case folding of src to dst. Folding makes a character at most three times as long.
func (n *normaliser) folded(dst, src []byte) []byte {
	need := 3*len(src) + utf8.UTFMax
	if cap(dst) < need {
		dst = make([]byte, 0, need)
	}
	n.fold.Reset()
	written, _, err := n.fold.Transform(dst[:need], src, true)
	if err != nil {
		return append(dst, bytes.ToLower(src)...) // cannot happen: dst is large enough and src is complete
	}
	return dst[:written]
}

// withoutInvisible appends src to dst without invisible characters: soft hyphens, joiners, zero-width spaces, byte
// order marks, directional marks, variation selectors.
func withoutInvisible(dst, src []byte) []byte {
	for len(src) > 0 {
		r, size := utf8.DecodeRune(src)
		if !invisible(r) {
			dst = append(dst, src[:size]...)
		}
		src = src[size:]
	}
	return dst
}

// chunk returns the normal form of s, in memory that the next call reuses. It records in n.pieces from which part of
// s each part of the result was made. Invalid bytes become U+FFFD.
//
// A character with an entry in the rune table has a normal form of its own and does not combine with the character
// before it. At a character without an entry, chunk normalises together all text from the character before it up to
// the next one with an entry. There both sides are independent.
func (n *normaliser) chunk(s []byte) []byte {
	if n.table == nil {
		n.table = runes()
	}
	dst := n.dst[:0]
	n.pieces, n.cursor = n.pieces[:0], 0
	previous := -1 // start in s of the character before this one if both may combine, else -1
	beforeDst := 0 // its start in dst
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			previous, beforeDst = i, len(dst)
			dst = append(dst, lowerASCII(c))
			i++
			continue
		}
		if c < 0xe0 && i+1 < len(s) { // two bytes that become two, as in nearly all Russian text
			if m := n.table.normal[rune(c&0x1f)<<6|rune(s[i+1]&0x3f)]; m >= utf8.RuneSelf && m < 1<<11 && c >= 0xc2 && s[i+1]&0xc0 == 0x80 {
				previous, beforeDst = i, len(dst)
				dst = append(dst, 0xc0|byte(m>>6), utf8.RuneSelf|byte(m&0x3f))
				i += 2
				continue
			}
		}
		// Three bytes that do not change, as in nearly all Chinese text.
		if r := threeBytes(s, i); r != 0 && rune(n.table.normal[r]) == r {
			previous, beforeDst = i, len(dst)
			dst = append(dst, s[i], s[i+1], s[i+2])
			i += 3
			continue
		}
		r, size := utf8.DecodeRune(s[i:])
		if m := n.table.simple(r); m != 0 {
			previous, beforeDst = i, len(dst)
			if size == utf8.RuneLen(m) {
				dst = utf8.AppendRune(dst, m)
				i += size
				continue
			}
			n.joint(len(dst), i)
			dst = utf8.AppendRune(dst, m)
			i += size
			n.plain(len(dst), i)
			continue
		}
		if r == utf8.RuneError {
			previous = -1
			n.joint(len(dst), i)
			dst = utf8.AppendRune(dst, r)
			i += size
			n.plain(len(dst), i)
			continue
		}
		start := i
		if previous >= 0 {
			start, dst = previous, dst[:beforeDst]
		}
		n.joint(len(dst), start)
		dst, i = n.run(dst, s, start, i)
		n.plain(len(dst), i)
		previous = -1
	}
	n.dst = dst
	return dst
}

// A normal form may be 18 times as long as its text, so chunks are limited. A chunk of more than chunkBytes ends
// before the next character beyond ASCII that is a token or a boundary by itself. A chunk of chunkBytesMax ends
// before any character beyond ASCII.
const (
	chunkBytes    = 16 << 10
	chunkBytesMax = 64 << 10
)

// chunkEnd returns the end of the chunk that starts at a byte. It is the first ASCII byte after start that is a
// boundary both for words and for normalisation, unless the chunk would be too long. No text before the end depends
// on text after it.
func (s *Scanner) chunkEnd(text []byte, start int) (end int) {
	far := min(start+chunkBytes, len(text))
	for end = start + 1; end < far && asciiClass[text[end]] != asciiBreak; end++ {
	}
	if end < far {
		return end
	}
	for ; end < len(text) && asciiClass[text[end]] != asciiBreak; end++ {
		isStart := utf8.RuneStart(text[end])
		if text[end] < utf8.RuneSelf || !isStart && end < start+chunkBytesMax+utf8.UTFMax {
			continue
		}
		if end >= start+chunkBytesMax || runes().divides(text[end:]) {
			break
		}
	}
	return end
}

// divides reports whether a text begins with a character that is a token by itself or always a boundary, and whose
// normal form is one, too.
func (t *runeTable) divides(text []byte) bool {
	r, _ := utf8.DecodeRune(text)
	m := t.simple(r)
	return m != 0 && (t.isContinuous(m) || m < utf8.RuneSelf && asciiClass[m] == asciiBreak)
}

// A piece is a part of a normalised chunk, with the part of the source from which it was made. In both, it ends where
// the next piece begins.
//
//	source     n a i ¨ v e _ ﬁ n          plain {0,0}   joint {2,2} ï from i and ¨   plain {4,5} ve_
//	normal     n a ï v e _ f i n          joint {7,8} fi from the ligature           plain {9,11} n
//
// In a plain piece, the bytes of both parts correspond one to one. In a joint piece, the whole part of the source
// corresponds to the whole normalised part. The text before the first piece is plain and starts at 0 in both. The
// last piece is plain.
type piece struct {
	normal, source int
	joint          bool
}

// joint begins a joint piece. It removes pieces that begin at the same position or later.
func (n *normaliser) joint(normal, source int) {
	for i := len(n.pieces) - 1; i >= 0 && n.pieces[i].source >= source; i-- {
		n.pieces = n.pieces[:i]
	}
	n.pieces = append(n.pieces, piece{normal, source, true})
}

// plain begins a plain piece.
func (n *normaliser) plain(normal, source int) {
	n.pieces = append(n.pieces, piece{normal, source, false})
}

// locate converts the positions of tokens from the normalised chunk to the source, in which the chunk starts at
// origin. Before, positions are relative to a source in which the chunk was replaced by its normal form. Positions
// must ascend from call to call.
func (n *normaliser) locate(tokens []Token, origin int) {
	for i := range tokens {
		t := &tokens[i]
		start, stop := t.Start-origin, t.End-origin
		for n.cursor < len(n.pieces) && n.pieces[n.cursor].normal <= start {
			n.cursor++
		}
		end := n.cursor
		for end < len(n.pieces) && n.pieces[end].normal < stop {
			end++
		}
		t.Start, t.End = origin+n.source(n.cursor, start, false), origin+n.source(end, stop, true)
	}
}

// source returns the source position of a byte in the piece before piece next. The byte is the start of a token or,
// if isEnd is true, its end, which may be the end of the piece.
func (n *normaliser) source(next, offset int, isEnd bool) int {
	p := piece{}
	if next > 0 {
		p = n.pieces[next-1]
	}
	switch {
	case p.joint && isEnd:
		return n.pieces[next].source // a plain piece follows
	case p.joint:
		return p.source
	}
	return p.source + offset - p.normal
}
