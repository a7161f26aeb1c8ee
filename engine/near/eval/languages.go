package eval

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"text/tabwriter"

	"ndd/engine/corpus/token"
)

// languageKeys is how many keys of the hash [MeasureLanguages] takes the mean of.
const languageKeys = 8

// A LanguageResult is what a method reports of pairs of invented texts of a class and a language:
// of those with a Jaccard of at least 0.8, which ought to be found, and of those below 0.5, which
// ought not to be.
type LanguageResult struct {
	Method   string     `json:"method"`
	Language string     `json:"language"`
	Class    string     `json:"class"` // [AllEdits]: of all edited copies; [AllClasses]: of all
	Near     int        `json:"near"`  // pairs with a Jaccard of at least 0.8
	Found    []KeyShare `json:"found"` // of them
	Unlike   int        `json:"unlike"`
	False    []KeyShare `json:"false"` // of these
	Right    []KeyShare `json:"right"` // share of the pairs reported that has a Jaccard of at least 0.5
}

// Classes of a [LanguageResult] that are several in one.
const (
	AllEdits   = "all edits"
	AllClasses = "all classes"
)

// A KeyShare is a share of pairs that are within k, over several keys of the hash.
type KeyShare struct {
	K     int     `json:"k"`
	Mean  float64 `json:"mean"`
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
}

var languageK = []int{3, 4}

// keyOf returns key i of the hash: bytes 32 i to 32 i + 31 of SplitMix64 from state 0.
func keyOf(i int) string {
	var key [32]byte
	for j := range 4 {
		binary.LittleEndian.PutUint64(key[8*j:], token.Mix(uint64(4*i+j)))
	}
	return hex.EncodeToString(key[:])
}

// vocabularyOf returns the vocabulary of a language, or an error that names those there are.
func vocabularyOf(name string) (*vocabulary, error) {
	at := slices.Index(LanguageNames(), name)
	if at < 0 {
		return nil, fmt.Errorf("no language is called %.64q: there are %s", name, strings.Join(LanguageNames(), ", "))
	}
	return newVocabulary(&languages[at]), nil
}

// InventedPairs returns pairs of invented texts of a language, as a corpus with labels: pairs gives
// their number in each class. The same seed gives the same texts.
func InventedPairs(name string, pairs int, seed uint64) (*Corpus, []Label, error) {
	words, err := vocabularyOf(name)
	if err != nil {
		return nil, nil, err
	}
	c, english := NewCorpus(), newVocabulary(&languages[0])
	var labels []Label
	for i, class := range classes {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		for n := range pairs {
			one, other := class.pair(newAuthor(words, english, r))
			label := Label{A: fmt.Sprintf("%s %d a", class.name, n), B: fmt.Sprintf("%s %d b", class.name, n), Kind: class.name,
				Lang: name}
			if err := c.Add(label.A, one); err != nil {
				return nil, nil, err
			}
			if err := c.Add(label.B, other); err != nil {
				return nil, nil, err
			}
			label.Jaccard = c.Jaccard(2*(i*pairs+n), 2*(i*pairs+n)+1)
			labels = append(labels, label)
		}
	}
	return c, labels, nil
}

// MeasureLanguages returns the shares of invented texts that methods report, by language and class,
// as the mean over eight keys of the hash; pairs is the number of pairs in each class.
func MeasureLanguages(ctx context.Context, names []string, pairs int, methods []Method,
	o Options) (all []LanguageResult,
	err error) {
	for _, name := range names {
		corpus, labels, err := InventedPairs(name, pairs, 1)
		if err != nil {
			return nil, err
		}
		labelled, _ := corpus.Pairs(labels)
		for _, m := range methods {
			if o.Progress != nil {
				o.Progress(name + ": " + m.Name)
			}
			rows, err := corpus.overKeys(ctx, labelled, m, o.Threads)
			if err != nil {
				return nil, err
			}
			for i := range rows {
				rows[i].Method, rows[i].Language = m.Name, name
			}
			all = append(all, rows...)
		}
	}
	return all, nil
}

// overKeys measures a method with each key, by class.
func (c *Corpus) overKeys(ctx context.Context, pairs []Pair, m Method, threads int) ([]LanguageResult, error) {
	rows := []LanguageResult{{Class: AllClasses}, {Class: AllEdits}}
	for _, class := range classes {
		rows = append(rows, LanguageResult{Class: class.name})
	}
	for key := range languageKeys {
		recipe := m.Recipe
		recipe.Key = keyOf(key)
		p, err := c.fingerprint(ctx, recipe, threads)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			rows[i].add(key, pairs, p, m.Verify)
		}
	}
	return rows, nil
}

// add counts the pairs of a row's class by the fingerprints of one key.
func (r *LanguageResult) add(key int, pairs []Pair, p *prints, verify float64) {
	r.Near, r.Unlike = 0, 0
	found, wrong, reported := make([]int, len(languageK)), make([]int, len(languageK)), make([]int, len(languageK))
	for _, pair := range pairs {
		if r.Class != pair.Kind && r.Class != AllClasses && (r.Class != AllEdits || !strings.HasPrefix(pair.Kind, "edited")) {
			continue
		}
		count := func(of []int) {
			for i, k := range languageK {
				if distance(p, &pair, verify) <= k {
					of[i]++
				}
			}
		}
		count(reported)
		if pair.Jaccard >= 0.8 {
			r.Near++
			count(found)
		} else if pair.Jaccard < 0.5 {
			r.Unlike++
			count(wrong)
		}
	}
	for i := range languageK {
		addShare(&r.Found, key, i, found[i], r.Near)
		addShare(&r.False, key, i, wrong[i], r.Unlike)
		addShare(&r.Right, key, i, reported[i]-wrong[i], reported[i])
	}
}

// addShare adds the share of a key to those of the keys before it. Of nothing there is no share.
func addShare(to *[]KeyShare, key, i, part, of int) {
	if of == 0 {
		return
	}
	share := float64(part) / float64(of)
	if len(*to) <= i {
		*to = append(*to, KeyShare{languageK[i], share, share, share})
		return
	}
	s := &(*to)[i]
	s.Mean += (share - s.Mean) / float64(key+1)
	s.Least, s.Most = min(s.Least, share), max(s.Most, share)
}

// WriteLanguages writes results as a table for a terminal, in percent.
func WriteLanguages(w io.Writer, all []LanguageResult) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	method := ""
	for _, r := range all {
		if r.Method != method {
			method = r.Method
			fmt.Fprintf(t, "%s, mean (least to most) of %d keys, percent\n", method, languageKeys)
			fmt.Fprint(t, "language\tclass\tJ >= 0.8\tfound k=3\tk=4\tJ < 0.5\treported k=3\tk=4\tright k=3\tk=4\n")
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%d\t%s\t%s\n", r.Language, r.Class, r.Near, cells(r.Found), r.Unlike, cells(r.False),
			cells(r.Right))
	}
	return t.Flush()
}

// cells returns the cells of a share for each distance.
func cells(shares []KeyShare) string {
	if len(shares) == 0 {
		return strings.Repeat("\t", len(languageK)-1)
	}
	var list []string
	for _, s := range shares {
		list = append(list, fmt.Sprintf("%.1f (%.1f-%.1f)", 100*s.Mean, 100*s.Least, 100*s.Most))
	}
	return strings.Join(list, "\t")
}
