package simhash

import (
	"encoding/hex"
	"fmt"
	"unsafe"
)

// Fingerprinter makes fingerprints by one recipe. It reuses its memory from text to text, about 0.4 MiB,
// and more while a text needs it. One goroutine at a time.
type Fingerprinter struct {
	recipe   Recipe
	memo     *memo
	normal   *normaliser
	shingles shingler
	counts   [2]counter // of words, of characters
	text     uint32     // number of the text at work; 0 is none
	folded   []byte
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
	f := &Fingerprinter{recipe: r, memo: newMemo(key, stopSet(r.StopWords)), normal: newNormaliser()}
	f.shingles = shingler{size: [2]int{kindWord: r.WordShingle, kindChar: r.CharShingle}, counts: &f.counts}
	return f, nil
}

// Recipe is what the Fingerprinter was made with.
func (f *Fingerprinter) Recipe() Recipe { return f.recipe }

// Fingerprint gives the fingerprint of a text and how many distinct features it has. ok is false where
// these are fewer than the recipe's minimum: then the fingerprint is 0 and means nothing, since a handful
// of features would put unrelated texts at one place. Bytes that are not UTF-8 separate words.
func (f *Fingerprinter) Fingerprint(text string) (fp Fingerprint, features int, ok bool) {
	f.count(text)
	words, chars := &f.counts[kindWord], &f.counts[kindChar]
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
		f.memo.forgetTexts()
		f.text = 1
	}
	f.tokens(unsafe.Slice(unsafe.StringData(text), len(text)))
	f.shingles.endRun()
}

// tokens pushes all tokens of the text: ASCII in one pass, what touches anything else chunk by chunk.
// It reads text and never writes it.
func (f *Fingerprinter) tokens(text []byte) {
	for i := 0; i < len(text); {
		i = f.words(text, i)
		if i == len(text) {
			return
		}
		end := chunkEnd(text, i)
		f.segment(f.normal.chunk(text[i:end]))
		i = end
	}
}

// AppendFeatures appends the hashes of the distinct features of a text, in no order.
func (f *Fingerprinter) AppendFeatures(dst []uint64, text string) []uint64 {
	f.count(text)
	dst = append(dst, f.counts[kindWord].hashes...)
	return append(dst, f.counts[kindChar].hashes...)
}
