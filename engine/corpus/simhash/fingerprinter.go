package simhash

import (
	"cmp"
	"context"
	"encoding/hex"
	"math"
	"slices"

	"ndd/engine/corpus/sketch"
	"ndd/engine/corpus/token"
)

// Fingerprinter makes fingerprints by one recipe. It reuses its memory from text to text: 12 KiB
// for minwise recipes, about 0.4 MiB for simhash, and more while a text needs it. It belongs to one
// goroutine.
type Fingerprinter struct {
	recipe  Recipe
	scanner *token.Scanner
	ballot  *ballot  // of a simhash recipe, else nil
	minwise *minwise // of a minwise recipe, else nil
	take    func([]token.Token)
	hash    func(token []byte) uint64
	mum     token.Key
	hashes  []uint64         // of a batch of tokens of a simhash recipe, by mum
	sketch  *sketch.Sketcher // of the text at work; nil if it gets no sketch
	spare   *sketch.Sketcher
	drop    token.Drop
	text    []byte // of dropped
}

// New returns a Fingerprinter, or an error about the recipe or the files that it names, which are read when they
// are needed first. A file of other contents than the recipe's is an error that wraps [ErrMixed].
func New(r Recipe) (*Fingerprinter, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	var key [32]byte // Validate has read this, and what follows, without an error
	hex.Decode(key[:], []byte(r.Key))
	drop, _ := token.ParseDrop(r.Drop)
	mum := token.NewKey(key)
	f := &Fingerprinter{recipe: r, drop: drop, hash: mum.Sum, mum: mum}
	if r.Sketch != SketchMinwise {
		f.hash = func(t []byte) uint64 { return token.HashOf(t, &key) }
	}
	words, err := r.vocabulary(f.hash)
	if err != nil {
		return nil, err
	}
	f.scanner, err = token.NewScanner(token.Options{Chars: r.Tokeniser == TokeniserChars, FoldArabic: r.Fold == FoldArabic,
		Lexicon: words.lexicon, Stem: r.Stem})
	if err != nil {
		return nil, err
	}
	if r.Sketch == SketchMinwise {
		f.minwise = newMinwise(&r, mum, words.idf)
		f.take = func(tokens []token.Token) { f.minwise.push(f.scanner, tokens, f.sketch) }
	} else {
		f.ballot = newBallot(&r, token.NewHasher(f.scanner, key), words.idf)
		f.take = func(tokens []token.Token) {
			f.ballot.push(tokens)
			f.sketchTokens(tokens)
		}
	}
	return f, nil
}

// Recipe returns the recipe that the Fingerprinter was made with.
func (f *Fingerprinter) Recipe() Recipe { return f.recipe }

// Until makes the work on a text end early when a context is done: what it returns means nothing then.
func (f *Fingerprinter) Until(ctx context.Context) { f.scanner.Until(ctx) }

// Fingerprint returns the fingerprint of a text and how much it was made of: the number of distinct
// features (simhash) or of bins, of 64, that have a feature (minwise). ok is false where that is
// less than the recipe's MinFeatures or MinBins: then the fingerprint is 0 and means nothing, since
// a handful of features would put unrelated texts at one place. Bytes that are not UTF-8 separate
// words.
func (f *Fingerprinter) Fingerprint(text string) (fp Fingerprint, features int, ok bool) {
	if f.minwise != nil {
		f.minwise.begin()
		f.scanner.Scan(f.dropped(text), f.take)
		return f.minwise.sign()
	}
	f.ballot.begin()
	f.scanner.Scan(f.dropped(text), f.take)
	return f.ballot.sign()
}

// Sketch returns what [Fingerprinter.Fingerprint] does, and the sketch of the text, whose shingles are of the same tokens,
// in one pass over the text.
func (f *Fingerprinter) Sketch(text string) (fp Fingerprint, features int, ok bool, s sketch.Sketch) {
	if f.spare == nil {
		f.spare = sketch.New(f.mum)
	}
	f.sketch = f.spare
	f.sketch.Begin()
	fp, features, ok = f.Fingerprint(text)
	f.sketch = nil
	return fp, features, ok, f.spare.Sketch()
}

// sketchTokens gives tokens to the sketcher, if there is one, with hashes of their own.
func (f *Fingerprinter) sketchTokens(tokens []token.Token) {
	if f.sketch == nil {
		return
	}
	f.hashes = f.hashes[:0]
	for i := range tokens {
		f.hashes = append(f.hashes, f.mum.Hash(f.scanner, &tokens[i]))
	}
	f.sketch.Take(f.scanner, tokens, f.hashes)
}

// dropped returns the text without the parts that the recipe drops.
func (f *Fingerprinter) dropped(text string) string {
	if f.drop == 0 {
		return text
	}
	f.text = f.drop.Append(f.text[:0], text)
	return string(f.text) // tokens may be kept
}

// A Feature is a distinct feature of a text.
type Feature struct {
	Hash   uint64
	Weight uint32
}

// AppendFeatures appends the distinct features of a text to dst, in no order, with the weights that
// the sketch gives them. The expected distance of two texts' fingerprints is 64 arccos(c)/pi for
// simhash recipes, where c is the cosine of the two vectors of weights, and 32 (1 - J) for minwise
// recipes, where J is the weight of the features that are shared by the weight of all. It costs
// several times what Fingerprint does.
func (f *Fingerprinter) AppendFeatures(dst []Feature, text string) []Feature {
	if f.minwise == nil {
		f.ballot.begin()
		f.scanner.Scan(f.dropped(text), f.take)
		return f.ballot.appendFeatures(dst)
	}
	f.minwise.begin()
	f.minwise.collect = map[uint64]uint32{}
	f.minwise.special = true
	f.scanner.Scan(f.dropped(text), f.take)
	for hash, weight := range f.minwise.collect {
		dst = append(dst, Feature{hash, weight})
	}
	f.minwise.collect, f.minwise.special = nil, f.minwise.idf != nil
	return dst
}

// An Overlap measures the features that two texts share, as [Fingerprinter.AppendFeatures] returns
// them.
type Overlap struct {
	Both    int     `json:"shared"` // features
	OnlyA   int     `json:"only_a"`
	OnlyB   int     `json:"only_b"`
	Jaccard float64 `json:"weighted_jaccard"` // weight of what both have by the weight of all; 1 where neither has any
	Cosine  float64 `json:"cosine"`           // of the vectors of weights; 1 where neither has any
}

// OverlapOf compares two lists of features, which it sorts.
func OverlapOf(a, b []Feature) (o Overlap) {
	order := func(x, y Feature) int { return cmp.Compare(x.Hash, y.Hash) }
	slices.SortFunc(a, order)
	slices.SortFunc(b, order)
	var dot, squareA, squareB, shared, all float64
	for i, j := 0, 0; i < len(a) || j < len(b); {
		var u, v float64
		switch {
		case j == len(b) || i < len(a) && a[i].Hash < b[j].Hash:
			u = float64(a[i].Weight)
			i++
			o.OnlyA++
		case i == len(a) || b[j].Hash < a[i].Hash:
			v = float64(b[j].Weight)
			j++
			o.OnlyB++
		default:
			u, v = float64(a[i].Weight), float64(b[j].Weight)
			i++
			j++
			o.Both++
		}
		dot += u * v
		squareA += u * u
		squareB += v * v
		shared += min(u, v)
		all += max(u, v)
	}
	o.Jaccard, o.Cosine = 1, 1
	if all > 0 {
		o.Jaccard, o.Cosine = shared/all, 0
	}
	if squareA > 0 && squareB > 0 {
		o.Cosine = min(dot/math.Sqrt(squareA*squareB), 1)
	}
	return o
}

// FlipRate returns the chance that a bit of the fingerprints of two texts differs, by what their
// features have in common: (1 - J)/2 for minwise recipes and arccos(c)/pi for simhash.
func (r *Recipe) FlipRate(o Overlap) float64 {
	if r.Sketch == SketchMinwise {
		return (1 - o.Jaccard) / 2
	}
	return math.Acos(o.Cosine) / math.Pi
}
