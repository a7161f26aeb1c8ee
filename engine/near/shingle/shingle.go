// Package shingle makes sets of shingles of texts, and says how much two of them share: the number of shingles
// that both have by the number that either has, their Jaccard similarity.
//
// A shingle is some tokens in a row, whatever their script: 3 words, or 5
// characters of scripts without spaces such as Chinese, or some of both that are
// together as long (see [Options]). Tokens are those of package token, and a
// shingle is held as its 64-bit hash:
//
//	text --package token--> words, characters --in a row--> hashes --sort--> set
//
// Two different shingles of a pair of texts have one hash with a chance of
// n^2/2^64, which for a million shingles is 5e-8.
//
// Cost: 50-100 MB of text a second and core for a set, which takes 8 bytes a
// shingle, about 1.4 bytes a byte of English; 1-2 ns an element for a
// similarity. A [Shingler] belongs to one goroutine; sets are plain slices.
package shingle

import (
	"fmt"
	"slices"

	"ndd/engine/corpus/token"
)

// Options configures what a shingle is: the fewest tokens in a row, from each token on, that are as long as Words words or Chars
// characters, where a word counts 1/Words and a character 1/Chars. The tokens of a text that is shorter are one shingle.
// Zero is the default.
type Options struct {
	Words int // in a row, 1 to 16; default 3
	Chars int // in a row, where a script has no spaces, 1 to 16; default 5
}

// longest is the most tokens of a shingle.
const longest = 16

// A Shingler makes sets of shingles. It reuses its memory and belongs to one goroutine.
type Shingler struct {
	scanner *token.Scanner
	key     token.Key
	length  [2]int // of a token, by kind, in parts of a shingle
	full    int    // parts of a shingle
	take    func([]token.Token)

	set    []uint64
	window [longest]entry // the last tokens, in a ring
	filled int            // tokens seen
	first  int            // token that the next shingle begins with
	parts  int            // length of the tokens from first on
}

// entry is a token in the window.
type entry struct {
	hash  uint64
	parts int
}

// New returns a Shingler, or an error that says which option is out of range.
func New(o Options) (*Shingler, error) {
	words, chars := o.Words, o.Chars
	if words == 0 {
		words = 3
	}
	if chars == 0 {
		chars = 5
	}
	if words < 1 || words > longest || chars < 1 || chars > longest {
		return nil, fmt.Errorf("shingles of %d words, %d characters: both must be 1 to %d", words, chars, longest)
	}
	scanner, err := token.NewScanner(token.Options{})
	if err != nil {
		return nil, err
	}
	s := &Shingler{scanner: scanner, key: token.NewKey([32]byte{}), full: words * chars,
		length: [2]int{token.Word: chars, token.Char: words}}
	s.take = s.push
	return s, nil
}

// Append appends the set of a text's shingles to dst, ascending, each once.
func (s *Shingler) Append(dst []uint64, text string) []uint64 {
	s.set, s.filled, s.first, s.parts = dst, 0, 0, 0
	s.scanner.Scan(text, s.take)
	if s.first == 0 && s.filled > 0 {
		s.shingle() // all of a short text
	}
	set := s.set[len(dst):]
	slices.Sort(set)
	set = slices.Compact(set)
	dst, s.set = s.set[:len(dst)+len(set)], nil
	return dst
}

// push takes some tokens of the text.
func (s *Shingler) push(tokens []token.Token) {
	for i := range tokens {
		t := &tokens[i]
		e := entry{s.key.Hash(s.scanner, t), s.length[t.Kind&1]}
		s.window[s.filled%longest] = e
		s.filled++
		for s.parts += e.parts; s.parts >= s.full; s.first++ {
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
	s.set = append(s.set, h)
}

// Jaccard returns the similarity of two sets, 0 to 1; 1 if both are empty.
func Jaccard(a, b []uint64) float64 {
	if len(a)+len(b) == 0 {
		return 1
	}
	both := 0
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
	return float64(both) / float64(len(a)+len(b)-both)
}

// JaccardBound returns the most that the similarity of sets of these sizes can be.
func JaccardBound(a, b int) float64 {
	if a+b == 0 {
		return 1
	}
	return float64(min(a, b)) / float64(max(a, b))
}
