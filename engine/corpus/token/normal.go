package token

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// normaliser brings text to the form in which equal words are equal bytes. The form is, in this
// order:
//
//	NFKC   ►  full case folding  ►  without invisible characters (Cf, variation selectors)  ►  NFKC  ►  ’ to '
//
// which is close to Unicode's NFKC_Casefold. normalForm is that specification; chunk gives the same
// bytes and takes the slow way only around characters that need it. About three ns a character: of
// a run of Chinese nothing needs it, of German nothing either.
type normaliser struct {
	table *runeTable
	fold  cases.Caser
	dst   []byte // the result
	a, b  []byte // between the steps
	forms []form // of sequences, by their hash

	pieces []piece // of the last chunk
	cursor int     // into pieces, of locate
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
		// On its own first: Append would let the first character combine with the last of dst.
		n.b = norm.NFKC.Append(n.b[:0], n.a...)
		dst = append(dst, n.b...)
	}
	if bytes.Contains(dst[start:], []byte("’")) {
		dst = append(dst[:start], bytes.ReplaceAll(dst[start:], []byte("’"), []byte("'"))...)
	}
	return dst
}

// folded appends the case folding of src to dst. A folded character is at most three times as long.
func (n *normaliser) folded(dst, src []byte) []byte {
	need := 3*len(src) + utf8.UTFMax
	if cap(dst) < need {
		dst = make([]byte, 0, need)
	}
	n.fold.Reset()
	written, _, err := n.fold.Transform(dst[:need], src, true)
	if err != nil {
		return append(dst, bytes.ToLower(src)...) // cannot happen: the room suffices and all of src is there
	}
	return dst[:written]
}

// withoutInvisible appends src to dst without characters that have no shape: soft hyphens, joiners,
// zero-width spaces, byte order marks, directional marks, variation selectors.
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

// chunk returns the normal form of s, in memory that the next call reuses, and notes in pieces
// where which part of it came from. Invalid bytes become U+FFFD.
//
// Characters with an entry in the rune table stand for themselves and do not combine with the one
// before. Where one without an entry appears, the normal form is taken from the character before it
// up to the next one with an entry: there both sides are independent.
func (n *normaliser) chunk(s []byte) []byte {
	if n.table == nil {
		n.table = runes()
	}
	dst := n.dst[:0]
	n.pieces, n.cursor = n.pieces[:0], 0
	before := -1   // where the character before this one starts in s, if it may combine with this one
	beforeDst := 0 // and in dst
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			before, beforeDst = i, len(dst)
			dst = append(dst, lowerASCII(c))
			i++
			continue
		}
		if c < 0xe0 && i+1 < len(s) { // two bytes that become two, as nearly all of Russian
			if m := n.table.normal[rune(c&0x1f)<<6|rune(s[i+1]&0x3f)]; m >= utf8.RuneSelf && m < 1<<11 && c >= 0xc2 && s[i+1]&0xc0 == 0x80 {
				before, beforeDst = i, len(dst)
				dst = append(dst, 0xc0|byte(m>>6), utf8.RuneSelf|byte(m&0x3f))
				i += 2
				continue
			}
		}
		// Three bytes that stay as they are, as nearly all of Chinese.
		if r := threeBytes(s, i); r != 0 && rune(n.table.normal[r]) == r {
			before, beforeDst = i, len(dst)
			dst = append(dst, s[i], s[i+1], s[i+2])
			i += 3
			continue
		}
		r, size := utf8.DecodeRune(s[i:])
		if m := n.table.simple(r); m != 0 {
			before, beforeDst = i, len(dst)
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
			before = -1
			n.joint(len(dst), i)
			dst = utf8.AppendRune(dst, r)
			i += size
			n.plain(len(dst), i)
			continue
		}
		start := i
		if before >= 0 {
			start, dst = before, dst[:beforeDst]
		}
		n.joint(len(dst), start)
		dst, i = n.run(dst, s, start, i)
		n.plain(len(dst), i)
		before = -1
	}
	n.dst = dst
	return dst
}

// A normal form may be 18 times as long as its text. So a chunk of more than chunkBytes ends before the
// next character that is a token or separates tokens by itself, and before any character beyond ASCII
// when it has chunkBytesMax.
const (
	chunkBytes    = 16 << 10
	chunkBytesMax = 64 << 10
)

// chunkEnd returns the end of the chunk that starts at a byte: the first ASCII byte after it that is a
// boundary for words and for normalisation both, unless that is far. Nothing before it depends on
// anything after it.
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

// divides reports whether a text begins with a character that is a token by itself or a boundary
// whatever is beside it, and so is its normal form.
func (t *runeTable) divides(text []byte) bool {
	r, _ := utf8.DecodeRune(text)
	m := t.simple(r)
	return m != 0 && (t.isContinuous(m) || m < utf8.RuneSelf && asciiClass[m] == asciiBreak)
}

// A piece is a part of a normalised chunk and the part of the source that it was made of. It ends
// where the next one begins, in both.
//
//	source     n a i ¨ v e _ ﬁ n          plain {0,0}   joint {2,2} ï from i and ¨   plain {4,5} ve_
//	normal     n a ï v e _ f i n          joint {7,8} fi from the ligature           plain {9,11} n
//
// In a plain piece, bytes of both correspond one to one; in a joint one, all of one to all of the
// other. The part before the first piece is plain and starts at 0 in both; the last piece is plain.
type piece struct {
	normal, source int
	joint          bool
}

// joint begins a joint piece. Pieces that began where it begins, or after it, were undone.
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

// locate turns positions as if the chunk had been normalised in place, which ascend from call to
// call, into positions in the source, in which the chunk starts at origin.
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

// source returns the source position of a byte in the piece before next: as the end of a token, which
// may be the piece's end, or as its start.
func (n *normaliser) source(next, at int, isEnd bool) int {
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
	return p.source + at - p.normal
}
