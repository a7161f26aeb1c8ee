package simhash

import (
	"encoding/hex"
	"fmt"

	"ndd/engine/corpus/token"
)

// Fingerprinter makes fingerprints by one recipe. It reuses its memory from text to text, about 0.4 MiB,
// and more while a text needs it. One goroutine at a time.
type Fingerprinter struct {
	recipe   Recipe
	scanner  *token.Scanner
	hasher   *token.Hasher
	shingles shingler
	counts   [2]counter // of words, of characters
	text     uint32     // number of the text at work; 0 is none
	take     func([]token.Token)
}

// New makes a Fingerprinter, or says what is wrong with the recipe.
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
	f := &Fingerprinter{recipe: r, scanner: scanner, hasher: token.NewHasher(scanner, key)}
	f.shingles = shingler{size: [2]int{token.Word: r.WordShingle, token.Char: r.CharShingle}, counts: &f.counts}
	f.take = f.push
	return f, nil
}

// Recipe is what the Fingerprinter was made with.
func (f *Fingerprinter) Recipe() Recipe { return f.recipe }

// Fingerprint gives the fingerprint of a text and how many distinct features it has. ok is false where
// these are fewer than the recipe's minimum: then the fingerprint is 0 and means nothing, since a handful
// of features would put unrelated texts at one place. Bytes that are not UTF-8 separate words.
func (f *Fingerprinter) Fingerprint(text string) (fp Fingerprint, features int, ok bool) {
	f.count(text)
	words, chars := &f.counts[token.Word], &f.counts[token.Char]
	features = len(words.hashes) + len(chars.hashes)
	if features < f.recipe.MinFeatures {
		return 0, features, false
	}
	weigh(words.times, f.recipe.WordWeights)
	weigh(chars.times, f.recipe.CharWeights)
	return elect(words, chars), features, true
}

// count counts the features of a text.
func (f *Fingerprinter) count(text string) {
	for k := range f.counts {
		f.counts[k].reset()
	}
	f.shingles.filled = 0
	if f.text++; f.text == 0 {
		f.hasher.ClearTags()
		f.text = 1
	}
	f.scanner.Scan(text, f.take)
	f.shingles.endRun()
}

// push counts the features of some tokens. Where single words are the features, the tag of a word's slot says which
// feature of which text it is, and a word that comes again in a text is counted without another look-up.
func (f *Fingerprinter) push(tokens []token.Token) {
	single := f.shingles.size[token.Word] == 1
	for i := range tokens {
		t := &tokens[i]
		if t.Stop {
			continue
		}
		slot, known := f.hasher.Probe(t)
		if !known {
			slot = f.hasher.Learn(t)
		}
		switch {
		case t.Kind != token.Word || !single:
			f.shingles.push(slot.Hash, t.Kind)
		case uint32(slot.Tag>>32) == f.text && f.shingles.kind == token.Word:
			f.counts[token.Word].again(uint32(slot.Tag))
		default:
			f.shingles.push(slot.Hash, token.Word)
			slot.Tag = uint64(f.text)<<32 | uint64(f.counts[token.Word].last)
		}
	}
}

// AppendFeatures appends the hashes of the distinct features of a text, in no order.
func (f *Fingerprinter) AppendFeatures(dst []uint64, text string) []uint64 {
	f.count(text)
	dst = append(dst, f.counts[token.Word].hashes...)
	return append(dst, f.counts[token.Char].hashes...)
}
