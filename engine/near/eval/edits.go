package eval

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"example.org/ndd/engine/corpus/token"
)

// editRates are the rates of [Corpus.SyntheticLabels]: one word in 20, 40, ... is replaced or deleted, or another word
// is inserted before it, at random places. In a script without spaces a word is one character.
var editRates = []int{20, 40, 80, 200, 1000}

// A span is a token of a text, and the text between the previous token and this one.
type span struct {
	gap, word string
	char      bool // a character of a script without spaces
}

// An editor changes texts. It inserts words of other texts, so they are as common as words are. Their script has spaces
// if the script of the text has.
type editor struct {
	random  *rand.Rand
	scanner *token.Scanner
	words   map[bool][]string // words and characters of the sample, with repetitions
}

func newEditor(random *rand.Rand) (*editor, error) {
	scanner, err := token.NewScanner(token.Options{})
	return &editor{random, scanner, map[bool][]string{}}, err
}

// spans splits a text. The rest follows the last word. Function joinSpans is the inverse.
func (e *editor) spans(text string) (all []span, end string) {
	offset := 0
	e.scanner.Scan(text, func(tokens []token.Token) {
		for _, t := range tokens {
			if t.Start >= offset {
				all = append(all, span{text[offset:t.Start], text[t.Start:t.End], t.Kind == token.Char})
				offset = t.End
			}
		}
	})
	return all, text[offset:]
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

// joinSpans is the inverse of spans. If an edit has brought two words together, it puts a space between them.
func joinSpans(all []span, end string) string {
	var b strings.Builder
	for i, s := range all {
		if i > 0 && s.gap == "" && !s.char && !all[i-1].char {
			s.gap = " "
		}
		b.WriteString(s.gap + s.word)
	}
	return b.String() + end
}

// edit returns a text with one word in rate edited. It returns false if the text has fewer than rate words.
func (e *editor) edit(text string, rate int) (edited string, ok bool) {
	all, end := e.spans(text)
	if len(all) < rate {
		return "", false
	}
	char := all[len(all)/2].char
	for range len(all) / rate {
		all = change(e.random, all, func() span {
			return span{word: e.words[char][e.random.IntN(len(e.words[char]))], char: char}
		})
	}
	return joinSpans(all, end), true
}

// wordsMax limits the words, and the characters, that an editor inserts.
const wordsMax = 1 << 20

// SyntheticLabels adds edited copies of up to sample documents to the corpus. It returns the labels of documents and
// copies, such as "edited 1 in 40". Documents and edits are random; the same corpus and seed give the same copies. A
// text with fewer than 20 words has no copies. It is an error if all texts are that short.
func (c *Corpus) SyntheticLabels(sample int, seed uint64) ([]Label, error) {
	// Draw the documents.
	random := rand.New(rand.NewPCG(seed, 0))
	rows := random.Perm(c.Len())
	rows = rows[:min(sample, len(rows))]
	e, err := newEditor(random)
	if err != nil {
		return nil, err
	}
	// Collect the words that edits insert, from the same documents.
	for _, i := range rows {
		all, _ := e.spans(c.texts[i])
		for _, s := range all {
			if len(e.words[s.char]) < wordsMax {
				e.words[s.char] = append(e.words[s.char], s.word)
			}
		}
	}
	// Add a copy of each document with each rate of edits.
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
