package simhash

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"ndd/engine/corpus/token"
)

// RecipeVersion is the version of the rules in this package that turn text into features. It grows
// whenever the same text under the same settings would get another fingerprint.
const RecipeVersion = 1

// Names that a [Recipe] may hold.
const (
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

	// HashHighway is HighwayHash-64 for tokens, folded as [Recipe] describes for shingles.
	HashHighway = "highwayhash-64"

	// PublishedKey is the key of HighwayHash's published test vectors, bytes 00 to 1f. It is no secret:
	// fingerprints made anywhere must be comparable.
	PublishedKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
)

// maxShingle bounds the window of tokens that a Fingerprinter keeps.
const maxShingle = 16

// Recipe is everything that decides which fingerprint a text gets. It is written into every file of
// fingerprints; fingerprints of different recipes are not comparable. Two recipes are equal when == says so.
type Recipe struct {
	Version       int    `json:"version"`       // RecipeVersion
	Tokeniser     string `json:"tokeniser"`     // "mixed" or "chars"
	WordShingle   int    `json:"word_shingle"`  // words in a shingle, 1 to 16
	CharShingle   int    `json:"char_shingle"`  // characters in a shingle of a script without spaces, 1 to 16
	WordWeights   string `json:"word_weights"`  // of word shingles: "tf", "sqrt-tf", "log-tf" or "binary"
	CharWeights   string `json:"char_weights"`  // of character shingles, likewise
	StopWords     string `json:"stop_words"`    // language whose stop words are left out, such as "en"; "" for none
	Normalisation string `json:"normalisation"` // "nfkc-fold"
	Hash          string `json:"hash"`          // "highwayhash-64"
	Key           string `json:"key"`           // key of the hash: 64 lower-case hexadecimal digits
	MinFeatures   int    `json:"min_features"`  // fewer distinct features than this give no fingerprint; at least 1
}

// Default is the recipe to use unless a measurement on one's own documents says otherwise. It was chosen on
// 26,000 English and Chinese documents (manuals and books in many versions, news, licences) with 19,500 labelled
// pairs. Found within 3 bits, of the labelled pairs with Jaccard (on word 3-grams, character 5-grams) of 0.8 and
// more, of those between 0.5 and 0.8, and of pairs labelled different:
//
//	words                     English, no licences    different   pairs of Reuters stories found,
//	                          >= 0.8     0.5-0.8      of 6,620    and of these below 0.5
//	1, sqrt-tf  (default)     80.5 %     27.2 %          0        341     0
//	1, tf                     91.8 %     48.4 %         32        473    82: stop words decide
//	1, tf, no stop words      82.5 %     30.9 %          3        372    23
//	1, log-tf                 77.5 %     15.6 %          0        361     3
//	1, binary                 67.8 %      4.1 %          0
//	2, tf                     65.5 %      4.4 %          0        314     0
//	3, tf                     52.3 %      2.2 %          0        294     0
//
//	characters                Chinese                 different   pairs of news items found,
//	                          >= 0.8     0.5-0.8      of 4,479    and of these below 0.5
//	2, tf       (default)     96.1 %     34.2 %          0        2,246 214: daily bulletins, other numbers
//	2, sqrt-tf                91.9 %      5.0 %          2        2,072  48
//	1, sqrt-tf                94.9 %     31.2 %          3        2,030  22
//	3, tf (with 2 words, tf)  92.2 %      9.1 %          0        2,050  27
//
// Longer shingles lose recall because one changed word changes n features. Single words want their counts damped,
// or the commonest words carry the fingerprint; the square root does that without a list of stop words for each
// language. Pairs of characters are rarely that common. 8 features are about one sentence: in fewer, one changed
// word is more than 3 bits.
func Default() Recipe {
	return Recipe{
		Version:       RecipeVersion,
		Tokeniser:     TokeniserMixed,
		WordShingle:   1,
		CharShingle:   2,
		WordWeights:   WeightsSqrtTF,
		CharWeights:   WeightsTF,
		StopWords:     "",
		Normalisation: NormalisationNFKC,
		Hash:          HashHighway,
		Key:           PublishedKey,
		MinFeatures:   8,
	}
}

// ParseRecipe reads a recipe from JSON and validates it. Fields that are absent keep their values of
// [Default], except that a version must be there if anything is; unknown fields are refused, since a
// misspelt one would silently change every fingerprint.
func ParseRecipe(data []byte) (Recipe, error) {
	r := Default()
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

// String gives the recipe as one line of JSON, which [ParseRecipe] reads.
func (r Recipe) String() string {
	b, err := json.Marshal(r)
	if err != nil {
		panic("simhash: a struct of strings and ints has no JSON: " + err.Error())
	}
	return string(b)
}

// Validate reports the first field whose value this version of the package cannot honour.
func (r Recipe) Validate() error {
	oneOf := func(field, value string, names ...string) error {
		if slices.Contains(names, value) {
			return nil
		}
		return fmt.Errorf("recipe: %s is %.64q, must be one of %s", field, value, strings.Join(names, ", "))
	}
	between := func(field string, value, lo, hi int) error {
		if value >= lo && value <= hi {
			return nil
		}
		return fmt.Errorf("recipe: %s is %d, must be %d to %d", field, value, lo, hi)
	}
	if r.Version != RecipeVersion {
		return fmt.Errorf("recipe: version is %d, this program knows version %d", r.Version, RecipeVersion)
	}
	return cmpFirst(
		oneOf("tokeniser", r.Tokeniser, TokeniserMixed, TokeniserChars),
		between("word_shingle", r.WordShingle, 1, maxShingle),
		between("char_shingle", r.CharShingle, 1, maxShingle),
		oneOf("word_weights", r.WordWeights, WeightsTF, WeightsSqrtTF, WeightsLogTF, WeightsBinary),
		oneOf("char_weights", r.CharWeights, WeightsTF, WeightsSqrtTF, WeightsLogTF, WeightsBinary),
		validStopWords(r.StopWords),
		oneOf("normalisation", r.Normalisation, NormalisationNFKC),
		oneOf("hash", r.Hash, HashHighway),
		validKey(r.Key),
		between("min_features", r.MinFeatures, 1, 1<<20),
	)
}

// Check returns nil if fingerprints of r and of other may be compared, and otherwise an error that names
// every field in which the two recipes differ.
func (r Recipe) Check(other Recipe) error {
	if r == other {
		return nil
	}
	var differ []string
	field := func(name string, a, b any) {
		if a != b {
			differ = append(differ, fmt.Sprintf("%s is %v here and %v there", name, show(a), show(b)))
		}
	}
	field("version", r.Version, other.Version)
	field("tokeniser", r.Tokeniser, other.Tokeniser)
	field("word_shingle", r.WordShingle, other.WordShingle)
	field("char_shingle", r.CharShingle, other.CharShingle)
	field("word_weights", r.WordWeights, other.WordWeights)
	field("char_weights", r.CharWeights, other.CharWeights)
	field("stop_words", r.StopWords, other.StopWords)
	field("normalisation", r.Normalisation, other.Normalisation)
	field("hash", r.Hash, other.Hash)
	field("key", r.Key, other.Key)
	field("min_features", r.MinFeatures, other.MinFeatures)
	return fmt.Errorf("%w: %s", ErrMixed, strings.Join(differ, "; "))
}

// ErrMixed is what [Recipe.Check] wraps: fingerprints of two recipes were about to be mixed.
var ErrMixed = errors.New("fingerprints of different recipes cannot be mixed")

// validStopWords refuses a language that has no list.
func validStopWords(language string) error {
	if err := token.CheckStopWords(language); err != nil {
		return fmt.Errorf("recipe: %w", err)
	}
	return nil
}

// validKey wants exactly the 32 bytes of a HighwayHash key, in lower case so that equal keys are equal strings.
func validKey(key string) error {
	if len(key) != 64 || strings.ToLower(key) != key {
		return fmt.Errorf("recipe: key is %.80q, must be 64 lower-case hexadecimal digits", key)
	}
	if _, err := hex.DecodeString(key); err != nil {
		return fmt.Errorf("recipe: key: %w", err)
	}
	return nil
}

// cmpFirst is the first error that is one.
func cmpFirst(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// show quotes strings and leaves numbers.
func show(v any) any {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("%.80q", s)
	}
	return v
}
