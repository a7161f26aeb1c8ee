// Package shingle compares texts by their shingles.
//
// A shingle is some tokens in a row, whatever their script: 3 words, or 5 characters of scripts
// without spaces such as Chinese, or some of both that are together as long: the fewest tokens,
// from each token on, where a word counts 1/3 and a character 1/5. The tokens of a shorter text are
// one shingle. Tokens are those of package token, and a shingle is held as its 64-bit hash:
//
//	text --package token--> words, characters --in a row--> hashes --sort--> set
//
// [Jaccard] returns the similarity of two sets: the number of shingles that both have by the number
// that either has. [Compare] explains a pair of texts and their fingerprints, with the passages
// that only one of them has.
//
// Two different shingles of a pair of texts have one hash with a chance of n^2/2^64, which for a
// million shingles is 5e-8.
//
// Cost: 50-100 MB of text a second and core for a set, which takes 8 bytes a shingle, about 1.4
// bytes a byte of English; 1-2 ns an element for a similarity. A [Shingler] belongs to one
// goroutine; sets are plain slices.
package shingle

import (
	"context"
	"math/bits"
	"slices"

	"ndd/engine/corpus/token"
)

const (
	words   = 3 // of a shingle
	chars   = 5 // of a shingle in a script without spaces
	full    = words * chars
	longest = chars // tokens of a shingle, at most
)

// A Shingler makes sets of shingles. It reuses its memory and belongs to one goroutine.
type Shingler struct {
	scanner *token.Scanner
	key     token.Key
	take    func([]token.Token)

	set    []uint64
	start  int            // of the set of this text in set
	window [longest]entry // the last tokens, in a ring
	filled int            // tokens seen
	first  int            // token that the next shingle begins with
	parts  int            // length of the tokens from first on

	ends   []uint32 // of buckets, while a set is sorted
	sorted []uint64

	tokens []place // of the text, if traced
	grams  []gram
	traced bool
}

// entry is a token in the window.
type entry struct {
	hash  uint64
	parts int
}

// place is where a token is in its text.
type place struct{ start, end int }

// gram is a shingle with its tokens.
type gram struct {
	hash     uint64
	first, n int
}

// New returns a Shingler that ends early when a context is done: its sets mean nothing then.
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

// Append appends the set of a text's shingles to dst, ascending, each once.
func (s *Shingler) Append(dst []uint64, text string) []uint64 {
	s.set, s.start, s.filled, s.first, s.parts = dst, len(dst), 0, 0, 0
	s.scanner.Scan(text, s.take)
	if s.first == 0 && s.filled > 0 {
		s.shingle() // all of a short text
	}
	s.compact()
	dst, s.set = s.set, nil
	return dst
}

// compact sorts the set of this text and drops what occurs again.
func (s *Shingler) compact() {
	set := s.set[s.start:]
	s.sort(set)
	s.set = s.set[:s.start+len(slices.Compact(set))]
}

// makeRoom drops what occurs again, and doubles the room where that leaves less than half of it. So
// a text takes memory for about three times its set, however often it repeats itself.
func (s *Shingler) makeRoom() {
	if len(s.set)-s.start >= compactFrom {
		s.compact()
	}
	if n := len(s.set); n >= cap(s.set)/2 {
		s.set = slices.Grow(s.set, max(n, 64))
	}
}

// compactFrom is how many shingles a text has before it is worth the time to look for repeats.
const compactFrom = 1 << 16

// sortFrom is how many hashes are sorted by buckets: then that takes a third of the time.
const sortFrom = 128

// sort sorts hashes, which are uniform: in buckets of some four by their leading bits.
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
		at := &s.ends[x>>(64-n)]
		s.sorted[*at] = x
		*at++
	}
	from := uint32(0)
	for _, end := range s.ends {
		slices.Sort(s.sorted[from:end])
		from = end
	}
	copy(set, s.sorted)
}

// trace returns the set of a text's shingles, its tokens, and each shingle with its tokens.
func (s *Shingler) trace(text string) (set []uint64, tokens []place, grams []gram) {
	s.tokens, s.grams, s.traced = nil, nil, true
	set = s.Append(nil, text)
	s.traced = false
	return set, s.tokens, s.grams
}

func (s *Shingler) push(tokens []token.Token) {
	for i := range tokens {
		t := &tokens[i]
		e := entry{s.key.Hash(s.scanner, t), chars}
		if t.Kind == token.Char {
			e.parts = words
		}
		if s.traced {
			s.tokens = append(s.tokens, place{t.Start, t.End})
		}
		s.window[s.filled%longest] = e
		s.filled++
		for s.parts += e.parts; s.parts >= full; s.first++ {
			s.shingle()
			s.parts -= s.window[s.first%longest].parts
		}
	}
}

// shingle adds the shingle of the tokens from first on.
func (s *Shingler) shingle() {
	h := s.window[s.first%longest].hash
	for i := s.first + 1; i < s.filled; i++ {
		h = token.Fold(h, s.window[i%longest].hash)
	}
	if len(s.set) == cap(s.set) {
		s.makeRoom()
	}
	s.set = append(s.set, h)
	if s.traced {
		s.grams = append(s.grams, gram{h, s.first, s.filled - s.first})
	}
}

// Jaccard returns the similarity of two sets, 0 to 1; 1 if both are empty.
func Jaccard(a, b []uint64) float64 {
	if len(a)+len(b) == 0 {
		return 1
	}
	both := Shared(a, b)
	return float64(both) / float64(len(a)+len(b)-both)
}

// Shared returns how many elements two sets have in common.
func Shared(a, b []uint64) (both int) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		x, y := a[i], b[j]
		if x == y {
			both++
		}
		if x <= y {
			i++
		}
		if y <= x {
			j++
		}
	}
	return both
}
