package simhash

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"ndd/engine/corpus/token"
)

// RecipeVersion is the highest version of recipes that this package knows. Version 1 is simhash,
// version 2 is minwise, version 3 is minwise with weights for numbers and alphabets without spaces.
// A version's rules, which turn text into fingerprints, never change: the
// same text under the same recipe has the same fingerprint for ever.
const RecipeVersion = 3

// Names that a [Recipe] may hold.
const (
	// SketchMinwise is the minwise sketch, of recipe versions 2 and 3.
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

	// FoldArabic brings forms of Arabic letters to one.
	FoldArabic = "arabic"

	// NormalisationNFKC is compatibility composition with full case folding: wide, narrow and
	// circled forms are equal to the plain ones.
	NormalisationNFKC = "nfkc-fold"

	// HashHighway is HighwayHash-64 for tokens, folded as [Recipe] describes for shingles. It is
	// simhash's.
	HashHighway = "highwayhash-64"
	// HashMum is the hash of minwise: two folded products of 128 bits for a token of up to 16
	// bytes.
	HashMum = "mum-64"

	// PublishedKey is the key of HighwayHash's published test vectors, bytes 00 to 1f. It is no
	// secret: fingerprints made anywhere must be comparable.
	PublishedKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	// KeyOfE is the key of recipe version 3: the first 256 bits of the fraction of e. No documents
	// chose it; those of pi are in the hash already.
	KeyOfE = "b7e151628aed2a6abf7158809cf4f3c762e7160f38b4da56a784d9045190cfef"
)

// maxShingle bounds the window of tokens that a Fingerprinter keeps.
const maxShingle = 16

// Recipe is everything that decides which fingerprint a text gets. It is written into every file of
// fingerprints; fingerprints of different recipes are not comparable. Two recipes are equal when ==
// says so of what [Recipe.Identity] returns.
//
// Fields that a sketch does not use are zero, and absent in JSON.
type Recipe struct {
	Version   int    `json:"version"`          // 1 for simhash, 2 and 3 for minwise
	Sketch    string `json:"sketch,omitempty"` // "minwise"; absent for simhash
	Tokeniser string `json:"tokeniser"`        // "mixed" or "chars"

	Shingles     // of simhash
	TokenWeights // of minwise
	WordSettings // of both

	// Of the text before it is taken apart; a recipe without them takes all of it.
	Extract string `json:"extract,omitempty"` // of pages: "main" or "auto"; absent: all text
	Drop    string `json:"drop,omitempty"`    // list of "urls", "markup", "numbers" and "dates", in this order

	// language whose stop words are left out, such as "en"; "" for none
	StopWords     string `json:"stop_words"`
	Normalisation string `json:"normalisation"` // "nfkc-fold"
	Hash          string `json:"hash"`          // "highwayhash-64" of simhash, "mum-64" of minwise
	Key           string `json:"key"`           // key of the hash: 64 lower-case hexadecimal digits
	// of simhash: fewer distinct features give no fingerprint; at least 1
	MinFeatures int `json:"min_features,omitempty"`
	// of minwise: fewer bins, of 64, with a feature give none; 1 to 64
	MinBins int `json:"min_bins,omitempty"`
	// the key was drawn for one index and is secret: fingerprints made with another key compare with none
	Private bool `json:"private,omitempty"`
}

// WordSettings say which words there are and how much each counts. None is of the
// recipes that have names.
type WordSettings struct {
	Fold       string   `json:"fold,omitempty"`      // "arabic": without vowel signs and tatweel, one form of alef and of ya
	Dictionary Resource `json:"dictionary,omitzero"` // words of scripts without spaces; the longest is one token
	StopList   Resource `json:"stop_list,omitzero"`  // words that are left out, beside those of a language
	Stem       string   `json:"stem,omitempty"`      // language of the stemmer, such as "en"; "" for none
	IDF        Resource `json:"idf,omitzero"`        // factors of the weights of features
}

// Shingles are the settings of simhash's features.
type Shingles struct {
	WordShingle int    `json:"word_shingle,omitempty"` // words in a shingle, 1 to 16
	CharShingle int    `json:"char_shingle,omitempty"` // characters in a shingle of a script without spaces, 1 to 16
	WordWeights string `json:"word_weights,omitempty"` // of word shingles: "tf", "sqrt-tf", "log-tf" or "binary"
	CharWeights string `json:"char_weights,omitempty"` // of character shingles, likewise
}

// TokenWeights are the weights of minwise's features: 1, 2, 4, 8 or 16, in version 3 any from 1 to 16.
type TokenWeights struct {
	WordWeight int `json:"word_weight,omitempty"` // of a word
	CharWeight int `json:"char_weight,omitempty"` // of a character of a script without spaces
	// of neighbours of which one or both are characters; 0 or absent: no feature
	CharPairWeight int `json:"char_pair_weight,omitempty"`
	WordPairWeight int `json:"word_pair_weight,omitempty"` // of neighbouring words, likewise

	// Of version 3. In version 2 numbers are words, and letters characters.
	NumberWeight     int `json:"number_weight,omitempty"`      // of a word that starts with a digit
	LetterWeight     int `json:"letter_weight,omitempty"`      // of a character of an alphabet without spaces
	NumberPairWeight int `json:"number_pair_weight,omitempty"` // of neighbours of which one or both are numbers, or 0
	LetterPairWeight int `json:"letter_pair_weight,omitempty"` // of neighbouring letters, or 0
}

// ParseRecipe reads a recipe from JSON and validates it. Fields that are absent keep their values
// of [Simhash] in version 1, of [Minwise] in version 2 and of [Ordered] in version 3; a version
// must be there, and unknown fields are refused, since a misspelt one would silently change every fingerprint.
func ParseRecipe(data []byte) (Recipe, error) {
	r, err := decode(data)
	if err == nil {
		err = r.Validate()
	}
	if err != nil {
		return Recipe{}, err
	}
	return r, nil
}

// ReadRecipe reads a recipe from a file. The files that it names are beside it unless their paths are
// absolute, and a digest that is absent is that of the file.
func ReadRecipe(path string) (Recipe, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Recipe{}, err
	}
	r, err := decode(data)
	for _, named := range r.resources() {
		if err == nil {
			err = named.resource.complete(filepath.Dir(path))
		}
	}
	if err = cmp.Or(err, r.Validate()); err != nil {
		return Recipe{}, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// decode reads a recipe that may be invalid.
func decode(data []byte) (Recipe, error) {
	var version struct{ Version int }
	json.Unmarshal(data, &version) // an error comes again
	r := map[int]Recipe{2: Minwise(), 3: Ordered()}[version.Version]
	if r.Version == 0 {
		r = Simhash()
	}
	r.Version = 0
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			e.Field = e.Field[strings.LastIndexByte(e.Field, '.')+1:] // without the name of an embedded struct
		}
		return Recipe{}, fmt.Errorf("recipe: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Recipe{}, fmt.Errorf("recipe: data after the JSON object, at byte %d", d.InputOffset())
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

// WithPrivateKey returns the recipe with a key that nobody knows. Whoever knows the key can choose
// words that give a text any fingerprint.
func (r Recipe) WithPrivateKey() Recipe {
	var key [32]byte
	rand.Read(key[:]) // never fails
	r.Key, r.Private = hex.EncodeToString(key[:]), true
	return r
}

// Shown returns the recipe without its key if that is private.
func (r Recipe) Shown() Recipe {
	if r.Private {
		r.Key = "private"
	}
	return r
}

// WithKeyOf returns the recipe with the key of another one if that is private.
func (r Recipe) WithKeyOf(other *Recipe) Recipe {
	if other.Private {
		r.Key, r.Private = other.Key, true
	}
	return r
}

// TooShort describes why a text with too few features got no fingerprint.
func (r Recipe) TooShort(features int) string {
	if r.Sketch == SketchMinwise {
		return fmt.Sprintf("its words fill %d of %d bins, and %d must be filled: have at least %d different words",
			features, bins, r.MinBins, r.MinBins+1)
	}
	noun := "features"
	if features == 1 {
		noun = "feature"
	}
	return fmt.Sprintf("%d distinct %s, %d needed", features, noun, r.MinFeatures)
}

// Validate returns an error that names the first field whose value this version of the package
// cannot honour, or nil.
func (r Recipe) Validate() (err error) {
	want := func(ok bool, format string, args ...any) {
		if err == nil && !ok {
			err = fmt.Errorf("recipe: "+format, args...)
		}
	}
	oneOf := func(field, value string, names ...string) {
		want(slices.Contains(names, value), "%s is %.64q, must be one of %s", field, value, strings.Join(names, ", "))
	}
	if r.Version < 1 || r.Version > RecipeVersion {
		return fmt.Errorf("recipe: version is %d, this program knows versions 1 to %d", r.Version, RecipeVersion)
	}
	if r.Version == 1 {
		want(r.Sketch == "", "sketch is %.64q, must be absent in version 1, which is simhash", r.Sketch)
		oneOf("word_weights", r.WordWeights, WeightsTF, WeightsSqrtTF, WeightsLogTF, WeightsBinary)
		oneOf("char_weights", r.CharWeights, WeightsTF, WeightsSqrtTF, WeightsLogTF, WeightsBinary)
		oneOf("hash", r.Hash, HashHighway)
	} else {
		oneOf("sketch", r.Sketch, SketchMinwise)
		want(r.WordWeights == "", "word_weights is a setting of simhash, and this is another sketch")
		want(r.CharWeights == "", "char_weights is a setting of simhash, and this is another sketch")
		oneOf("hash", r.Hash, HashMum)
	}
	for _, f := range []struct {
		version int // the first that has the field
		name    string
		value   int
		lo, hi  int
	}{
		{1, "word_shingle", r.WordShingle, 1, maxShingle},
		{1, "char_shingle", r.CharShingle, 1, maxShingle},
		{1, "min_features", r.MinFeatures, 1, 1 << 20},
		{2, "min_bins", r.MinBins, 1, bins},
		{2, "word_weight", r.WordWeight, 1, 16},
		{2, "char_weight", r.CharWeight, 1, 16},
		{2, "char_pair_weight", r.CharPairWeight, 0, 16},
		{2, "word_pair_weight", r.WordPairWeight, 0, 16},
		{3, "number_weight", r.NumberWeight, 1, 16},
		{3, "letter_weight", r.LetterWeight, 1, 16},
		{3, "number_pair_weight", r.NumberPairWeight, 0, 16},
		{3, "letter_pair_weight", r.LetterPairWeight, 0, 16},
	} {
		switch {
		case (f.version == 1) != (r.Version == 1):
			sketch := []string{NameSimhash, NameMinwise}[min(f.version, 2)-1]
			want(f.value == 0, "%s is a setting of %s, and this is another sketch", f.name, sketch)
		case r.Version < f.version:
			want(f.value == 0, "%s is a setting of version %d", f.name, f.version)
		default:
			want(f.value >= f.lo && f.value <= f.hi, "%s is %d, must be %d to %d", f.name, f.value, f.lo, f.hi)
			isWeight := strings.HasSuffix(f.name, "_weight")
			want(r.Version != 2 || !isWeight || f.value&(f.value-1) == 0, "%s is %d, must be a power of two in version 2",
				f.name, f.value)
		}
	}
	drop, dropErr := token.ParseDrop(r.Drop)
	want(dropErr == nil, "drop: %w", dropErr)
	want(drop.String() == r.Drop, "drop is %.64q, must be written %q", r.Drop, drop) // for equal recipes to be ==
	want(slices.Contains([]string{"", "main", "auto"}, r.Extract),
		"extract is %.64q, must be main or auto, or absent for all text", r.Extract)
	oneOf("tokeniser", r.Tokeniser, TokeniserMixed, TokeniserChars)
	stopErr, stemErr := token.CheckStopWords(r.StopWords), token.CheckStem(r.Stem)
	want(stopErr == nil, "%w", stopErr)
	want(stemErr == nil, "%w", stemErr)
	want(r.Fold == "" || r.Fold == FoldArabic, "fold is %.64q, must be %s, or absent", r.Fold, FoldArabic)
	for _, named := range r.resources() {
		resourceErr := named.resource.validate()
		want(resourceErr == nil, "%s: %w", named.name, resourceErr)
	}
	want(r.Tokeniser != TokeniserChars || r.WordSettings == (WordSettings{}), "fold, dictionary, stop_list, stem and idf are of words, "+
		"and tokeniser chars makes none")
	oneOf("normalisation", r.Normalisation, NormalisationNFKC)
	want(len(r.Key) == 64 && strings.ToLower(r.Key) == r.Key, "key is %.80q, must be 64 lower-case hexadecimal digits",
		r.Key)
	_, keyErr := hex.DecodeString(r.Key)
	want(keyErr == nil, "key: %w", keyErr)
	return err
}

// ErrMixed is wrapped by the errors of [Compatible].
var ErrMixed = errors.New("fingerprints do not belong together")

// Compatible returns nil if fingerprints of two recipes may be compared: if the recipes are equal,
// or both nil, which stands for raw fingerprints of unknown recipe. Otherwise the error wraps
// [ErrMixed] and names a, b and the difference: the recipes' names if both have one, else every
// field that differs.
func Compatible(a string, recipeA *Recipe, b string, recipeB *Recipe) error {
	switch {
	case recipeA == nil && recipeB == nil || recipeA != nil && recipeB != nil && recipeA.Identity() == recipeB.Identity():
		return nil
	case recipeA == nil:
		return fmt.Errorf("%w: %s has raw fingerprints without a recipe, %s has a recipe", ErrMixed, a, b)
	case recipeB == nil:
		return fmt.Errorf("%w: %s has raw fingerprints without a recipe, %s has a recipe", ErrMixed, b, a)
	}
	if x, y := recipeA.Name(), recipeB.Name(); x != "" && y != "" && x != y {
		return fmt.Errorf("%w: %s is of recipe %s, %s of recipe %s", ErrMixed, a, x, b, y)
	}
	return fmt.Errorf("%w: the recipes of %s and %s differ: %s", ErrMixed, a, b,
		cmp.Or(Difference(recipeA.Shown().Identity(), recipeB.Shown().Identity()), "their private keys"))
}

// Difference returns every field in which two recipes, of one kind, differ; "" if they are equal.
func Difference[R any](one, other R) string {
	var differ []string
	a, b := reflect.ValueOf(one), reflect.ValueOf(other)
	for _, f := range reflect.VisibleFields(a.Type()) {
		x, y := a.FieldByIndex(f.Index).Interface(), b.FieldByIndex(f.Index).Interface()
		if !f.Anonymous && !reflect.DeepEqual(x, y) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			differ = append(differ, fmt.Sprintf("%s is %v and %v", name, show(x), show(y)))
		}
	}
	return strings.Join(differ, "; ")
}

// show quotes strings and leaves numbers.
func show(v any) any {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("%.80q", s)
	}
	return v
}
