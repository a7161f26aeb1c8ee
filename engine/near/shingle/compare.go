package shingle

import (
	"context"
	"math/bits"
	"slices"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
)

// A Comparison is the result of [Compare].
type Comparison struct {
	A, B     Text
	Distance int   // Hamming distance of the fingerprints; -1 if a text is too short for one
	Bits     []int // numbers of the bits that differ, descending; 0 is the least significant bit

	Shared  int     // number of shingles that both texts have
	Jaccard float64 // similarity of the sets of shingles
	AInB    float64 // share of A's shingles that B has
	BInA    float64 // share of B's shingles that A has

	Estimate  float64 // estimate of the Jaccard similarity by sketches
	Deviation float64 // standard error of Estimate
}

// A Text is one side of a comparison.
type Text struct {
	Fingerprint simhash.Fingerprint
	OK          bool // true if the text has enough features for a fingerprint
	Features    int  // number of distinct features
	Tokens      int  // number of words, and of characters of scripts without spaces
	Shingles    int  // number of distinct shingles
	Passages    []Passage
	PassageSum  int // number of tokens in all passages
	sketch      sketch.Sketch
}

// A Passage is a part of a text that the other text does not have.
type Passage struct {
	Start, End int // offsets of its bytes in the text
	Tokens     int
}

// Compare compares two texts and their fingerprints by a recipe. A passage is a maximal sequence of tokens that no
// shared shingle covers. One replaced word is a passage of one word. Text that was only moved is shared, except at its
// ends. Compare takes about 1 us and 200 bytes of memory for each token of both texts. It returns an error if the
// recipe is invalid.
func Compare(a, b string, recipe simhash.Recipe) (*Comparison, error) {
	f, err := simhash.New(recipe)
	if err != nil {
		return nil, err
	}
	c := &Comparison{Distance: -1}
	s := New(context.Background())
	traceA, traceB := s.trace(a), s.trace(b)
	setA, setB := traceA.set, traceB.set
	c.A, c.B = text(f, a, traceA, setB), text(f, b, traceB, setA)
	c.Estimate, c.Deviation = sketch.Estimate(&c.A.sketch, &c.B.sketch)
	c.Shared = Shared(setA, setB)
	c.Jaccard, c.AInB, c.BInA = Jaccard(setA, setB), share(c.Shared, len(setA)), share(c.Shared, len(setB))
	c.A.Features, c.B.Features = len(f.AppendFeatures(nil, a)), len(f.AppendFeatures(nil, b))
	if c.A.OK && c.B.OK {
		x := uint64(c.A.Fingerprint ^ c.B.Fingerprint)
		c.Distance = bits.OnesCount64(x)
		for bit := 63; bit >= 0; bit-- {
			if x>>bit&1 != 0 {
				c.Bits = append(c.Bits, bit)
			}
		}
	}
	return c, nil
}

// text returns one side of a comparison. A token is covered if shingles in the set of the other side cover all of its
// units.
func text(f *simhash.Fingerprinter, s string, ownTrace *trace, other []uint64) (t Text) {
	t.Fingerprint, _, t.OK, t.sketch = f.Sketch(s)
	tokens := ownTrace.tokens
	t.Tokens, t.Shingles = len(tokens), len(ownTrace.set)
	units := make([]bool, len(ownTrace.units))
	for _, g := range ownTrace.grams {
		if _, shared := slices.BinarySearch(other, g.hash); shared {
			for i := g.end - g.n; i < g.end; i++ {
				units[i] = true
			}
		}
	}
	covered := slices.Repeat([]bool{true}, len(tokens))
	for i, isCovered := range units {
		covered[ownTrace.units[i]] = covered[ownTrace.units[i]] && isCovered
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

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
