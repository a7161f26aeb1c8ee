package simhash

import (
	"encoding/hex"
	"fmt"

	"ndd/engine/corpus/token"
)

// Fingerprinter makes fingerprints by one recipe. It reuses its memory from text to text: 12 KiB for minwise recipes,
// about 0.4 MiB for simhash, and more while a text needs it. It belongs to one goroutine.
type Fingerprinter struct {
	recipe  Recipe
	scanner *token.Scanner
	ballot  *ballot  // of a simhash recipe, else nil
	minwise *minwise // of a minwise recipe, else nil
	take    func([]token.Token)
	drop    token.Drop
	text    []byte // of dropped
}

// New returns a Fingerprinter, or an error that says what is wrong with the recipe.
func New(r Recipe) (*Fingerprinter, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	var key [32]byte
	if _, err := hex.Decode(key[:], []byte(r.Key)); err != nil {
		return nil, fmt.Errorf("recipe: key: %w", err)
	}
	scanner, err := token.NewScanner(token.Options{Chars: r.Tokeniser == TokeniserChars, StopWords: r.StopWords})
	if err != nil {
		return nil, fmt.Errorf("recipe: %w", err)
	}
	drop, err := token.ParseDrop(r.Drop)
	if err != nil {
		return nil, fmt.Errorf("recipe: drop: %w", err)
	}
	f := &Fingerprinter{recipe: r, scanner: scanner, drop: drop}
	if r.Sketch == SketchMinwise {
		f.minwise = newMinwise(&r, &key)
		f.take = func(tokens []token.Token) { f.minwise.push(f.scanner, tokens) }
	} else {
		f.ballot = newBallot(&r, token.NewHasher(scanner, key))
		f.take = f.ballot.push
	}
	return f, nil
}

// Recipe returns the recipe that the Fingerprinter was made with.
func (f *Fingerprinter) Recipe() Recipe { return f.recipe }

// Fingerprint returns the fingerprint of a text and how much it was made of: the number of distinct features (simhash)
// or of bins, of 64, that have a feature (minwise). ok is false where that is less than the recipe's MinFeatures or
// MinBins: then the fingerprint is 0 and means nothing, since a handful of features would put unrelated texts at one
// place. Bytes that are not UTF-8 separate words.
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

// dropped returns the text without what the recipe drops.
func (f *Fingerprinter) dropped(text string) string {
	if f.drop == 0 {
		return text
	}
	f.text = f.drop.Append(f.text[:0], text)
	return string(f.text) // tokens may be kept
}

// Second returns the second fingerprint of the text that [Fingerprinter.Fingerprint] was called with last. It is 0 where the
// recipe makes one fingerprint of a text, and where the text had too few features.
func (f *Fingerprinter) Second() Fingerprint {
	if f.minwise == nil || f.minwise.second == nil || f.minwise.filled() < f.minwise.least {
		return 0
	}
	return signed(f.minwise.second)
}

// A Feature is a distinct feature of a text.
type Feature struct {
	Hash   uint64
	Weight uint32
}

// AppendFeatures appends the distinct features of a text to dst, in no order, with the weights that the sketch gives
// them. The expected distance of two texts' fingerprints is 64 arccos(c)/pi for simhash recipes, where c is the cosine
// of the two vectors of weights, and 32 (1 - J) for minwise recipes, where J is the weight of the features that are
// shared by the weight of all. It costs several times what Fingerprint does.
func (f *Fingerprinter) AppendFeatures(dst []Feature, text string) []Feature {
	if f.minwise == nil {
		f.ballot.begin()
		f.scanner.Scan(f.dropped(text), f.take)
		return f.ballot.appendFeatures(dst)
	}
	f.minwise.begin()
	f.minwise.collect = map[uint64]uint32{}
	f.scanner.Scan(f.dropped(text), f.take)
	for hash, weight := range f.minwise.collect {
		dst = append(dst, Feature{hash, weight})
	}
	f.minwise.collect = nil
	return dst
}
