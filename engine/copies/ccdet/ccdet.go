// Package ccdet makes the features of CCDet, copy detection for Chinese web pages by full stops:
// for each end of a sentence, the ten characters before it.
//
//	。  ！  ？  ；  ──► the Chars characters before it, white space left out, no further back than the
//	                    sentence end before ──► hash ──► feature
//
// Full stops stand where the author put them, hardly ever in navigation and advertisements, and a
// copy keeps them: a page's features are its sentences' tails. A sentence shorter than Chars gives
// a shorter feature, two ends in a row give one, and text behind the last end gives none.
// Characters are compared after NFKC and case folding, so that wide and narrow letters are equal.
//
// Which ends count is an option ([Ends]): with 。 alone the method is that of the paper; the other
// three, which end Chinese sentences too, find more in dialogue and lists.
//
// Cost: one pass over the bytes, and ten characters decoded and hashed a sentence. A [Selector]
// belongs to one goroutine.
package ccdet

import (
	"context"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"ndd/engine/copies/signature"
	"ndd/engine/corpus/token"
)

// Chars is how many characters before the end of a sentence are a feature.
const Chars = 10

// Ends are the sentence ends that count where no others are asked for. Those of another language
// are given to [New]: of Hindi "।॥?!", of Arabic ".؟!؛".
const Ends = "。！？；"

// A Selector makes features. It reuses its memory.
type Selector struct {
	ctx         context.Context
	ends        []string   // as UTF-8
	first, last [256]uint8 // 1 for the first bytes of an end, and for the bytes that stand span behind one, else 0
	span        int        // 2 where all ends have three bytes, as those of Chinese; else 0, and last is first
	fold        cases.Caser

	tail, normal []byte // of a sentence that must be normalised
}

// New returns a Selector for sentences that end with one of these characters. When the context is done, it ends within a
// text, and what it has yielded means nothing. The error says that one of them is a letter, a digit or white space.
func New(ctx context.Context, ends string) (*Selector, error) {
	s := &Selector{ctx: ctx, fold: cases.Fold()}
	for _, r := range ends {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsSpace(r) || r == utf8.RuneError {
			return nil, fmt.Errorf("sentence end %q: must be a punctuation mark", r)
		}
		if end := string(r); !slices.Contains(s.ends, end) {
			s.ends = append(s.ends, end)
			s.first[end[0]] = 1
		}
	}
	if len(s.ends) == 0 {
		return nil, fmt.Errorf("no sentence ends are given")
	}
	if !slices.ContainsFunc(s.ends, func(end string) bool { return len(end) != 3 }) {
		s.span = 2
	}
	for _, end := range s.ends {
		s.last[end[s.span]] = 1
	}
	return s, nil
}

const askBytes = 64 << 10 // of a text, after which the context is asked again

// Each implements [signature.Selector].
func (s *Selector) Each(text string, yield func(signature.Signature)) {
	from := 0 // behind the sentence end before
	asked := 0
	for i := s.next(text, 0); i < len(text); {
		if i >= asked {
			if s.ctx.Err() != nil {
				return
			}
			asked = i + askBytes
		}
		size := s.end(text[i:])
		if size == 0 {
			i = s.next(text, i+1)
			continue
		}
		if h, start := s.hash(text[from:i]); start >= 0 {
			yield(signature.Signature{Hash: h, Start: int32(from + start), End: int32(i)})
		}
		from = i + size
		i = s.next(text, from)
	}
}

// next returns the first byte from i on that may begin a sentence end, or the end of text.
func (s *Selector) next(text string, i int) int {
	f, g := &s.first, &s.last
	for ; i+s.span < len(text); i++ {
		if f[text[i]]&g[text[i+s.span]] != 0 {
			return i
		}
	}
	return len(text)
}

// end returns the length of the sentence end that text begins with, 0 where it begins with none.
// UTF-8 tells where characters begin, so that no end lies across two others.
func (s *Selector) end(text string) int {
	for _, end := range s.ends {
		if len(end) <= len(text) && text[:len(end)] == end {
			return len(end)
		}
	}
	return 0
}

// hash returns the hash of the last Chars characters of a sentence, and where they begin: -1 where
// there are none. The characters are taken from the last to the first, in one pass backwards.
func (s *Selector) hash(sentence string) (h uint64, start int) {
	start = -1
	simple := true
	at := len(sentence)
	for n := 0; n < Chars && at > 0; {
		r, size := utf8.DecodeLastRuneInString(sentence[:at])
		at -= size
		if blank(r) {
			continue
		}
		r, ok := plain(r)
		simple = simple && ok
		n++
		start = at
		h = step(h, r)
	}
	if start < 0 {
		return 0, start
	}
	if !simple {
		return s.hashNormal(sentence[start:]), start
	}
	return signature.Fold(0, h), start
}

// step takes a character into the hash of those behind it: the polynomial of the characters, which
// are above 0. It is mixed at the end.
func step(h uint64, r rune) uint64 { return h*token.Base + uint64(r) + 1 }

// hashNormal returns the hash of characters that must be normalised together.
func (s *Selector) hashNormal(tail string) (h uint64) {
	s.tail = s.tail[:0]
	for _, r := range tail {
		if !blank(r) {
			s.tail = utf8.AppendRune(s.tail, r) // bytes that are not UTF-8 become U+FFFD
		}
	}
	s.normal = norm.NFKC.Append(s.normal[:0], s.tail...)
	normal := norm.NFKC.Bytes(s.fold.Bytes(s.normal))
	for len(normal) > 0 {
		r, size := utf8.DecodeLastRune(normal)
		normal = normal[:len(normal)-size]
		if !blank(r) { // the wide space is a space of a compatible form
			h = step(h, r)
		}
	}
	return signature.Fold(0, h)
}

// blank says whether a character is left out.
func blank(r rune) bool {
	return r == ' ' || r == '\u3000' || r == '\u200b' || r == '\ufeff' || r < 0x3000 && unicode.IsSpace(r)
}

// plain returns the normal form of a character that has one by itself; ok is false for all others.
func plain(r rune) (normal rune, ok bool) {
	switch {
	case r >= 0x4e00 && r <= 0x9fff, r >= 0x3001 && r <= 0x3029: // Han, and the punctuation of its scripts
		return r, true
	// kana, more punctuation
	case r >= 0x3041 && r <= 0x3096, r >= 0x30a1 && r <= 0x30fa, r == '·', r == '—', r >= '‘' && r <= '”':
		return r, true
	case r >= 0xff01 && r <= 0xff5e: // wide ASCII
		r -= 0xfee0
		fallthrough
	case r < 0x80:
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r, true
	}
	return r, false
}
