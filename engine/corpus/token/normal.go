package token

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// normaliser brings text to the form in which equal words are equal bytes. The form is, in this order:
//
//	NFKC   ►  full case folding  ►  without invisible characters (Cf, variation selectors)  ►  NFKC  ►  ’ to '
//
// which is close to Unicode's NFKC_Casefold. normalForm is that specification; chunk gives the same bytes
// and takes the slow way only around characters that need it. About three ns a character: of a run of
// Chinese nothing needs it, of German nothing either.
type normaliser struct {
	table *runeTable
	fold  cases.Caser
	dst   []byte // the result
	a, b  []byte // between the steps

	pieces []piece // of the last chunk
	cursor int     // into pieces, of locate
}

func newNormaliser() normaliser { return normaliser{fold: cases.Fold()} }

// normalForm appends the normal form of valid UTF-8 to dst.
func (n *normaliser) normalForm(dst []byte, s string) []byte {
	n.a = norm.NFKC.AppendString(n.a[:0], s)
	n.b = n.folded(n.b[:0], n.a)
	n.a = withoutInvisible(n.a[:0], n.b)
	start := len(dst)
	if norm.NFKC.IsNormal(n.a) {
		dst = append(dst, n.a...)
	} else {
		// On its own first: Append would let the first character combine with what is in dst.
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

// withoutInvisible appends src to dst, less what has no shape of its own: soft hyphens, joiners, zero-width
// spaces, byte order marks, directional marks, variation selectors.
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

func invisible(r rune) bool {
	return r >= 0xad && (unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || r == 0x34f)
}

// chunk returns the normal form of s, in memory that the next call reuses, and notes in pieces where which part of it
// came from. Invalid bytes become U+FFFD.
//
// Characters with an entry in the rune table stand for themselves and do not combine with what is before
// them. Where one without an entry appears, the normal form is taken from the character before it up to
// the next one with an entry: there both sides are independent.
func (n *normaliser) chunk(s []byte) []byte {
	if n.table == nil {
		n.table = runes()
	}
	dst := n.dst[:0]
	n.pieces, n.cursor = n.pieces[:0], 0
	before := -1   // where the character before this one starts in s, if it may combine with this one
	beforeDst := 0 // and in dst
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			before, beforeDst = i, len(dst)
			dst = append(dst, lowerASCII(c))
			i++
			continue
		}
		// Three bytes that stay as they are, as nearly all of Chinese.
		if rest := s[i:]; len(rest) >= 3 && rest[0]&0xf0 == 0xe0 && rest[1]&0xc0 == 0x80 && rest[2]&0xc0 == 0x80 {
			r := rune(rest[0]&0x0f)<<12 | rune(rest[1]&0x3f)<<6 | rune(rest[2]&0x3f)
			if r >= 0x800 && rune(n.table.normal[r]) == r { // not an overlong form; a surrogate has no entry
				before, beforeDst = i, len(dst)
				dst = append(dst, rest[0], rest[1], rest[2])
				i += 3
				continue
			}
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
		for i += size; i < len(s) && s[i] >= utf8.RuneSelf; i += size {
			r, size = utf8.DecodeRune(s[i:])
			if r == utf8.RuneError || n.table.simple(r) != 0 {
				break
			}
		}
		n.joint(len(dst), start)
		dst = n.normalForm(dst, string(s[start:i]))
		n.plain(len(dst), i)
		before = -1
	}
	n.dst = dst
	return dst
}
