package eval

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// An author writes invented texts of a language about a topic, some of whose words come often.
type author struct {
	*vocabulary
	english *vocabulary // whose words are written by the way in languages without spaces
	random  *rand.Rand
	topic   []string
	numbers float64 // share of words
	foreign float64
}

// prose is a text: paragraphs of sentences of words.
type prose [][][]string

func newAuthor(v, english *vocabulary, r *rand.Rand) *author {
	a := &author{vocabulary: v, english: english, random: r, numbers: 0.015}
	if v.between == "" {
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
		return a.inflected(zipf(a.random, a.topic, 3))
	}
	return a.inflected(zipf(a.random, a.stems, 20))
}

func (a *author) inflected(stem string) string {
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

// text returns a text of words words or some more.
func (a *author) text(words int) (t prose) {
	for n := 0; n < words; {
		p := a.paragraph()
		for _, s := range p {
			n += len(s)
		}
		t = append(t, p)
	}
	return t
}

func (a *author) written(t prose) string {
	var b strings.Builder
	for _, p := range t {
		for _, s := range p {
			b.WriteString(strings.Join(s, a.between) + a.stop)
		}
		b.WriteString("\n\n")
	}
	return b.String()
}

// clone returns a copy of a text, of which any part can be changed.
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

// changed replaces, deletes or inserts one part of a list.
func changed[T any](r *rand.Rand, list []T, fresh func() T) []T {
	at := r.IntN(len(list) + 1)
	end := min(at+1, len(list)) // of what goes
	switch r.IntN(3) {
	case 0:
		return slices.Delete(list, at, end)
	case 1:
		end = at
	}
	return slices.Replace(list, at, end, fresh())
}

// Units of edits.
const (
	byWord      = "edited words"
	bySentence  = "edited sentences"
	byParagraph = "edited paragraphs"
)

// edit returns a version of a text with a Jaccard of about that much.
func (a *author) edit(t prose, unit string, jaccard float64) prose {
	t = t.clone()
	paragraphs, sentences, words := len(t), 0, 0
	for _, p := range t {
		sentences += len(p)
		for _, s := range p {
			words += len(s)
		}
	}
	lost := 1.5 * (1 - jaccard) / (1 + jaccard) // of the shingles of each; two edits of three change one text's
	of := map[string]float64{byWord: lost / 3 * float64(words), bySentence: lost * float64(sentences),
		byParagraph: lost * float64(paragraphs)}[unit] // a word is in three shingles
	for range max(1, int(of+0.5)) {
		if unit == byParagraph || len(t) == 0 {
			t = changed(a.random, t, a.paragraph)
			continue
		}
		p := a.random.IntN(len(t))
		if unit == bySentence || len(t[p]) == 0 {
			t[p] = changed(a.random, t[p], a.sentence)
			continue
		}
		s := a.random.IntN(len(t[p]))
		t[p][s] = changed(a.random, t[p][s], a.word)
	}
	return t
}

// A class is a kind of pairs of invented texts.
type class struct {
	name string
	pair func(a *author) (one, other string)
}

// classes are the kinds of pairs. Those behind the edits look alike and are not: with a Jaccard
// below 0.5 they ought not to be reported.
var classes = []class{
	{byWord, func(a *author) (string, string) { return a.versions(byWord, 60) }},
	{bySentence, func(a *author) (string, string) { return a.versions(bySentence, 120) }},
	{byParagraph, func(a *author) (string, string) { return a.versions(byParagraph, 500) }},
	{"shuffled words", func(a *author) (string, string) { return a.shuffled(1) }},
	{"shuffled sentences", func(a *author) (string, string) { return a.shuffled(12) }},
	{"numbers only", (*author).bulletin},
	{"names only", (*author).template},
	{"code", (*author).code},
	{"tables", (*author).tables},
	{"lists", (*author).lists},
	{"forms", (*author).forms},
	{"short texts", func(a *author) (string, string) {
		t := a.text(10)[:1]
		return a.written(t), a.written(a.edit(t, byWord, 0.2+0.8*a.random.Float64()))
	}},
}

// versions returns a text of words to 16 times as many words, but no more than 2,000, and an edited
// copy with a Jaccard between 0.5 and 1.
func (a *author) versions(unit string, words int) (string, string) {
	t := a.text(min(2000, words<<a.random.IntN(5)))
	return a.written(t), a.written(a.edit(t, unit, 0.5+0.5*a.random.Float64()))
}

// shuffled returns a text of 200 words with its pieces of n words in another order.
func (a *author) shuffled(n int) (string, string) {
	words := a.words(200)
	pieces := slices.Collect(slices.Chunk(words, n))
	a.random.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
	return a.written(prose{{words}}), a.written(prose{pieces})
}

// twice returns what write writes with the same words twice, but with other values.
func (a *author) twice(write func(words, values *author) string) (string, string) {
	seed := a.random.Uint64()
	once := func() string {
		words := *a
		words.random = rand.New(rand.NewPCG(seed, 0))
		words.numbers = 0
		return write(&words, a)
	}
	return once(), once()
}

// bulletin returns a report with other numbers.
func (a *author) bulletin() (string, string) {
	return a.twice(func(words, values *author) string {
		share := 0.06 + 0.2*words.random.Float64()
		t := words.text(60 << words.random.IntN(3))
		for _, p := range t {
			for _, s := range p {
				for i := range s {
					if words.random.Float64() < share {
						s[i] = values.number()
					}
				}
			}
		}
		return a.written(t)
	})
}

// template returns a letter to another recipient: names are others.
func (a *author) template() (string, string) {
	return a.twice(func(words, values *author) string {
		var names [8]string
		for i := range names {
			names[i] = zipf(values.random, a.stems, 2000) + a.between + zipf(values.random, a.stems, 2000)
		}
		t := words.text(60 << words.random.IntN(3))
		for _, p := range t {
			for _, s := range p {
				for range 1 + len(s)/12 {
					s[words.random.IntN(len(s))] = names[words.random.IntN(len(names))]
				}
			}
		}
		return a.written(t)
	})
}

// code returns a source file with other values, and comments in the language. Half of the files are
// lists of constants that count up, with gaps at other places, so that both have many values in
// common.
func (a *author) code() (string, string) {
	return a.twice(func(words, values *author) string {
		var b strings.Builder
		name := func() string { return zipf(words.random, a.english.stems, 50) }
		constants, value := words.random.IntN(2) == 0, 0
		for range 30 + words.random.IntN(100) {
			switch n := words.random.IntN(10); {
			case n == 0:
				fmt.Fprintf(&b, "// %s\n", strings.Join(words.words(8), a.between))
			case constants:
				fmt.Fprintf(&b, "\t%s_%s = %d\n", strings.ToUpper(name()), strings.ToUpper(name()), value)
				value += 1 + values.random.IntN(3)/2*values.random.IntN(4)
			case n < 4:
				fmt.Fprintf(&b, "\t%s.%s = %s;\n", name(), name(), values.number())
			case n < 7:
				fmt.Fprintf(&b, "\tif (%s > %s) return %s;\n", name(), values.number(), values.number())
			default:
				fmt.Fprintf(&b, "\t%s(&%s, 0x%x, %s);\n", name(), name(), values.random.IntN(1<<16), values.number())
			}
		}
		return b.String()
	})
}

// tables returns a table with other numbers in its cells.
func (a *author) tables() (string, string) {
	return a.twice(func(words, values *author) string {
		var b strings.Builder
		columns := 2 + words.random.IntN(5)
		b.WriteString(strings.Join(words.words(columns+1), "\t"))
		for range 10 + words.random.IntN(40) {
			b.WriteString("\n" + strings.Join(words.words(1+words.random.IntN(3)), a.between))
			for range columns {
				b.WriteString("\t" + values.number())
			}
		}
		return b.String()
	})
}

// lists returns two lists of 40 of the same 50 entries, each in an order of its own.
func (a *author) lists() (string, string) {
	return a.twice(func(words, values *author) string {
		var entries []string
		for range 50 {
			entries = append(entries, strings.Join(words.words(1+words.random.IntN(3)), a.between))
		}
		values.random.Shuffle(50, func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		return "- " + strings.Join(entries[:40], "\n- ")
	})
}

// forms returns a form that is filled in otherwise.
func (a *author) forms() (string, string) {
	return a.twice(func(words, values *author) string {
		var b strings.Builder
		for range 15 + words.random.IntN(25) {
			label := strings.Join(words.words(1+words.random.IntN(4)), a.between)
			value := values.number()
			if words.random.IntN(3) > 0 {
				value = strings.Join(values.words(1+values.random.IntN(3)), a.between)
			}
			fmt.Fprintf(&b, "%s: %s\n", label, value)
		}
		return b.String()
	})
}
