// Package compare says how two texts differ, and why their fingerprints are near each other or not.
//
//	text a ──► tokens ──► shingles ─┐ shared ──► Jaccard, containment each way
//	text b ──► tokens ──► shingles ─┘ not shared ──► passages of a alone, of b alone
//	recipe ──► fingerprints ──► distance, differing bits
//
// A shingle is 3 words or 5 characters of a script without spaces in a row, or some of both that are together as long, as in
// package shingle. A passage is a longest row of tokens that no shared shingle covers: one replaced word is a passage of
// one word. Text that only moved is shared, but for its ends.
//
// Cost: about 1 us and 200 bytes of memory a token of both texts, some 40 times the time of two fingerprints: it is for pairs that
// somebody looks at. Texts is safe for many goroutines.
package compare

import (
	"fmt"
	"math/bits"
	"slices"

	"ndd/engine/corpus/simhash"
	"ndd/engine/corpus/token"
	"ndd/engine/near/shingle"
)

// A Comparison is what two texts have in common, and what not.
type Comparison struct {
	A, B     Text
	Distance int   // of the fingerprints in bits, of the nearer ones where there are two; -1 where one text is too short for one
	Bits     []int // that differ, 0 the least significant, from the leading one
	Nearer   int   // where a text has two fingerprints, 0 or 1: of which Distance and Bits are
	Features simhash.Overlap
	Expected float64 // distance of two texts that have so much in common, on average

	Shared  int     // shingles that both have
	Jaccard float64 // of the sets of shingles
	AInB    float64 // share of a's shingles that b has
	BInA    float64
}

// A Text is one side of a comparison.
type Text struct {
	Fingerprint simhash.Fingerprint
	Second      simhash.Fingerprint // where the recipe makes two
	OK          bool                // the text has features enough for a fingerprint
	Features    int                 // distinct ones
	Tokens      int                 // words, and characters of scripts without spaces
	Shingles    int                 // distinct ones
	Passages    []Passage
	PassageSum  int // tokens of all passages
}

// A Passage is a part of a text that the other one does not have.
type Passage struct {
	Start, End int // bytes of the text
	Tokens     int
}

const (
	wordShingle = 3
	charShingle = 5
)

// Texts compares two texts by a recipe. The error is of a recipe that is not valid.
func Texts(a, b string, recipe simhash.Recipe) (*Comparison, error) {
	f, err := simhash.New(recipe)
	if err != nil {
		return nil, err
	}
	s, err := shingle.New(shingle.Options{Words: wordShingle, Chars: charShingle})
	if err != nil {
		return nil, err
	}
	c := &Comparison{Distance: -1}
	setA, setB := s.Append(nil, a), s.Append(nil, b)
	c.Shared, c.Jaccard = shared(setA, setB), shingle.Jaccard(setA, setB)
	c.AInB, c.BInA = share(c.Shared, len(setA)), share(c.Shared, len(setB))
	tokensA, err := tokens(a)
	if err != nil {
		return nil, err
	}
	tokensB, err := tokens(b)
	if err != nil {
		return nil, err
	}
	gramsA, gramsB := grams(tokensA), grams(tokensB)
	c.A = text(f, a, tokensA, gramsA, set(gramsB))
	c.B = text(f, b, tokensB, gramsB, set(gramsA))
	c.A.Shingles, c.B.Shingles = len(setA), len(setB)
	c.Features = simhash.OverlapOf(f.AppendFeatures(nil, a), f.AppendFeatures(nil, b))
	c.A.Features, c.B.Features = c.Features.Both+c.Features.OnlyA, c.Features.Both+c.Features.OnlyB
	c.Expected = 64 * recipe.FlipRate(c.Features)
	if c.A.OK && c.B.OK {
		c.near(recipe.PrintsEach())
	}
	return c, nil
}

// near sets the distance.
func (c *Comparison) near(prints int) {
	x := uint64(c.A.Fingerprint ^ c.B.Fingerprint)
	if y := uint64(c.A.Second ^ c.B.Second); prints > 1 && bits.OnesCount64(y) < bits.OnesCount64(x) {
		x, c.Nearer = y, 1
	}
	c.Distance = bits.OnesCount64(x)
	for bit := 63; bit >= 0; bit-- {
		if x>>bit&1 != 0 {
			c.Bits = append(c.Bits, bit)
		}
	}
}

// text fills in one side; grams of the other side are those that cover its tokens.
func text(f *simhash.Fingerprinter, s string, tokens []place, grams []gram, other map[string]bool) (t Text) {
	t.Fingerprint, _, t.OK = f.Fingerprint(s)
	t.Second = f.Second()
	t.Tokens = len(tokens)
	covered := make([]bool, len(tokens))
	for _, g := range grams {
		if other[g.text] {
			for i := range g.n {
				covered[g.first+i] = true
			}
		}
	}
	for i := 0; i < len(tokens); {
		from := i
		for i < len(tokens) && !covered[i] {
			i++
		}
		if i > from {
			t.Passages = append(t.Passages, Passage{tokens[from].start, tokens[i-1].end, i - from})
			t.PassageSum += i - from
			continue
		}
		i++
	}
	return t
}

// place is a token of a text.
type place struct {
	normal     string
	char       bool
	start, end int
}

// tokens takes a text apart.
func tokens(text string) (all []place, err error) {
	s, err := token.NewScanner(token.Options{})
	if err != nil {
		return nil, fmt.Errorf("comparing texts: %w", err)
	}
	var normal []byte
	s.Scan(text, func(batch []token.Token) {
		for i := range batch {
			t := &batch[i]
			normal = s.AppendText(normal[:0], t)
			all = append(all, place{string(normal), t.Kind == token.Char, t.Start, t.End})
		}
	})
	return all, nil
}

// gram is a shingle where it stands.
type gram struct {
	text     string
	first, n int // tokens
}

// grams returns the shingles of a text: from each token on the fewest that are as long as wordShingle words or charShingle
// characters, or all of a text that is shorter.
func grams(tokens []place) (all []gram) {
	const full = wordShingle * charShingle
	first, length := 0, 0
	for end := range tokens {
		for length += tokens[end].length(); length >= full; first++ {
			all = append(all, newGram(tokens, first, end+1))
			length -= tokens[first].length()
		}
	}
	if len(all) == 0 && len(tokens) > 0 {
		all = append(all, newGram(tokens, 0, len(tokens)))
	}
	return all
}

// length returns that of a token in parts of a shingle.
func (p *place) length() int {
	if p.char {
		return wordShingle
	}
	return charShingle
}

func newGram(tokens []place, from, to int) gram {
	var key []byte
	for _, t := range tokens[from:to] {
		key = append(append(key, t.normal...), 0)
	}
	return gram{string(key), from, to - from}
}

func set(grams []gram) map[string]bool {
	s := make(map[string]bool, len(grams))
	for _, g := range grams {
		s[g.text] = true
	}
	return s
}

// shared counts what two ascending sets have in common.
func shared(a, b []uint64) (n int) {
	for _, x := range a {
		if _, ok := slices.BinarySearch(b, x); ok {
			n++
		}
	}
	return n
}

func share(part, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(part) / float64(of)
}
