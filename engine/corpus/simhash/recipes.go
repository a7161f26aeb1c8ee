package simhash

import (
	"fmt"
	"strings"
)

// Names of recipes, in display order.
const (
	NameMinwise      = "minwise"
	NameMinwisePairs = "minwise-pairs"
	NameSimhash      = "simhash"
)

// recipesByName are the recipes that have names.
var recipesByName = map[string]Recipe{NameMinwise: Minwise(), NameMinwisePairs: MinwisePairs(), NameSimhash: Simhash()}

// Names returns the names for [RecipeByName]. The default recipe is the first one.
func Names() []string { return []string{NameMinwise, NameMinwisePairs, NameSimhash} }

// RecipeByName returns the recipe with one of the names of [Names], or an error that lists these names.
func RecipeByName(name string) (Recipe, error) {
	r, ok := recipesByName[name]
	if !ok {
		return r, fmt.Errorf("no recipe is called %.64q: there are %s", name, strings.Join(Names(), ", "))
	}
	return r, nil
}

// Name returns the name of r, or "" if it has none.
func (r Recipe) Name() string {
	r.Extract = "" // it selects text and does not change how that becomes a fingerprint
	for name, recipe := range recipesByName {
		if r == recipe {
			return name
		}
	}
	return ""
}

// Default returns the recipe to use unless a measurement on your own documents shows that another one is better. Use
// 'ndd eval' to measure. The table of results is in the package comment.
func Default() Recipe { return Minwise() }

// Minwise returns the recipe of the minwise sketch of words, characters of scripts without spaces, and pairs of
// neighbours with at least one such character. Its weights were chosen on half of the groups of the documents that
// the package comment describes, for Chinese, as the mean of 6 keys. They were confirmed on the other half. Precision
// is the share of reported pairs with a Jaccard of at least 0.5:
//
//	weights of words,        recall, k = 3, 4, 6      precision
//	characters, pairs
//	4, 2, 1                  .988  .994  .999         .996  .985  .908
//	4, 1, 1                  .986  .993  .999         .999  .996  .973
//	8, 1, 2                  .984  .991  .998        1.000  .998  .988
//	8, 1, 4      (chosen)    .985  .992  .999        1.000  .999  .985
//	8, 1, 8                  .987  .993  .998         .999  .997  .982
//	16, 1, 4                 .981  .990  .999        1.000  .999  .992
//	8, 1, 4      (confirmed) .989  .995  .999         .999  .998  .985
//
// Pairs and heavy words, including numbers, prevent false pairs of bulletins that differ only in numbers. With fewer
// than 7 filled bins, which is about one sentence, a text is too short for a useful fingerprint.
func Minwise() Recipe {
	return Recipe{
		Version:       2,
		Sketch:        SketchMinwise,
		Tokeniser:     TokeniserMixed,
		TokenWeights:  TokenWeights{WordWeight: 8, CharWeight: 1, CharPairWeight: 4},
		StopWords:     "",
		Normalisation: NormalisationNFKC,
		Hash:          HashMum,
		Key:           PublishedKey,
		MinBins:       7,
	}
}

// MinwisePairs returns Minwise with pairs of words of weight 2 in addition. At the same distance it requires texts to
// be more similar. So it finds slightly fewer pairs, and more rarely reports unrelated texts that share phrases and
// common words.
func MinwisePairs() Recipe {
	r := Minwise()
	r.WordPairWeight = 2
	return r
}

// Simhash returns the recipe of the sketch of the paper. Its features and weights were chosen on 26,000 English and
// Chinese documents (manuals and books in many versions, news, licences) with 19,500 labelled pairs. Jaccard is
// computed from word 3-grams or character 5-grams. Within 3 bits the recipe finds 80.5 % of the English pairs with a
// Jaccard of at least 0.8, 96.1 % of the Chinese ones, and none of 11,099 pairs labelled different. Pairs of words
// would find 65.5 % of the English pairs. Single words weighted by their counts would find 91.8 %, but also 32 pairs
// labelled different.
//
// Longer shingles reduce recall because one changed word changes n features. The counts of single words must be
// damped, because otherwise the most common words decide the fingerprint. The square root damps them without a list
// of stop words for each language. Pairs of characters are rarely that common. 8 features are about one sentence. In
// shorter texts, one changed word flips more than 3 bits.
func Simhash() Recipe {
	return Recipe{
		Version:       1,
		Tokeniser:     TokeniserMixed,
		Shingles:      Shingles{WordShingle: 1, CharShingle: 2, WordWeights: WeightsSqrtTF, CharWeights: WeightsTF},
		StopWords:     "",
		Normalisation: NormalisationNFKC,
		Hash:          HashHighway,
		Key:           PublishedKey,
		MinFeatures:   8,
	}
}
