package eval

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Edits are the ways in which [Edited] changes a text, by the name of their label. A rate of 1 in n
// changes one of n words at random places, at least one; a word of a script without spaces is one
// character.
var Edits = []string{"replaced", "inserted", "deleted", "moved", "cut off", "boilerplate"}

// editRates are the rates that [SyntheticLabels] uses: one word in 20, 40, ...
var editRates = []int{20, 40, 80, 200, 1000}

// A span is a word of a text, or one character of a script without spaces, with the text between it
// and the previous one.
type span struct {
	gap, word string
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
// common as words are.
type editor struct {
	random *rand.Rand
	words  []string // of the corpus, in order, each as often as it stands there
}

// edit returns a text with one of [Edits] applied to one word in rate; ok is false where the text
// has fewer than rate words, so that the rate cannot be kept.
func (e *editor) edit(text, kind string, rate int) (edited string, ok bool) {
	all, rest := spans(text)
	if len(all) < rate {
		return "", false
	}
	n := len(all) / rate
	switch kind {
	case "replaced":
		for _, i := range e.random.Perm(len(all))[:n] {
			all[i].word = e.other(all[i].word)
		}
	case "inserted":
		for range n {
			i := e.random.IntN(len(all))
			all = append(all[:i+1], all[i:]...)
			all[i] = span{all[i+1].gap, e.other("")}
			all[i+1].gap = ""
		}
	case "deleted":
		for range n {
			i := e.random.IntN(len(all))
			all = append(all[:i], all[i+1:]...)
		}
	case "moved": // n words in a row, to another place
		from := e.random.IntN(len(all) - n + 1)
		block := append([]span(nil), all[from:from+n]...)
		all = append(all[:from], all[from+n:]...)
		to := e.random.IntN(len(all) + 1)
		all = append(all[:to], append(block, all[to:]...)...)
	case "cut off":
		all, rest = all[:len(all)-n], ""
	case "boilerplate":
		from := e.random.IntN(len(e.words))
		rest += "\n"
		for i := range n {
			all, rest = append(all, span{rest + " ", e.words[(from+i)%len(e.words)]}), ""
		}
	default:
		panic("eval: no edit " + kind)
	}
	return joined(apart(all), rest), true
}

// apart puts spaces between words that an edit has brought together and that would be one without.
func apart(all []span) []span {
	for i := 1; i < len(all); i++ {
		before, _ := utf8.DecodeLastRuneInString(all[i-1].word)
		after, _ := utf8.DecodeRuneInString(all[i].word)
		if all[i].gap == "" && !spaceless(before) && !spaceless(after) {
			all[i].gap = " "
		}
	}
	return all
}

// other returns a word of the corpus that is not this one, of its kind of script where there is
// such a one.
func (e *editor) other(word string) string {
	r, _ := utf8.DecodeRuneInString(word)
	for range 100 {
		w := e.words[e.random.IntN(len(e.words))]
		s, _ := utf8.DecodeRuneInString(w)
		if !strings.EqualFold(w, word) && (word == "" || spaceless(r) == spaceless(s)) {
			return w
		}
	}
	return word + "x"
}

// wordsMax is how many words of the sample the words that are put in come from.
const wordsMax = 1 << 20

// SyntheticLabels adds edited copies of up to sample documents of a corpus to it, and returns the
// labels of document and copy: "replaced 1 in 40" and the like. Documents are drawn at random by
// seed, and so are edits; the same corpus and seed give the same copies. Texts with fewer than 20
// words get no copies. The error says that no text has as many.
func (c *Corpus) SyntheticLabels(sample int, seed uint64) ([]Label, error) {
	random := rand.New(rand.NewPCG(seed, 0))
	rows := random.Perm(c.Len())
	rows = rows[:min(sample, len(rows))]
	e := &editor{random: random}
	for _, i := range rows {
		if all, _ := spans(c.texts[i]); len(e.words) < wordsMax {
			for _, s := range all {
				e.words = append(e.words, s.word)
			}
		}
	}
	var labels []Label
	for _, kind := range Edits {
		for _, rate := range editRates {
			for _, i := range rows {
				text, ok := e.edit(c.texts[i], kind, rate)
				if !ok {
					continue
				}
				name := fmt.Sprintf("%s 1 in %d", kind, rate)
				id := fmt.Sprintf("%s (%s)", c.ids[i], name)
				if err := c.Add(id, text); err != nil {
					return nil, err
				}
				labels = append(labels, Label{A: c.ids[i], B: id, Kind: name, Jaccard: c.Jaccard(i, c.Len()-1)})
			}
		}
	}
	if len(labels) == 0 {
		return nil, fmt.Errorf("none of %s has %d words: there is nothing to edit", plural(len(rows), "document"),
			editRates[0])
	}
	return labels, nil
}
