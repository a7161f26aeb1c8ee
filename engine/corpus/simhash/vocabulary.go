package simhash

import (
	"fmt"
	"strings"
	"sync"

	"example.org/ndd/engine/corpus/token"
)

// vocabulary holds the contents of the lists and files of a recipe. It is read-only.
type vocabulary struct {
	lexicon *token.Lexicon // nil if there are no special words
	idf     *idf           // nil if all features have the factor 1
}

// vocabularies are loaded once for all goroutines. The key is the Identity of the recipe, so that recipes that name
// the same file at different paths share a vocabulary.
var vocabularies = struct {
	sync.Mutex
	byRecipe map[Recipe]*vocabulary
}{byRecipe: map[Recipe]*vocabulary{}}

// vocabulary returns the vocabulary of a valid recipe.
func (r *Recipe) vocabulary(hash func(token []byte) uint64) (*vocabulary, error) {
	if r.StopWords == "" && r.StopList == (Resource{}) && r.Dictionary == (Resource{}) && r.IDF == (Resource{}) {
		return &vocabulary{}, nil
	}
	vocabularies.Lock()
	defer vocabularies.Unlock()
	if v := vocabularies.byRecipe[r.Identity()]; v != nil {
		return v, nil
	}
	l := token.NewLexicon()
	v := &vocabulary{lexicon: l}
	err := l.AddLanguage(r.StopWords)
	if err == nil && r.StopList != (Resource{}) {
		err = r.StopList.rows(stopListRows, l.AddStopWord)
	}
	if err == nil && r.Dictionary != (Resource{}) {
		err = r.Dictionary.rows(dictionaryRows, func(row string) error {
			word, _, _ := strings.Cut(strings.TrimSpace(strings.ReplaceAll(row, "\t", " ")), " ") // the other columns are counts
			return l.AddWord(word)
		})
	}
	if err == nil && r.IDF != (Resource{}) {
		v.idf, err = r.readIDF(l, hash)
	}
	if err != nil {
		return nil, fmt.Errorf("recipe: %w", err)
	}
	vocabularies.byRecipe[r.Identity()] = v
	return v, nil
}
