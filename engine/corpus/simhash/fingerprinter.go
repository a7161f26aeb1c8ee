package simhash

import (
	"context"
	"encoding/hex"

	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/corpus/token"
)

// Fingerprinter makes fingerprints by one recipe. It reuses its memory from text to text: 12 KiB for minwise recipes,
// about 0.4 MiB for simhash, and more while a text needs it. It belongs to one goroutine.
type Fingerprinter struct {
	recipe  Recipe
	scanner *token.Scanner
	ballot  *ballot  // sketch of a simhash recipe, else nil
	minwise *minwise // sketch of a minwise recipe, else nil
	take    func([]token.Token)
	hash    func(token []byte) uint64
	mum     token.Key
	hashes  []uint64         // hashes by mum of a batch of tokens, for simhash recipes
	sketch  *sketch.Sketcher // sketcher of the current text; nil if the text gets no sketch
	spare   *sketch.Sketcher
}

// New returns a Fingerprinter. It returns an error if the recipe is invalid or a file that it names cannot be used.
// The files are read when they are first needed. If a file has other contents than the recipe requires, the error
// wraps [ErrMixed].
func New(r Recipe) (*Fingerprinter, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	var key [32]byte // Validate has checked the key and the other values
	hex.Decode(key[:], []byte(r.Key))
	mum := token.NewKey(key)
	f := &Fingerprinter{recipe: r, hash: mum.Sum, mum: mum}
	if r.Sketch != SketchMinwise {
		f.hash = func(t []byte) uint64 { return token.HashOf(t, &key) }
	}
	words, err := r.vocabulary(f.hash)
	if err != nil {
		return nil, err
	}
	f.scanner, err = token.NewScanner(token.Options{Lexicon: words.lexicon, Stem: r.Stem})
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

// Until makes the work on a text stop early when a context is done. Then the results must not be used.
func (f *Fingerprinter) Until(ctx context.Context) { f.scanner.Until(ctx) }

// Fingerprint returns the fingerprint of a text. features is the number of distinct features (simhash), or the number
// of the 64 bins that have a feature (minwise). If it is less than the recipe's MinFeatures or MinBins, ok is false
// and the fingerprint is 0, because unrelated texts with few features could have equal fingerprints. Bytes that are
// not UTF-8 separate words.
func (f *Fingerprinter) Fingerprint(text string) (fp Fingerprint, features int, ok bool) {
	if f.minwise != nil {
		f.minwise.begin()
		f.scanner.Scan(text, f.take)
		return f.minwise.sign()
	}
	f.ballot.begin()
	f.scanner.Scan(text, f.take)
	return f.ballot.sign()
}

// Sketch returns the results of [Fingerprinter.Fingerprint] and the sketch of the text. It reads the text once, and
// the shingles of the sketch are made from the same tokens.
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

// sketchTokens gives tokens and their hashes by mum to the sketcher, if there is one.
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

// AppendFeatures appends the distinct features of a text to dst, in any order, with their weights in the sketch. For
// simhash recipes the expected distance of the fingerprints of two texts is 64 arccos(c)/pi, where c is the cosine of
// the two vectors of weights. For minwise recipes it is 32 (1 - J), where J is the weight of the shared features
// divided by the weight of all features. AppendFeatures takes several times as long as Fingerprint.
func (f *Fingerprinter) AppendFeatures(dst []Feature, text string) []Feature {
	if f.minwise == nil {
		f.ballot.begin()
		f.scanner.Scan(text, f.take)
		return f.ballot.appendFeatures(dst)
	}
	f.minwise.begin()
	f.minwise.collect = map[uint64]uint32{}
	f.minwise.special = true
	f.scanner.Scan(text, f.take)
	for hash, weight := range f.minwise.collect {
		dst = append(dst, Feature{hash, weight})
	}
	f.minwise.collect, f.minwise.special = nil, f.minwise.idf != nil
	return dst
}
