// Package winnow selects features of a text by winnowing (Schleimer, Wilkerson and Aiken,
// "Winnowing: Local Algorithms for Document Fingerprinting", SIGMOD 2003): of every [Window] rows
// of words that follow each other, the one with the smallest hash. Two texts that have any passage
// of Words + Window - 1 words in common select a common feature of it, whatever stands around it,
// so containment shows, and features have places.
//
//	text ──► tokens ──► rows of 5 words, or 8 characters of a script without spaces ──► hash ──► least of 16 ──► feature
//
// Density: 2 of Window + 1 rows are selected, so a text of n words has about n/8.5 features.
// [NewAll] selects every row, of lengths of its own: for texts that have too few selected ones to
// tell by.
//
// The tokens are those of package token. The hash of a row of n tokens with the hashes t
// (signature.Key) is signature.Fold(0, h), where h is the sum of t[i] * 9e3779b97f4a7c15^(n-1-i)
// modulo 2^64. Rows do not cross from words to characters; a stretch of one kind that is shorter
// than a row is a row. Of equal hashes in a window the later row is selected.
//
// Cost: two passes over the tokens. A row is compared with the least of its window; only when that
// leaves the window, once in Window rows, the whole window is looked at, so that a row costs a hash
// and two comparisons, none of them a surprise. A [Selector] belongs to one goroutine.
package winnow

import (
	"context"
	"ndd/engine/copies/signature"
	"ndd/engine/corpus/token"
)

// The lengths with which containment is found best on the development set.
const (
	Words  = 5  // in a row
	Chars  = 8  // in a row, of a script without spaces
	Window = 16 // rows
)

// A Selector selects features. It reuses its memory.
type Selector struct {
	reader *signature.Reader
	words  int     // of a row of words
	chars  int     // and of characters
	all    bool    // every row is selected
	tokens []place // of the run of one kind at work
	char   bool    // that kind
	taken  bool    // rows of the run have been taken
	yield  func(signature.Signature)

	window [Window]signature.Signature // the last rows, by index % Window
	index  int                         // rows so far
	least  int                         // row with the least hash of the window, the later of equal ones
	last   int                         // row that was selected last
}

// place is a token's hash and where it stands.
type place struct {
	hash       uint64
	start, end int32
}

// New returns a Selector of winnowed rows.
func New(ctx context.Context) *Selector {
	s := NewAll(ctx, Words, Chars)
	s.all = false
	return s
}

// NewAll returns a Selector of all rows of words words, or chars characters of a script without
// spaces; both at least 1.
func NewAll(ctx context.Context, words, chars int) *Selector {
	return &Selector{reader: signature.NewReader(ctx), words: words, chars: chars, all: true}
}

// Each implements [signature.Selector]. A text of fewer rows than a window selects its least; one
// of fewer words than a row is one row.
func (s *Selector) Each(text string, yield func(signature.Signature)) {
	s.Begin(yield)
	s.reader.Read(text, s)
}

// Begin implements [signature.Part], as do Take and End.
func (s *Selector) Begin(yield func(signature.Signature)) {
	s.yield = yield
	s.tokens, s.taken, s.index, s.least, s.last = s.tokens[:0], false, 0, 0, -1
}

// End ends a text.
func (s *Selector) End() {
	s.flush()
	if !s.all && s.index < Window && s.index > 0 { // no window was full
		s.yield(s.window[s.least])
	}
}

// Take takes some tokens.
func (s *Selector) Take(batch []token.Token, hashes []uint64) {
	for i := range batch {
		t := &batch[i]
		if char := t.Kind == token.Char; char != s.char {
			s.flush()
			s.char = char
		}
		s.tokens = append(s.tokens, place{hashes[i], int32(t.Start), int32(t.End)})
	}
	if len(s.tokens) >= 1024 {
		s.rows()
	}
}

// rows takes the rows of the tokens so far, and leaves those that further rows begin with.
func (s *Selector) rows() {
	width, tokens := s.words, s.tokens
	if s.char {
		width = s.chars
	}
	if len(tokens) < width {
		return
	}
	top := token.Power(width)
	rolling := polynomial(tokens[:width])
	s.row(rolling, tokens[0].start, tokens[width-1].end)
	for i, last := range tokens[width:] {
		rolling = rolling*token.Base + last.hash - tokens[i].hash*top
		s.row(rolling, tokens[i+1].start, last.end)
	}
	s.taken = true
	s.tokens = s.tokens[:copy(s.tokens, s.tokens[len(s.tokens)-width+1:])]
}

// polynomial is of base [token.Base], so that the next row's takes two multiplications. It is mixed at
// the end.
func polynomial(tokens []place) (h uint64) {
	for i := range tokens {
		h = h*token.Base + tokens[i].hash
	}
	return h
}

// flush ends a run of tokens of one kind; a run shorter than a row is one.
func (s *Selector) flush() {
	s.rows()
	if len(s.tokens) > 0 && !s.taken {
		s.row(polynomial(s.tokens), s.tokens[0].start, s.tokens[len(s.tokens)-1].end)
	}
	s.tokens, s.taken = s.tokens[:0], false
}

// row takes one row into the window, and selects the window's least where it is a new one.
func (s *Selector) row(rolling uint64, start, end int32) {
	h := signature.Fold(0, rolling)
	if s.all {
		s.yield(signature.Signature{Hash: h, Start: start, End: end})
		return
	}
	i := s.index
	s.window[i%Window] = signature.Signature{Hash: h, Start: start, End: end}
	s.index++
	if s.least <= i-Window {
		s.search()
	} else if h <= s.window[s.least%Window].Hash { // of equal ones the later, as the paper has it
		s.least = i
	}
	if i >= Window-1 && s.least != s.last {
		s.last = s.least
		s.yield(s.window[s.least%Window])
	}
}

// search finds the least row of a full window.
func (s *Selector) search() {
	oldest := s.index - Window
	s.least = oldest
	h := s.window[oldest%Window].Hash
	for i := oldest + 1; i < s.index; i++ {
		if x := s.window[i%Window].Hash; x <= h {
			s.least, h = i, x
		}
	}
}
