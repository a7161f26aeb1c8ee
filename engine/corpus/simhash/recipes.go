package simhash

import (
	"fmt"
	"strings"
)

// Names of recipes, in display order.
const (
	NameMinwise      = "minwise"
	NameMinwisePairs = "minwise-pairs"
	NameOrdered      = "ordered"
	NameSimhash      = "simhash"
)

// recipesByName are the recipes that have names.
var recipesByName = map[string]Recipe{NameMinwise: Minwise(), NameMinwisePairs: MinwisePairs(), NameOrdered: Ordered(),
	NameSimhash: Simhash()}

// Names returns the names for [RecipeByName]. The default recipe is the first one.
func Names() []string { return []string{NameMinwise, NameMinwisePairs, NameOrdered, NameSimhash} }

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

// Ordered returns the minwise recipe of version 3, which depends on the order of words and on numbers. Its weights
// were chosen on half of the groups of the documents that the package comment describes, and on half of the
// artificial texts of package eval. The Jaccard of the features of a pair determines how often a weighting finds it.
// The table shows the mean over all keys. All figures are for k = 3. The first figure is for the half that was used
// to choose, the second one for the other half, in percent:
//
//	English, Chinese  real pairs with a Jaccard of at least 0.8 that are found
//	spaced, CJK       artificial pairs with edited words that are found: languages with spaces; Chinese, Japanese
//	order, numbers    wrong reports: the same words in another order; reports that differ only in numbers
//	wrong             pairs with a Jaccard below 0.5 that are reported, as a number: English, Chinese, Go's sources
//
//	words, numbers, characters;
//	pairs: words, number, char.  English    Chinese    spaced     CJK        order    numbers  wrong: English, Chinese, Go
//	16 16 2; 0 0 8  (version 2)  93.6 93.4  98.8 98.6  96.9 98.8  92.4 88.1  100 100  0.8 0.5   13 11   0.6 0.9  40 47
//	16 16 2; 4 4 8               92.0 91.5  98.6 98.5  92.6 96.6  92.4 88.1  0.1 0.1  0.3 0.2  2.0 1.8  0.5 0.8   5  5
//	16 12 4; 2 4 3               92.4 92.1  98.4 98.4  94.6 97.8  95.0 91.9  3.1 3.1  0.5 0.3  3.4 3.2  1.2 1.6   7  9
//	16 12 4; 3 3 3               92.4 91.9  98.5 98.5  93.7 97.2  95.1 92.0  0.4 0.4  1.0 0.7  2.9 2.6  1.9 2.8   7  8
//	16 12 4; 3 4 3  (chosen)     92.2 91.8  98.4 98.4  93.6 97.2  95.0 91.9  0.4 0.4  0.6 0.4  2.6 2.4  1.2 1.6   6  7
//	16 12 4; 4 4 3               92.1 91.6  98.3 98.4  92.7 96.6  95.0 91.9  0.1 0.1  0.8 0.5  2.1 1.9  1.2 1.6   5  5
//	16  8 4; 3 4 3               92.4 91.9  98.7 98.6  93.7 97.1  95.0 91.9  0.4 0.4  1.7 1.1  2.8 2.6  2.9 4.3   6  7
//	16 16 4; 3 4 3               92.1 91.7  98.0 98.1  93.5 97.2  95.0 91.9  0.4 0.4  0.2 0.1  2.4 2.3  0.8 0.8   6  6
//	16 12 8; 3 4 3               92.2 91.8  98.9 98.8  93.6 97.2  96.3 94.0  0.4 0.4  0.6 0.4  2.6 2.4  9.2  14   6  7
//	16 12 4; 3 4 6               92.2 91.8  98.8 98.7  93.6 97.2  93.7 90.2  0.4 0.4  0.6 0.4  2.6 2.4  5.9 9.1   6  7
//
// Pairs of words represent order. They reduce recall, because each changed word changes two pairs. With 3/16 of the
// weight of a word, pairs with the same words in another order are no longer found. With 1/8, 3 % of these are still
// found. With 1/4, another percent of the edited texts is missed. Numbers weigh less than words, because versions
// differ in dates. They weigh more than characters, because bulletins differ only in numbers. Alphabets without
// spaces have few letters, and all occur in every text, so the pairs of letters weigh more than the letters.
func Ordered() Recipe {
	r := Minwise()
	r.Version, r.Key = 3, KeyOfE
	r.WordWeight, r.NumberWeight, r.CharWeight, r.LetterWeight = 16, 12, 4, 2
	r.WordPairWeight, r.NumberPairWeight, r.CharPairWeight, r.LetterPairWeight = 3, 4, 3, 8
	return r
}

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
