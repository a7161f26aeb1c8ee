package invented

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// An author writes invented texts of one language about one topic. The words of the topic are frequent.
type author struct {
	*vocabulary
	english *vocabulary // Chinese texts have some English words
	random  *rand.Rand
	topic   []string
	numbers float64 // share of words
	foreign float64
}

// A prose text has paragraphs of sentences of words.
type prose [][][]string

func newAuthor(v, english *vocabulary, r *rand.Rand) *author {
	a := &author{vocabulary: v, english: english, random: r, numbers: 0.015}
	if v.separator == "" {
		a.foreign = 0.06 * r.Float64()
	}
	for range 30 {
		a.topic = append(a.topic, zipf(r, v.stems, 200))
	}
	return a
}

func (a *author) word() string {
	switch u := a.random.Float64(); {
	case u < a.numbers:
		return a.number()
	case u < a.numbers+a.foreign:
		return zipf(a.random, a.english.stems, 20)
	case u < 0.42:
		return zipf(a.random, a.common, 2)
	case u < 0.62:
		return a.inflect(zipf(a.random, a.topic, 3))
	}
	return a.inflect(zipf(a.random, a.stems, 20))
}

func (a *author) inflect(stem string) string {
	return zipf(a.random, a.prefixes, 1) + stem + zipf(a.random, a.suffixes, 1)
}

// number returns a number of one to five digits, a year, or one with decimals.
func (a *author) number() string {
	switch a.random.IntN(4) {
	case 0:
		return fmt.Sprint(1950 + a.random.IntN(80))
	case 1:
		return fmt.Sprintf("%d.%02d", a.random.IntN(200), a.random.IntN(100))
	}
	return fmt.Sprint(int(math.Pow(10, 5*a.random.Float64())))
}

func (a *author) words(n int) (words []string) {
	for range n {
		words = append(words, a.word())
	}
	return words
}

func (a *author) sentence() []string { return a.words(6 + a.random.IntN(18)) }

func (a *author) paragraph() (sentences [][]string) {
	for range 2 + a.random.IntN(4) {
		sentences = append(sentences, a.sentence())
	}
	return sentences
}

// text returns a text of at least this many words.
func (a *author) text(wordsMin int) (t prose) {
	for n := 0; n < wordsMin; {
		p := a.paragraph()
		for _, s := range p {
			n += len(s)
		}
		t = append(t, p)
	}
	return t
}

func (a *author) write(t prose) string {
	var b strings.Builder
	for _, p := range t {
		for _, s := range p {
			b.WriteString(strings.Join(s, a.separator) + a.stop)
		}
		b.WriteString("\n\n")
	}
	return b.String()
}

// clone returns a deep copy of a text.
func (t prose) clone() (copied prose) {
	for _, p := range t {
		var sentences [][]string
		for _, s := range p {
			sentences = append(sentences, slices.Clone(s))
		}
		copied = append(copied, sentences)
	}
	return copied
}

// change replaces, deletes or inserts one part of a list.
func change[T any](r *rand.Rand, list []T, random func() T) []T {
	start := r.IntN(len(list) + 1)
	end := min(start+1, len(list))
	switch r.IntN(3) {
	case 0:
		return slices.Delete(list, start, end)
	case 1:
		end = start
	}
	return slices.Replace(list, start, end, random())
}

// Units of edits.
const (
	byWord      = "edited words"
	bySentence  = "edited sentences"
	byParagraph = "edited paragraphs"
)

// edit returns a copy of a text with edits of one unit. The Jaccard similarity of the two is about the one given.
func (a *author) edit(t prose, unit string, jaccard float64) prose {
	t = t.clone()
	paragraphs, sentences, words := len(t), 0, 0
	for _, p := range t {
		sentences += len(p)
		for _, s := range p {
			words += len(s)
		}
	}
	changed := 1.5 * (1 - jaccard) / (1 + jaccard) // share of shingles to edit; two of three edits affect one text only
	edits := map[string]float64{byWord: changed / 3 * float64(words), bySentence: changed * float64(sentences),
		byParagraph: changed * float64(paragraphs)}[unit] // a word is in three shingles
	for range max(1, int(edits+0.5)) {
		if unit == byParagraph || len(t) == 0 {
			t = change(a.random, t, a.paragraph)
			continue
		}
		p := a.random.IntN(len(t))
		if unit == bySentence || len(t[p]) == 0 {
			t[p] = change(a.random, t[p], a.sentence)
			continue
		}
		s := a.random.IntN(len(t[p]))
		t[p][s] = change(a.random, t[p][s], a.word)
	}
	return t
}
