// Package ccdet makes the features of CCDet, a method of copy detection for Chinese web pages. Each end of a sentence
// gives a feature, the ten characters before it:
//
//	。  ！  ？  ；  ──► Chars characters before it, without white space, at most back to the previous
//	                    sentence end ──► hash ──► feature
//
// Full stops are part of the text of an author. They are rare in navigation and advertisements, and a copy keeps them.
// A sentence shorter than Chars gives a shorter feature, and two ends in a row give one. Text after the last end gives
// none. Characters are compared after NFKC and case folding, so wide and narrow letters are equal.
//
// The sentence ends are an option. The paper uses [PaperEnds]. The other three [Ends] also end Chinese
// sentences, and find more copies of dialogues and lists.
//
// Cost: one pass over the bytes; ten characters are decoded and hashed for each sentence. A [Selector]
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

	"example.org/ndd/engine/copies/signature"
	"example.org/ndd/engine/corpus/token"
)

// Chars is the maximum number of characters of a feature.
const Chars = 10

// Sentence ends of Chinese. [New] takes others, such as "।॥?!" for Hindi and ".؟!؛" for Arabic.
const (
	PaperEnds = "。"
	Ends      = "。！？；"
)

// A Selector makes features. It reuses its memory.
type Selector struct {
	ctx   context.Context
	ends  []string  // UTF-8 forms
	first [256]bool // true for the first byte of an end
	fold  cases.Caser

	tail, normal []byte // buffers for a sentence that must be normalised
}

// New returns a Selector for sentences that end with one of these characters. When ctx is done, it stops within a text,
// and the signatures are not valid. The error names a character that is a letter, a digit or white space.
func New(ctx context.Context, ends string) (*Selector, error) {
	s := &Selector{ctx: ctx, fold: cases.Fold()}
	for _, r := range ends {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsSpace(r) || r == utf8.RuneError {
			return nil, fmt.Errorf("sentence end %q: must be a punctuation mark", r)
		}
		if end := string(r); !slices.Contains(s.ends, end) {
			s.ends = append(s.ends, end)
			s.first[end[0]] = true
		}
	}
	if len(s.ends) == 0 {
		return nil, fmt.Errorf("no sentence ends are given")
	}
	return s, nil
}

// checkBytes is the distance in a text between two checks of the context.
const checkBytes = 64 << 10

// Each implements [signature.Selector].
func (s *Selector) Each(text string, yield func(signature.Signature)) {
	from, checked := 0, 0 // end of the previous sentence end; position of the next check of ctx
	for i, size := s.next(text, 0); size > 0; i, size = s.next(text, from) {
		if i >= checked {
			if s.ctx.Err() != nil {
				return
			}
			checked = i + checkBytes
		}
		if h, start := s.hash(text[from:i]); start >= 0 {
			yield(signature.Signature{Hash: h, Start: int32(from + start), End: int32(i)})
		}
		from = i + size
	}
}

// next returns the position and the length of the next sentence end from i on, or a length of 0. In UTF-8 an end never
// overlaps two other characters.
func (s *Selector) next(text string, i int) (position, size int) {
	for ; i < len(text); i++ {
		if !s.first[text[i]] {
			continue
		}
		for _, end := range s.ends {
			if len(end) <= len(text)-i && text[i:i+len(end)] == end {
				return i, len(end)
			}
		}
	}
	return i, 0
}

// hash returns the hash of the last Chars characters of a sentence, and the offset of the first of them. The offset is
// -1 if the sentence has none. It reads the characters backwards.
func (s *Selector) hash(sentence string) (h uint64, start int) {
	start = -1
	simple := true
	begin := len(sentence)
	for n := 0; n < Chars && begin > 0; {
		r, size := utf8.DecodeLastRuneInString(sentence[:begin])
		begin -= size
		if isBlank(r) {
			continue
		}
		r, ok := plainForm(r)
		simple = simple && ok
		n++
		start = begin
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

// step adds a character to the polynomial of the characters after it. No coefficient is 0.
func step(h uint64, r rune) uint64 { return h*token.Base + uint64(r) + 1 }

// hashNormal returns the hash of characters that must be normalised together.
func (s *Selector) hashNormal(tail string) (h uint64) {
	s.tail = s.tail[:0]
	for _, r := range tail {
		if !isBlank(r) {
			s.tail = utf8.AppendRune(s.tail, r) // invalid bytes become U+FFFD
		}
	}
	s.normal = norm.NFKC.Append(s.normal[:0], s.tail...)
	normal := norm.NFKC.Bytes(s.fold.Bytes(s.normal))
	for len(normal) > 0 {
		r, size := utf8.DecodeLastRune(normal)
		normal = normal[:len(normal)-size]
		if !isBlank(r) { // the wide space is normalised to a space
			h = step(h, r)
		}
	}
	return signature.Fold(0, h)
}

// isBlank reports whether features omit a character.
func isBlank(r rune) bool {
	return r == ' ' || r == '\u3000' || r == '\u200b' || r == '\ufeff' || r < 0x3000 && unicode.IsSpace(r)
}

// plainForm returns the normal form of a character. It returns false if the form may depend on other characters.
func plainForm(r rune) (normal rune, ok bool) {
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
