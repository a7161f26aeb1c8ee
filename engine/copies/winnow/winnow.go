// Package winnow selects features of a text by winnowing (Schleimer, Wilkerson and Aiken, "Winnowing: Local
// Algorithms for Document Fingerprinting", SIGMOD 2003): of every [Window] rows of words that follow each other, the
// one with the smallest hash. Two texts that have any passage of Words + Window - 1 words in common select a
// common feature of it, whatever stands around it, so containment shows, and features have places.
//
//	text ──► tokens ──► rows of 5 words, or 8 characters of a script without spaces ──► hash ──► least of 16 ──► feature
//
// Density: 2 of Window + 1 rows are selected, so a text of n words has about n/8.5 features.
//
// Cost: two to three passes over the tokens; the least of a window is kept in a monotonic queue, so that a row costs a
// hash, a comparison or two and no division. A [Selector] belongs to one goroutine.
package winnow

import (
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
	scanner *token.Scanner
	hasher  *token.Hasher
	tokens  []place // of the run of one kind at work
	char    bool    // that kind
	taken   bool    // rows of the run have been taken
	queue   []row   // hashes and places ascending: the first is the least of the window
	index   int     // rows so far
	last    int     // row that was selected last
	rolling uint64  // hash of the row before, unmixed
	dst     []signature.Signature
}

// place is a token's hash and where it stands.
type place struct {
	hash       uint64
	start, end int32
}

// row is a row of tokens.
type row struct {
	index int
	sig   signature.Signature
}

// New returns a Selector.
func New() *Selector {
	scanner, err := token.NewScanner(token.Options{})
	if err != nil {
		panic(err) // of a list of stop words, and there is none
	}
	return &Selector{scanner: scanner, hasher: token.NewHasher(scanner, signature.Key)}
}

// Append appends the selected features of a text to dst, in order of the text. A text of fewer rows than a
// window selects its least; one of fewer words than a row is one row.
func (s *Selector) Append(dst []signature.Signature, text string) []signature.Signature {
	s.dst, s.tokens, s.taken, s.queue, s.index, s.last = dst, s.tokens[:0], false, s.queue[:0], 0, -1
	s.scanner.Scan(text, func(batch []token.Token) {
		for i := range batch {
			t := &batch[i]
			if char := t.Kind == token.Char; char != s.char {
				s.flush()
				s.char = char
			}
			s.tokens = append(s.tokens, place{s.hasher.Slot(t).Hash, int32(t.Start), int32(t.End)})
			if len(s.tokens) >= 4096 {
				s.rows()
			}
		}
	})
	s.flush()
	if s.index < Window && len(s.queue) > 0 { // no window was full
		s.dst = append(s.dst, s.queue[0].sig)
	}
	return s.dst
}

// width returns how many tokens of the kind at work are a row.
func (s *Selector) width() int {
	if s.char {
		return Chars
	}
	return Words
}

// base is the base of the polynomial that a row's hash is: of tokens t it is the sum of t[i] base^(n-1-i), so that the next
// row's takes two multiplications, and mixed at the end. wordsPower and charsPower are base^width, which the oldest token has then.
const base = 0x9e3779b97f4a7c15

var wordsPower, charsPower = power(Words), power(Chars)

func power(n int) uint64 {
	p := uint64(1)
	for range n {
		p *= base
	}
	return p
}

// rows takes the rows of the tokens so far, and leaves those that further rows begin with.
func (s *Selector) rows() {
	width, top := s.width(), wordsPower
	if s.char {
		top = charsPower
	}
	i := 0
	for ; i+width <= len(s.tokens); i++ {
		if i == 0 {
			s.rolling = polynomial(s.tokens[:width])
		} else {
			s.rolling = s.rolling*base + s.tokens[i+width-1].hash - s.tokens[i-1].hash*top
		}
		s.row(s.rolling, s.tokens[i].start, s.tokens[i+width-1].end)
	}
	s.taken = s.taken || i > 0
	s.tokens = s.tokens[:copy(s.tokens, s.tokens[i:])]
}

func polynomial(tokens []place) (h uint64) {
	for i := range tokens {
		h = h*base + tokens[i].hash
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
	r := row{s.index, signature.Signature{Hash: h, Start: start, End: end}}
	for n := len(s.queue); n > 0 && s.queue[n-1].sig.Hash >= h; n-- { // of equal ones the later, as the paper has it
		s.queue = s.queue[:n-1]
	}
	s.queue = append(s.queue, r)
	s.index++
	if s.index < Window {
		return
	}
	if s.queue[0].index <= s.index-1-Window {
		s.queue = s.queue[:copy(s.queue, s.queue[1:])]
	}
	if least := s.queue[0]; least.index != s.last {
		s.last = least.index
		s.dst = append(s.dst, least.sig)
	}
}
