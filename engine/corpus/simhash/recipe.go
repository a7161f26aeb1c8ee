package simhash

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// RecipeVersion is the highest version of recipes that this package supports. Version 1 is simhash, and version 2 is
// minwise. The rules of a version never change: the same text with the same recipe always has the same fingerprint.
const RecipeVersion = 2

// Names that occur in a [Recipe].
const (
	// SketchMinwise is the minwise sketch of recipe version 2.
	SketchMinwise = "minwise"

	// TokeniserMixed makes words in scripts with spaces between words, and single characters in other scripts.
	TokeniserMixed = "mixed"

	// WeightsTF gives a feature that occurs t times the weight 8 t.
	WeightsTF = "tf"
	// WeightsSqrtTF gives such a feature the weight floor(8 sqrt t).
	WeightsSqrtTF = "sqrt-tf"
	// WeightsLogTF gives such a feature the weight 8 (1 + floor(log2 t)).
	WeightsLogTF = "log-tf"
	// WeightsBinary gives such a feature the weight 8.
	WeightsBinary = "binary"

	// NormalisationNFKC is compatibility composition with full case folding. Wide, narrow and circled forms become
	// equal to the plain ones.
	NormalisationNFKC = "nfkc-fold"

	// HashHighway is HighwayHash-64 for tokens. The hashes of shingles are folded from them as the package comment
	// says. It is the hash of simhash.
	HashHighway = "highwayhash-64"
	// HashMum is the hash of minwise. A token of up to 16 bytes takes two folded products of 128 bits.
	HashMum = "mum-64"

	// PublishedKey is the key of the published test vectors of HighwayHash, bytes 00 to 1f. It is not secret, so that
	// fingerprints from all places can be compared.
	PublishedKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
)

// bins is the number of bins of the minwise sketch, one for each bit of the fingerprint.
const bins = 64

// maxShingle is the maximum number of tokens that a Fingerprinter keeps for a shingle.
const maxShingle = 16

// Recipe is everything that decides which fingerprint a text gets. Every file of fingerprints contains it.
// Fingerprints of different recipes cannot be compared. Two recipes are equal if the results of [Recipe.Identity] are
// equal by ==.
//
// Fields that a sketch does not use are zero, and absent in JSON.
type Recipe struct {
	Version   int    `json:"version"`          // 1 for simhash, 2 for minwise
	Sketch    string `json:"sketch,omitempty"` // "minwise"; absent for simhash
	Tokeniser string `json:"tokeniser"`        // "mixed"

	Shingles     // simhash only
	TokenWeights // minwise only
	WordSettings // both sketches

	// Extract is the part of pages to use: "main" or "auto". Without it the recipe uses the whole text.
	Extract string `json:"extract,omitempty"`

	// language whose stop words are left out, such as "en"; "" for none
	StopWords     string `json:"stop_words"`
	Normalisation string `json:"normalisation"` // "nfkc-fold"
	Hash          string `json:"hash"`          // "highwayhash-64" for simhash, "mum-64" for minwise
	Key           string `json:"key"`           // key of the hash: 64 lower-case hexadecimal digits
	// simhash: minimum number of distinct features for a fingerprint, at least 1
	MinFeatures int `json:"min_features,omitempty"`
	// minwise: minimum number of the 64 bins that must have a feature, 1 to 64
	MinBins int `json:"min_bins,omitempty"`
	// the key was drawn for one index and is secret; fingerprints with other keys cannot be compared with it
	Private bool `json:"private,omitempty"`
}

// WordSettings define which words exist and how much each one counts. The recipes with names do not set them.
type WordSettings struct {
	Dictionary Resource `json:"dictionary,omitzero"` // words of scripts without spaces; the longest becomes a token
	StopList   Resource `json:"stop_list,omitzero"`  // words to leave out in addition to the stop words of a language
	Stem       string   `json:"stem,omitempty"`      // language of the stemmer, such as "en"; "" for none
	IDF        Resource `json:"idf,omitzero"`        // factors of the weights of features
}

// Shingles are the settings for the features of simhash.
type Shingles struct {
	WordShingle int    `json:"word_shingle,omitempty"` // words in a shingle, 1 to 16
	CharShingle int    `json:"char_shingle,omitempty"` // characters in a shingle of a script without spaces, 1 to 16
	WordWeights string `json:"word_weights,omitempty"` // weights of word shingles: "tf", "sqrt-tf", "log-tf" or "binary"
	CharWeights string `json:"char_weights,omitempty"` // weights of character shingles, with the same names
}

// TokenWeights are the weights of the features of minwise, 1 to 16.
type TokenWeights struct {
	WordWeight int `json:"word_weight,omitempty"` // weight of a word
	CharWeight int `json:"char_weight,omitempty"` // weight of a character of a script without spaces
	// weight of a pair of neighbours with at least one character; 0 or absent: no feature
	CharPairWeight int `json:"char_pair_weight,omitempty"`
	WordPairWeight int `json:"word_pair_weight,omitempty"` // weight of a pair of words; 0 or absent: no feature
}

// String returns the recipe as one line of JSON, which [ParseRecipe] reads.
func (r Recipe) String() string {
	b, err := json.Marshal(r)
	if err != nil {
		panic("simhash: a struct of strings and ints has no JSON: " + err.Error())
	}
	return string(b)
}

// WithPrivateKey returns the recipe with a random key that nobody knows. Someone who knows the key can choose words
// that give a text any fingerprint.
func (r Recipe) WithPrivateKey() Recipe {
	var key [32]byte
	rand.Read(key[:]) // never fails
	r.Key, r.Private = hex.EncodeToString(key[:]), true
	return r
}

// Shown returns the recipe, with its key hidden if the key is private.
func (r Recipe) Shown() Recipe {
	if r.Private {
		r.Key = "private"
	}
	return r
}

// WithKeyOf returns the recipe with the key of another recipe if that key is private.
func (r Recipe) WithKeyOf(other *Recipe) Recipe {
	if other.Private {
		r.Key, r.Private = other.Key, true
	}
	return r
}

// TooShort explains why a text with too few features has no fingerprint.
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

// A namedResource is a resource with the name of its field in the recipe.
type namedResource struct {
	name     string
	resource *Resource
}

func (r *Recipe) resources() []namedResource {
	return []namedResource{{"stop_list", &r.StopList}, {"dictionary", &r.Dictionary}, {"idf", &r.IDF}}
}

// Files returns the paths of the files that the recipe needs.
func (r Recipe) Files() (paths []string) {
	for _, entry := range r.resources() {
		if entry.resource.File != "" {
			paths = append(paths, entry.resource.File)
		}
	}
	return paths
}

// Identity returns the recipe without the paths of files, because paths differ between machines. The digests of the
// files remain.
func (r Recipe) Identity() Recipe {
	for _, entry := range r.resources() {
		entry.resource.File = ""
	}
	return r
}
