package simhash

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// RecipeVersion is the highest version of recipes that this package knows. Version 1 is simhash, version 2 is minwise.
// A version's rules, which turn text into fingerprints, never change: the same text under the same recipe has the same
// fingerprint for ever.
const RecipeVersion = 2

// Names that a [Recipe] may hold.
const (
	// SketchMinwise is the minwise sketch, of recipe version 2.
	SketchMinwise = "minwise"

	// TokeniserMixed takes words where scripts put spaces, single characters where they do not.
	TokeniserMixed = "mixed"
	// TokeniserChars takes every letter and digit as a token of its own, in every script.
	TokeniserChars = "chars"

	// WeightsTF weights a feature that occurs t times by 8 t.
	WeightsTF = "tf"
	// WeightsSqrtTF weights it by floor(8 sqrt t).
	WeightsSqrtTF = "sqrt-tf"
	// WeightsLogTF weights it by 8 (1 + floor(log2 t)).
	WeightsLogTF = "log-tf"
	// WeightsBinary weights it by 8.
	WeightsBinary = "binary"

	// NormalisationNFKC is compatibility composition with full case folding: wide, narrow and circled
	// forms are equal to the plain ones.
	NormalisationNFKC = "nfkc-fold"

	// HashHighway is HighwayHash-64 for tokens, folded as [Recipe] describes for shingles. It is simhash's.
	HashHighway = "highwayhash-64"
	// HashMum is the hash of minwise: two folded products of 128 bits for a token of up to 16 bytes.
	HashMum = "mum-64"

	// PublishedKey is the key of HighwayHash's published test vectors, bytes 00 to 1f. It is no secret:
	// fingerprints made anywhere must be comparable.
	PublishedKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
)

// maxShingle bounds the window of tokens that a Fingerprinter keeps.
const maxShingle = 16

// Recipe is everything that decides which fingerprint a text gets. It is written into every file of
// fingerprints; fingerprints of different recipes are not comparable. Two recipes are equal when == says so.
//
// Fields that a sketch does not use are zero, and absent in JSON.
type Recipe struct {
	Version   int    `json:"version"`          // 1 for simhash, 2 for minwise
	Sketch    string `json:"sketch,omitempty"` // "minwise"; absent for simhash
	Tokeniser string `json:"tokeniser"`        // "mixed" or "chars"

	// Of simhash.
	WordShingle int    `json:"word_shingle,omitempty"` // words in a shingle, 1 to 16
	CharShingle int    `json:"char_shingle,omitempty"` // characters in a shingle of a script without spaces, 1 to 16
	WordWeights string `json:"word_weights,omitempty"` // of word shingles: "tf", "sqrt-tf", "log-tf" or "binary"
	CharWeights string `json:"char_weights,omitempty"` // of character shingles, likewise

	// Of minwise: weights 1, 2, 4, 8 or 16.
	WordWeight     int `json:"word_weight,omitempty"`      // of a word
	CharWeight     int `json:"char_weight,omitempty"`      // of a character of a script without spaces
	CharPairWeight int `json:"char_pair_weight,omitempty"` // of neighbours of which one or both are characters; 0 or absent: no feature
	WordPairWeight int `json:"word_pair_weight,omitempty"` // of neighbouring words, likewise

	// Of the text before it is taken apart; a recipe without them takes all of it.
	Extract string `json:"extract,omitempty"` // of pages: "main" or "auto"; absent: all text
	Drop    string `json:"drop,omitempty"`    // list of "urls", "markup", "numbers" and "dates", in this order

	StopWords     string `json:"stop_words"`             // language whose stop words are left out, such as "en"; "" for none
	Normalisation string `json:"normalisation"`          // "nfkc-fold"
	Hash          string `json:"hash"`                   // "highwayhash-64" of simhash, "mum-64" of minwise
	Key           string `json:"key"`                    // key of the hash: 64 lower-case hexadecimal digits
	MinFeatures   int    `json:"min_features,omitempty"` // of simhash: fewer distinct features give no fingerprint; at least 1
	MinBins       int    `json:"min_bins,omitempty"`     // of minwise: fewer bins, of 64, with a feature give none; 1 to 64
	Prints        int    `json:"prints,omitempty"`       // of minwise: 2 for two fingerprints of each text; absent for one
}

// PrintsEach returns how many fingerprints a text gets: 1, or 2, of which texts are near when either is. A nil recipe, of raw
// fingerprints, makes 1.
func (r *Recipe) PrintsEach() int {
	if r == nil {
		return 1
	}
	return max(r.Prints, 1)
}

// ParseRecipe reads a recipe from JSON and validates it. Fields that are absent keep their values of [Simhash] in
// version 1 and of [Minwise] in version 2; a version must be there, and unknown fields are refused, since a
// misspelt one would silently change every fingerprint.
func ParseRecipe(data []byte) (Recipe, error) {
	var version struct{ Version int }
	if err := json.Unmarshal(data, &version); err == nil && version.Version == 2 {
		return parseRecipe(data, Minwise())
	}
	return parseRecipe(data, Simhash())
}

func parseRecipe(data []byte, r Recipe) (Recipe, error) {
	r.Version = 0
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return Recipe{}, fmt.Errorf("recipe: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Recipe{}, fmt.Errorf("recipe: data after the JSON object, at byte %d", d.InputOffset())
	}
	if err := r.Validate(); err != nil {
		return Recipe{}, err
	}
	return r, nil
}

// String returns the recipe as one line of JSON, which [ParseRecipe] reads.
func (r Recipe) String() string {
	b, err := json.Marshal(r)
	if err != nil {
		panic("simhash: a struct of strings and ints has no JSON: " + err.Error())
	}
	return string(b)
}

// TooShort says how much of a text there was that got no fingerprint, and how much is needed.
func (r Recipe) TooShort(features int) string {
	if r.Sketch == SketchMinwise {
		return fmt.Sprintf("its words fill %d of %d bins, and %d must be filled: have at least %d different words", features, bins, r.MinBins, r.MinBins+1)
	}
	noun := "features"
	if features == 1 {
		noun = "feature"
	}
	return fmt.Sprintf("%d distinct %s, %d needed", features, noun, r.MinFeatures)
}
