// Package invented makes labelled near-duplicates from invented texts, so that everybody can repeat a measurement. The
// texts are English, Arabic and Chinese: short lists of frequent words and letters, put together by the laws of Zipf.
// The same seed gives the same texts on every machine.
package invented

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
)

// groups is the number of groups of ten documents in a [Set].
const groups = 100

// A Document is an invented text.
type Document struct {
	ID   string `json:"id"`
	Lang string `json:"lang"` // en, ar or zh
	Text string `json:"text"`
}

// A Pair is a labelled pair of documents.
type Pair struct {
	A, B  int    // positions in [Set.Documents]
	Label string // same, contains or different
	Kind  string // how the second document was made
}

// A Set has 1,000 documents and 3,000 labelled pairs.
type Set struct {
	Documents []Document
	Pairs     []Pair
}

// New invents a set. Of the ten documents of a group the first is an original; five are copies of it with edited words,
// sentences or paragraphs; one is an excerpt; two are look-alikes of each other; the last has the same topic.
func New(seed uint64) *Set {
	var vocabularies []*vocabulary
	for i := range languages {
		vocabularies = append(vocabularies, newVocabulary(&languages[i]))
	}
	s := new(Set)
	for g := range groups {
		v := vocabularies[g%len(vocabularies)]
		s.addGroup(g, newAuthor(v, vocabularies[0], rand.New(rand.NewPCG(seed, uint64(g)))))
	}
	// Documents of different groups of one language share no topic.
	for g := range groups {
		next := g + len(languages)
		if next >= groups {
			next = g % len(languages)
		}
		for i := range 10 {
			s.pair(10*g+i, 10*next+i, "different", "other topic")
		}
	}
	return s
}

// edits are the copies of a group's original.
var edits = []struct {
	unit    string
	jaccard float64
}{{byWord, 0.95}, {byWord, 0.8}, {bySentence, 0.9}, {bySentence, 0.75}, {byParagraph, 0.85}}

func (s *Set) addGroup(group int, a *author) {
	first := len(s.Documents)
	add := func(text string) {
		id := fmt.Sprintf("%s-%d-%d", a.name, group, len(s.Documents)-first)
		s.Documents = append(s.Documents, Document{id, a.name, text})
	}

	original := a.text(100 << a.random.IntN(4))
	add(a.write(original))
	for i, e := range edits {
		add(a.write(a.edit(original, e.unit, e.jaccard)))
		for earlier := range i + 1 {
			s.pair(first+earlier, first+i+1, "same", e.unit)
		}
	}

	excerpt := len(s.Documents)
	add(a.write(original[len(original)/3 : len(original)/3+(len(original)+2)/3]))
	s.pair(first, excerpt, "contains", "excerpt")

	alike := lookAlikes[group/len(languages)%len(lookAlikes)]
	one, other := alike.pair(a)
	add(one)
	add(other)
	s.pair(excerpt+1, excerpt+2, "different", alike.name)

	topical := len(s.Documents)
	add(a.write(a.text(200)))
	for _, unlike := range []int{first, excerpt + 1, excerpt + 2} {
		s.pair(topical, unlike, "different", "same topic")
	}
}

func (s *Set) pair(a, b int, label, kind string) { s.Pairs = append(s.Pairs, Pair{a, b, label, kind}) }

// WriteDocuments writes the documents as JSON lines.
func (s *Set) WriteDocuments(w io.Writer) error {
	encoder := json.NewEncoder(w)
	for i := range s.Documents {
		if err := encoder.Encode(&s.Documents[i]); err != nil {
			return err
		}
	}
	return nil
}

// WritePairs writes the pairs as a table that ndd eval --pairs reads.
func (s *Set) WritePairs(w io.Writer) error {
	var b strings.Builder
	b.WriteString("id_a\tid_b\tlabel\tlang\tkind\n")
	for _, p := range s.Pairs {
		a := &s.Documents[p.A]
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\t%s\n", a.ID, s.Documents[p.B].ID, p.Label, a.Lang, p.Kind)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
