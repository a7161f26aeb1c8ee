package eval

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"ndd/engine/corpus/token"
)

// editRates are the rates that [Corpus.SyntheticLabels] uses: one word in 20, 40, ... is replaced,
// deleted, or gets another one before it, at random places; a word of a script without spaces is one
// character.
var editRates = []int{20, 40, 80, 200, 1000}

// A span is a token of a text with the text between it and the one before.
type span struct {
	gap, word string
	char      bool // a character of a script without spaces
}

// An editor changes texts. Words that it puts in are those of other texts, so that they are as
// common as words are, and of scripts with or without spaces as the text is.
type editor struct {
	random  *rand.Rand
	scanner *token.Scanner
	words   map[bool][]string // of the sample, by whether they are characters, each as often as it stands there
}

func newEditor(random *rand.Rand) (*editor, error) {
	scanner, err := token.NewScanner(token.Options{})
	return &editor{random, scanner, map[bool][]string{}}, err
}

// spans splits a text; rest follows the last word. [joined] reverses it.
func (e *editor) spans(text string) (all []span, rest string) {
	at := 0
	e.scanner.Scan(text, func(tokens []token.Token) {
		for _, t := range tokens {
			if t.Start >= at {
				all = append(all, span{text[at:t.Start], text[t.Start:t.End], t.Kind == token.Char})
				at = t.End
			}
		}
	})
	return all, text[at:]
}

// changed replaces, deletes or inserts one part of a list.
func changed[T any](r *rand.Rand, list []T, fresh func() T) []T {
	start := r.IntN(len(list) + 1)
	end := min(start+1, len(list))
	switch r.IntN(3) {
	case 0:
		return slices.Delete(list, start, end)
	case 1:
		end = start
	}
	return slices.Replace(list, start, end, fresh())
}

// joined is the inverse of spans. It puts a space between words that an edit has brought together and that would be
// one without.
func joined(all []span, rest string) string {
	var b strings.Builder
	for i, s := range all {
		if i > 0 && s.gap == "" && !s.char && !all[i-1].char {
			s.gap = " "
		}
		b.WriteString(s.gap + s.word)
	}
	return b.String() + rest
}

// edit returns a text with one word in rate edited; ok is false where the text has fewer than rate
// words, so that the rate cannot be kept.
func (e *editor) edit(text string, rate int) (edited string, ok bool) {
	all, rest := e.spans(text)
	if len(all) < rate {
		return "", false
	}
	char := all[len(all)/2].char
	for range len(all) / rate {
		all = changed(e.random, all, func() span {
			return span{word: e.words[char][e.random.IntN(len(e.words[char]))], char: char}
		})
	}
	return joined(all, rest), true
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
	e, err := newEditor(random)
	if err != nil {
		return nil, err
	}
	for _, i := range rows {
		all, _ := e.spans(c.texts[i])
		for _, s := range all {
			if len(e.words[s.char]) < wordsMax {
				e.words[s.char] = append(e.words[s.char], s.word)
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
