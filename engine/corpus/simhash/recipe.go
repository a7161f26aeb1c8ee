package simhash

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
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

// bins is the number of bins of the minwise sketch, one for each bit of the fingerprint.
const bins = 64

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

// A namedResource is a resource with the name of the recipe's field.
type namedResource struct {
	name     string
	resource *Resource
}

func (r *Recipe) resources() []namedResource {
	return []namedResource{{"stop_list", &r.StopList}, {"dictionary", &r.Dictionary}, {"idf", &r.IDF}}
}

// Files returns the paths of the files that the recipe needs.
func (r Recipe) Files() (paths []string) {
	for _, named := range r.resources() {
		if named.resource.File != "" {
			paths = append(paths, named.resource.File)
		}
	}
	return paths
}

// Identity returns the recipe without the paths of files, which differ from machine to machine. Their
// digests remain.
func (r Recipe) Identity() Recipe {
	for _, named := range r.resources() {
		named.resource.File = ""
	}
	return r
}
