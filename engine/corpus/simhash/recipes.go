package simhash

import (
	"fmt"
	"strings"
)

// Names of recipes, in the order in which they are listed.
const (
	NameMinwise      = "minwise"
	NameMinwisePairs = "minwise-pairs"
	NameSimhash      = "simhash"
)

// Names returns the names that [RecipeByName] knows, the default one first.
func Names() []string { return []string{NameMinwise, NameMinwisePairs, NameSimhash} }

// RecipeByName returns the recipe with a name of [Names], or an error that lists these.
func RecipeByName(name string) (Recipe, error) {
	switch name {
	case NameMinwise:
		return Minwise(), nil
	case NameMinwisePairs:
		return MinwisePairs(), nil
	case NameSimhash:
		return Simhash(), nil
	}
	return Recipe{}, fmt.Errorf("no recipe is called %.64q: there are %s", name, strings.Join(Names(), ", "))
}

// Name returns the name of r, "" if it has none.
func (r Recipe) Name() string {
	r.Extract, r.Drop = "", "" // of the text, not of how it becomes a fingerprint
	switch r {
	case Minwise():
		return NameMinwise
	case MinwisePairs():
		return NameMinwisePairs
	case Simhash():
		return NameSimhash
	}
	return ""
}

// Default returns the recipe to use unless a measurement on one's own documents says otherwise:
// 'ndd eval' is for that. The table of results is in the package comment.
func Default() Recipe { return Minwise() }

// Minwise returns the recipe of the minwise sketch of words, characters of scripts without spaces,
// and pairs of neighbours of which one or both are such characters. Its weights were chosen on half
// of the groups of the documents that the package comment describes, mean of 6 keys, Chinese, and
// confirmed on the other half. Precision is that of pairs with Jaccard of at least 0.5 among all
// reported ones:
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
// Pairs and heavy words, numbers among them, end the false pairs of bulletins that differ only in
// numbers. Fewer than 7 filled bins, about one sentence, say too little.
func Minwise() Recipe {
	return Recipe{
		Version:        2,
		Sketch:         SketchMinwise,
		Tokeniser:      TokeniserMixed,
		WordWeight:     8,
		CharWeight:     1,
		CharPairWeight: 4,
		StopWords:      "",
		Normalisation:  NormalisationNFKC,
		Hash:           HashMum,
		Key:            PublishedKey,
		MinBins:        7,
	}
}

// MinwisePairs returns Minwise with pairs of words too, of weight 2: at the same distance it
// demands more likeness, so that it finds a little less, and pairs unrelated texts of the same
// phrases and common words more rarely.
func MinwisePairs() Recipe {
	r := Minwise()
	r.WordPairWeight = 2
	return r
}

// Simhash returns the recipe of the sketch of the paper. Its features and weights were chosen on
// 26,000 English and Chinese documents (manuals and books in many versions, news, licences) with
// 19,500 labelled pairs. Within 3 bits it finds 80.5 % of the English pairs with Jaccard (on word
// 3-grams, character 5-grams) of 0.8 and more, 96.1 % of the Chinese ones, and none of 11,099 pairs
// labelled different; pairs of words find 65.5 % of the English ones, single words by their counts
// 91.8 % with 32 different ones.
//
// Longer shingles lose recall because one changed word changes n features. Single words want their
// counts damped, or the commonest words carry the fingerprint; the square root does that without a
// list of stop words for each language. Pairs of characters are rarely that common. 8 features are
// about one sentence: in fewer, one changed word is more than 3 bits.
func Simhash() Recipe {
	return Recipe{
		Version:       1,
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
