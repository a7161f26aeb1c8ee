// Package winnow selects features of a text by winnowing (Schleimer, Wilkerson and Aiken, "Winnowing: Local
// Algorithms for Document Fingerprinting", SIGMOD 2003). A row is a sequence of words. Of every [Window] successive
// rows it selects the one with the smallest hash. Two texts with a passage of Words + Window - 1 words in common
// select a common feature of the passage, independent of the text around it. So the features show containment, and
// have positions.
//
//	text ──► tokens ──► rows of 5 words, or 8 characters of a script without spaces ──► hash ──► minimum of 16 ──► feature
//
// Density: 2 of Window + 1 rows are selected, so a text of n words has about n/8.5 features.
// [NewAll] selects every row, with other lengths, for texts with too few winnowed features.
//
// Tokens are defined by package token. The hash of a row of n tokens with the hashes t (signature.Key) is
// signature.Fold(0, h), where h is the sum of t[i] * 9e3779b97f4a7c15^(n-1-i) modulo 2^64. Fewer than Words words
// before, after or between characters, such as the numbers of a Chinese text, are part of the run of characters.
// Otherwise a row has only words or only characters. A run that is shorter than a row is a row. If hashes in a window
// are equal, the later row is selected.
//
// Cost: a row takes one hash and two comparisons with predictable branches. The whole window is
// searched only when its minimum leaves it, about once in Window rows. A [Selector] belongs to one goroutine.
package winnow

import (
	"math"
	"slices"

	"example.org/ndd/engine/copies/signature"
	"example.org/ndd/engine/corpus/token"
)

// The lengths that find containment best on the development set.
const (
	Words  = 5  // words of a row
	Chars  = 8  // characters of a row, in a script without spaces
	Window = 16 // rows
)

// A Selector selects features. It implements [signature.TokenSelector]. A text with fewer rows than a window has one
// feature, its minimum. A Selector reuses its memory.
type Selector struct {
	words         int     // length of a row of words
	chars         int     // length of a row of characters
	selectAll     bool    // every row is selected
	tokens        []place // end of the current run
	hasChars      bool    // the run has characters, and few words between them
	trailingWords int     // words at the end of a run of characters
	hasRow        bool    // the run had a row
	yield         func(signature.Signature)

	window      [Window]signature.Signature // recent rows, by index % Window
	index       int                         // number of rows
	minimum     int                         // row with the smallest hash of the window, the last of equal ones
	minimumHash uint64                      // its hash
	last        int                         // row that was selected last
}

// A place is the hash and the byte range of a token.
type place struct {
	hash       uint64
	start, end int32
}

// New returns a Selector of winnowed rows.
func New() *Selector {
	return &Selector{words: Words, chars: Chars}
}

// NewAll returns a Selector of all rows of some words, or of some characters of a script without spaces. Both numbers
// are at least 1.
func NewAll(words, chars int) *Selector {
	return &Selector{words: words, chars: chars, selectAll: true}
}

// Begin implements [signature.TokenSelector].
func (s *Selector) Begin(yield func(signature.Signature)) {
	s.yield = yield
	s.tokens, s.hasChars, s.trailingWords, s.hasRow = s.tokens[:0], false, 0, false
	s.index, s.minimum, s.last, s.minimumHash = 0, 0, -1, math.MaxUint64
}

// Take implements [signature.TokenSelector].
func (s *Selector) Take(batch []token.Token, hashes []uint64) {
	for i := range batch {
		t := &batch[i]
		if char := t.Kind == token.Char; char != s.hasChars || s.trailingWords > 0 {
			s.turn(char)
		}
		s.tokens = append(s.tokens, place{hashes[i], int32(t.Start), int32(t.End)})
	}
	if len(s.tokens) >= 1024 {
		s.rows(len(s.tokens) - s.trailingWords)
	}
}

// turn prepares for a token of another kind than the run, or after words in a run of characters.
func (s *Selector) turn(char bool) {
	switch {
	case !char:
		if s.trailingWords++; s.trailingWords == s.words { // too many words for a run of characters
			s.split()
		}
	case s.hasChars:
		s.trailingWords = 0
	default:
		if s.hasRow || len(s.tokens) >= s.words {
			s.flush()
		}
		s.hasChars = true
	}
}

// split ends a run of characters before the last words, which begin a run of words.
func (s *Selector) split() {
	n := len(s.tokens) - (s.trailingWords - 1)
	words := slices.Clone(s.tokens[n:])
	s.tokens = s.tokens[:n]
	s.flush()
	s.tokens, s.hasChars, s.trailingWords = append(s.tokens, words...), false, 0
}

// End implements [signature.TokenSelector].
func (s *Selector) End() {
	s.flush()
	if !s.selectAll && s.index < Window && s.index > 0 { // no window was full
		s.yield(s.window[s.minimum])
	}
}

// rows takes the rows of the first n held tokens. It keeps the tokens that begin further rows.
func (s *Selector) rows(n int) {
	width, tokens := s.words, s.tokens[:n]
	if s.hasChars {
		width = s.chars
	}
	if n < width {
		return
	}
	top := token.Power(width)
	rolling := polynomial(tokens[:width])
	s.row(rolling, tokens[0].start, tokens[width-1].end)
	for i, last := range tokens[width:] {
		rolling = rolling*token.Base + last.hash - tokens[i].hash*top
		s.row(rolling, tokens[i+1].start, last.end)
	}
	s.hasRow = true
	s.tokens = s.tokens[:copy(s.tokens, s.tokens[n-width+1:])]
}

// polynomial returns the rolling hash of a row, a polynomial of base [token.Base]: the next row's hash takes two
// multiplications.
func polynomial(tokens []place) (h uint64) {
	for i := range tokens {
		h = h*token.Base + tokens[i].hash
	}
	return h
}

// flush ends a run of tokens of one kind. A run that is shorter than a row counts as a row of its own.
func (s *Selector) flush() {
	s.rows(len(s.tokens))
	if len(s.tokens) > 0 && !s.hasRow {
		s.row(polynomial(s.tokens), s.tokens[0].start, s.tokens[len(s.tokens)-1].end)
	}
	s.tokens, s.hasRow = s.tokens[:0], false
}

// row puts a row into the window, and selects the minimum of the window if it is new.
func (s *Selector) row(rolling uint64, start, end int32) {
	h := signature.Fold(0, rolling)
	if s.selectAll {
		s.yield(signature.Signature{Hash: h, Start: start, End: end})
		return
	}
	i := s.index
	s.window[i%Window] = signature.Signature{Hash: h, Start: start, End: end}
	s.index++
	if s.minimum <= i-Window {
		s.search()
	} else if h <= s.minimumHash { // the last of equal ones, as in the paper
		s.minimum, s.minimumHash = i, h
	}
	if i >= Window-1 && s.minimum != s.last {
		s.last = s.minimum
		s.yield(s.window[s.minimum%Window])
	}
}

// search finds the minimum of a full window.
func (s *Selector) search() {
	oldest := s.index - Window
	lowest, minimum := s.window[oldest%Window].Hash, oldest
	for i := oldest + 1; i < s.index; i++ {
		if x := s.window[i%Window].Hash; x <= lowest {
			minimum, lowest = i, x
		}
	}
	s.minimum, s.minimumHash = minimum, lowest
}
