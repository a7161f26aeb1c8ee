package eval

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode"
	"unicode/utf8"
)

// editRates are the rates that [Corpus.SyntheticLabels] uses: one word in 20, 40, ... is replaced,
// deleted, or gets another one before it, at random places; a word of a script without spaces is one
// character.
var editRates = []int{20, 40, 80, 200, 1000}

// A span is a word of a text, or one character of a script without spaces, with the text between it
// and the previous one.
type span struct {
	gap, word string
}

// first returns the first rune of the word.
func (s span) first() rune {
	r, _ := utf8.DecodeRuneInString(s.word)
	return r
}

// spans splits a text; rest follows the last word. [joined] reverses it.
func spans(text string) (all []span, rest string) {
	for len(text) > 0 {
		from := strings.IndexFunc(text, isWord)
		if from < 0 {
			break
		}
		r, size := utf8.DecodeRuneInString(text[from:])
		end := from + size
		if !spaceless(r) {
			for end < len(text) {
				r, size := utf8.DecodeRuneInString(text[end:])
				if !isWord(r) || spaceless(r) {
					break
				}
				end += size
			}
		}
		all = append(all, span{text[:from], text[from:end]})
		text = text[end:]
	}
	return all, text
}

func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r)
}

// spaceless says whether a letter is of a script that puts no spaces between words.
func spaceless(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar)
}

// joined is the inverse of spans.
func joined(all []span, rest string) string {
	var b strings.Builder
	for _, s := range all {
		b.WriteString(s.gap)
		b.WriteString(s.word)
	}
	b.WriteString(rest)
	return b.String()
}

// An editor changes texts. Words that it puts in are those of other texts, so that they are as
// common as words are, and of scripts with or without spaces as the text is.
type editor struct {
	random *rand.Rand
	words  map[bool][]string // of the corpus, by whether they are spaceless, each as often as it stands there
}

// edit returns a text with one word in rate edited; ok is false where the text has fewer than rate
// words, so that the rate cannot be kept.
func (e *editor) edit(text string, rate int) (edited string, ok bool) {
	all, rest := spans(text)
	if len(all) < rate {
		return "", false
	}
	words := e.words[spaceless(all[len(all)/2].first())]
	for range len(all) / rate {
		all = changed(e.random, all, func() span { return span{word: words[e.random.IntN(len(words))]} })
	}
	return joined(apart(all), rest), true
}

// apart puts spaces between words that an edit has brought together and that would be one without.
func apart(all []span) []span {
	for i := 1; i < len(all); i++ {
		before, _ := utf8.DecodeLastRuneInString(all[i-1].word)
		if all[i].gap == "" && !spaceless(before) && !spaceless(all[i].first()) {
			all[i].gap = " "
		}
	}
	return all
}

// wordsMax is how many words of the sample of either kind the words that are put in come from.
const wordsMax = 1 << 20

// SyntheticLabels adds edited copies of up to sample documents of a corpus to it, and returns the
// labels of document and copy: "edited 1 in 40" and the like. Documents are drawn at random by
// seed, and so are edits; the same corpus and seed give the same copies. Texts with fewer than 20
// words get no copies. The error says that no text has as many.
func (c *Corpus) SyntheticLabels(sample int, seed uint64) ([]Label, error) {
	random := rand.New(rand.NewPCG(seed, 0))
	rows := random.Perm(c.Len())
	rows = rows[:min(sample, len(rows))]
	e := &editor{random, map[bool][]string{}}
	for _, i := range rows {
		all, _ := spans(c.texts[i])
		for _, s := range all {
			if of := spaceless(s.first()); len(e.words[of]) < wordsMax {
				e.words[of] = append(e.words[of], s.word)
			}
		}
	}
	var labels []Label
	for _, rate := range editRates {
		for _, i := range rows {
			text, ok := e.edit(c.texts[i], rate)
			if !ok {
				continue
			}
			name := fmt.Sprintf("edited 1 in %d", rate)
			id := fmt.Sprintf("%s (%s)", c.ids[i], name)
			if err := c.Add(id, text); err != nil {
				return nil, err
			}
			labels = append(labels, Label{A: c.ids[i], B: id, Kind: name, Jaccard: c.Jaccard(i, c.Len()-1)})
		}
	}
	if len(labels) == 0 {
		return nil, fmt.Errorf("none of %s has %d words: there is nothing to edit", plural(len(rows), "document"),
			editRates[0])
	}
	return labels, nil
}
