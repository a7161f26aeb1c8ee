// Package shingle compares texts by their shingles.
//
// The shingles are the same as in package sketch: 3 words in a row, or 5 characters of a script without spaces such as
// Chinese. A Latin word near such characters counts as a sequence of characters. A shingle is held as its 64-bit hash:
//
//	text --package token--> units --in a row--> hashes --sort--> set
//
// [Jaccard] returns the similarity of two sets: the number of shingles in both, divided by the number of shingles in at
// least one of them. [Compare] explains a pair of texts and their fingerprints, and lists the passages that only one of
// the texts has.
//
// Two texts of n shingles have different shingles with the same hash with a probability of n^2/2^64. For a million
// shingles this is 5e-8.
//
// A core makes the sets of 50-100 MB of text a second. A set takes 8 bytes a shingle, about 1.4 bytes for each byte of
// English. A similarity costs 1-2 ns an element. A [Shingler] belongs to one goroutine. Sets are plain slices.
package shingle

import (
	"context"
	"math/bits"
	"slices"
	"unicode/utf8"

	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/corpus/token"
)

// A Shingler makes sets of shingles. It reuses its memory and belongs to one goroutine.
type Shingler struct {
	scanner *token.Scanner
	key     token.Key
	take    func([]token.Token)

	set        []uint64
	start      int // index in set of the first shingle of this text
	run        run
	wordsSince int    // number of words since the last character, at most sketch.Near
	word       []byte // text of a word that is split into characters

	ends   []uint32 // ends of the buckets of a sort
	sorted []uint64

	traced *trace // trace of the text, or nil
}

// A run is a sequence of units of one kind. It holds the last ones.
type run struct {
	kind  token.Kind
	units [5]uint64
	n     int  // number of units that it holds, at most the number in a shingle
	full  bool // true if it has had a shingle
}

// place holds the offsets of a token in its text.
type place struct{ start, end int }

// gram is a shingle of n units. They end before unit number end of the trace.
type gram struct {
	hash uint64
	n    int
	end  int
}

// New returns a Shingler that stops early when the context is done. Its sets are invalid then.
func New(ctx context.Context) *Shingler {
	scanner, err := token.NewScanner(token.Options{})
	if err != nil {
		panic(err) // the default options are valid
	}
	scanner.Until(ctx)
	s := &Shingler{scanner: scanner, key: token.NewKey([32]byte{})}
	s.take = s.push
	return s
}

// Append appends the shingles of a text to dst, each once, in ascending order.
func (s *Shingler) Append(dst []uint64, text string) []uint64 {
	s.set, s.start, s.wordsSince, s.run = dst, len(dst), sketch.Near, run{}
	s.scanner.Scan(text, s.take)
	s.endRun()
	s.compact()
	dst, s.set = s.set, nil
	return dst
}

// compact sorts the set of this text and removes repeated shingles.
func (s *Shingler) compact() {
	set := s.set[s.start:]
	s.sort(set)
	s.set = s.set[:s.start+len(slices.Compact(set))]
}

// makeRoom removes repeated shingles. If less than half of the capacity is free then, it doubles the capacity. So a
// text needs memory for about three times its set, even if it repeats itself very often.
func (s *Shingler) makeRoom() {
	if len(s.set)-s.start >= compactFrom {
		s.compact()
	}
	if n := len(s.set); n >= cap(s.set)/2 {
		s.set = slices.Grow(s.set, max(n, 64))
	}
}

// compactFrom is the number of shingles of a text from which a search for repeated shingles is worth its time.
const compactFrom = 1 << 16

// sortFrom is the number of hashes from which they are sorted by buckets, which takes a third of the time.
const sortFrom = 128

// sort sorts hashes. Hashes are uniform, so it sorts them into buckets of 2 to 4 on average, by their leading bits.
func (s *Shingler) sort(set []uint64) {
	if len(set) < sortFrom {
		slices.Sort(set)
		return
	}
	n := bits.Len(uint(len(set))) - 2
	s.ends = slices.Grow(s.ends[:0], 1<<n)[:1<<n]
	s.sorted = slices.Grow(s.sorted[:0], len(set))[:len(set)]
	clear(s.ends)
	for _, x := range set {
		s.ends[x>>(64-n)]++
	}
	end := uint32(0)
	for i, size := range s.ends {
		s.ends[i] = end
		end += size
	}
	for _, x := range set { // this moves the beginning of each bucket to its end
		end := &s.ends[x>>(64-n)]
		s.sorted[*end] = x
		*end++
	}
	from := uint32(0)
	for _, end := range s.ends {
		slices.Sort(s.sorted[from:end])
		from = end
	}
	copy(set, s.sorted)
}

// A trace holds the shingles, tokens and units of a text.
type trace struct {
	set    []uint64 // set of shingles
	tokens []place
	units  []int // index of each unit's token
	grams  []gram
}

// trace returns the trace of a text.
func (s *Shingler) trace(text string) *trace {
	s.traced = &trace{}
	defer func() { s.traced = nil }()
	s.traced.set = s.Append(nil, text)
	return s.traced
}

func (s *Shingler) push(tokens []token.Token) {
	for i := range tokens {
		t := &tokens[i]
		if s.traced != nil {
			s.traced.tokens = append(s.traced.tokens, place{t.Start, t.End})
		}
		switch {
		case t.Kind == token.Char:
			s.wordsSince = 0
			s.unit(t.Kind, s.key.Hash(s.scanner, t))
		case s.wordsSince < sketch.Near:
			s.wordsSince++
			s.word = s.scanner.AppendText(s.word[:0], t)
			for word := s.word; len(word) > 0; {
				_, size := utf8.DecodeRune(word)
				s.unit(token.Char, s.key.Sum(word[:size]))
				word = word[size:]
			}
		default:
			s.unit(t.Kind, s.key.Hash(s.scanner, t))
		}
	}
}

// unit adds a unit, and the shingle that ends with the unit.
func (s *Shingler) unit(kind token.Kind, hash uint64) {
	r := &s.run
	if r.kind != kind {
		s.endRun()
		r.kind = kind
	}
	width := sketch.Width(kind)
	if r.n == width {
		copy(r.units[:], r.units[1:])
		r.n--
	}
	r.units[r.n] = hash
	r.n++
	if s.traced != nil {
		s.traced.units = append(s.traced.units, len(s.traced.tokens)-1)
	}
	if r.n == width {
		r.full = true
		s.shingle()
	}
}

// endRun ends the current run. If the run is too short for a shingle of full length, the whole run is a shingle.
func (s *Shingler) endRun() {
	if s.run.n > 0 && !s.run.full {
		s.shingle()
	}
	s.run.n, s.run.full = 0, false
}

// shingle adds the shingle of the last units.
func (s *Shingler) shingle() {
	if len(s.set) == cap(s.set) {
		s.makeRoom()
	}
	h := sketch.Shingle(s.run.units[:s.run.n])
	s.set = append(s.set, h)
	if s.traced != nil {
		s.traced.grams = append(s.traced.grams, gram{h, s.run.n, len(s.traced.units)})
	}
}

// Jaccard returns the similarity of two sets, 0 to 1; 1 if both are empty.
func Jaccard(a, b []uint64) float64 {
	if len(a)+len(b) == 0 {
		return 1
	}
	shared := Shared(a, b)
	return float64(shared) / float64(len(a)+len(b)-shared)
}

// Shared returns the number of elements that two sets have in common.
func Shared(a, b []uint64) (shared int) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		x, y := a[i], b[j]
		if x == y {
			shared++
		}
		if x <= y {
			i++
		}
		if y <= x {
			j++
		}
	}
	return shared
}
