package simhash

import (
	"context"
	"encoding/hex"

	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/corpus/token"
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
