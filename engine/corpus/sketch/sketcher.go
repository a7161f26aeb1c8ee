package sketch

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"ndd/engine/corpus/token"
)

// A Sketcher makes sketches of texts from their tokens. It reuses its memory, 6 KiB, and belongs to one
// goroutine.
type Sketcher struct {
	key   token.Key
	ascii [utf8.RuneSelf]uint64 // hashes of characters

	winner [Bins]uint32 // of each bin; 0 if it has no shingle
	all    [Bins]uint32 // of each bin its own winner, or a borrowed one
	empty  [Bins]uint16 // bins without a winner

	first  [setMax + 1]uint64 // the first distinct shingles
	firsts int

	// The run at work: units of one kind in a row.
	kind                token.Kind
	full                bool   // it has as many units as a shingle
	length              int    // units, until it is full
	begin               uint64 // fold of the first ones
	last                uint64 // the last unit
	pair0, pair1, pair2 uint64 // folds of two units in a row, the last one first

	since int    // words since the last character, at most near
	text  []byte // of a word that is taken as characters
}

// New returns a Sketcher that is given the hashes of a key.
func New(key token.Key) *Sketcher {
	s := &Sketcher{key: key}
	for c := range s.ascii {
		s.ascii[c] = key.Sum([]byte{byte(c)})
	}
	return s
}

// Begin begins a text.
func (s *Sketcher) Begin() {
	clear(s.winner[:])
	s.firsts, s.length, s.full, s.since = 0, 0, false, near
}

// Take takes some tokens of the text, during the call of the scanner's yield, with their hashes.
func (s *Sketcher) Take(scanner *token.Scanner, tokens []token.Token, hashes []uint64) {
	hashes = hashes[:len(tokens)]
	for i := 0; i < len(tokens); i++ {
		t := &tokens[i]
		switch {
		case t.Stop:
		case t.Kind == token.Char:
			s.since = 0
			s.char(hashes[i])
		case s.since < near:
			s.since++
			s.text = scanner.AppendText(s.text[:0], t)
			s.spell(s.text)
		case s.full && s.kind == token.Word: // and those after it
			last, pair := s.last, s.pair0
			for ; i < len(tokens) && tokens[i].Kind == token.Word && !tokens[i].Stop; i++ {
				h := hashes[i]
				s.add(token.Fold(pair, h))
				last, pair = h, token.Fold(last, h)
			}
			s.last, s.pair0 = last, pair
			i--
		default:
			s.unit(token.Word, wordShingle, hashes[i])
		}
	}
}

// spell takes the characters of a word as units.
func (s *Sketcher) spell(word []byte) {
	for len(word) > 0 {
		size, c := 1, word[0]
		if c < utf8.RuneSelf {
			s.char(s.ascii[c])
		} else {
			_, size = utf8.DecodeRune(word)
			s.char(s.key.Sum(word[:size]))
		}
		word = word[size:]
	}
}

// char takes a character as a unit. The fold of four characters is that of two pairs.
func (s *Sketcher) char(h uint64) {
	if !s.full || s.kind != token.Char {
		s.unit(token.Char, charShingle, h)
		return
	}
	s.add(token.Fold(token.Fold(s.pair2, s.pair0), h))
	s.pair2, s.pair1, s.pair0, s.last = s.pair1, s.pair0, token.Fold(s.last, h), h
}

// unit takes a unit of a kind with shingles of a width, in a run that has no whole shingle yet.
func (s *Sketcher) unit(kind token.Kind, width int, h uint64) {
	if s.kind != kind {
		s.endRun()
		s.kind = kind
	}
	s.length++
	s.full = s.length == width
	switch {
	case s.length == 1:
		s.begin = h
	case !s.full:
		s.begin = token.Fold(s.begin, h)
	case kind == token.Word:
		s.add(token.Fold(s.pair0, h))
	default:
		s.add(token.Fold(token.Fold(s.pair2, s.pair0), h))
	}
	s.pair2, s.pair1, s.pair0, s.last = s.pair1, s.pair0, token.Fold(s.last, h), h
}

// endRun ends a run: one without a whole shingle is one.
func (s *Sketcher) endRun() {
	if s.length > 0 && !s.full {
		s.add(s.begin)
	}
	s.length, s.full = 0, false
}

// add lets a shingle compete in its bin.
func (s *Sketcher) add(h uint64) {
	w := &s.winner[h>>(64-binBits)]
	*w = max(*w, uint32(h)|1) // without a branch, which each sixth or so would mispredict
	if s.firsts <= setMax {
		s.remember(h)
	}
}

// remember keeps the first distinct shingles.
func (s *Sketcher) remember(h uint64) {
	if !slices.Contains(s.first[:s.firsts], h) {
		s.first[s.firsts] = h
		s.firsts++
	}
}

// Sketch ends the text and returns its sketch.
func (s *Sketcher) Sketch() Sketch {
	s.endRun()
	if s.firsts <= setMax {
		set := s.first[:s.firsts]
		slices.Sort(set)
		return ofSet(set)
	}
	s.borrow()
	return signed(&s.all)
}

// borrow gives each bin a winner. A bin j without one borrows that of j ^ orders[0], or of j ^ orders[1], and so on.
// What is left is looked at in rounds without branches.
func (s *Sketcher) borrow() {
	left := 0
	for j, w := range s.winner {
		s.all[j], s.empty[left%Bins] = w, uint16(j)
		left += isZero(w)
	}
	for round := 0; left > 0; round++ {
		order, again := orders[round], 0
		for _, j := range s.empty[:left] {
			w := s.winner[(j^order)%Bins]
			s.all[j%Bins], s.empty[again%Bins] = w, j
			again += isZero(w)
		}
		left = again
	}
}

// isZero returns 1 for 0, and 0 for anything else, without a branch.
func isZero(w uint32) int { return int((uint64(w) - 1) >> 63) }

// orders are the numbers 1 to Bins-1 in an order without a pattern: with those of a binary tree the estimates of short texts
// deviate half as much again.
var orders = func() (o [Bins - 1]uint16) {
	for i := range o {
		o[i] = uint16(i + 1)
	}
	slices.SortFunc(o[:], func(a, b uint16) int { return cmp.Compare(token.Mix(uint64(a)), token.Mix(uint64(b))) })
	return o
}()
