package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// A corpus makes texts of invented words: syllables, whose frequency falls as one over their rank,
// as that of words does, in paragraphs of sentences. Text i of a seed is the same on every machine.
type corpus struct {
	words   []string
	weights []float64 // cumulated
	seed    uint64
	between string // words
	stop    string // of a sentence
}

// newEnglish has 30,000 words of one to four syllables with blanks between them.
func newEnglish(seed uint64) *corpus {
	rng := rand.New(rand.NewPCG(seed, 1))
	const consonants, vowels = "bcdfghklmnprstvw", "aeiou"
	c := &corpus{seed: seed, between: " ", stop: ". "}
	for i := range 30_000 {
		var w strings.Builder
		for range 1 + min(3, int(math.Log2(float64(i+2))/5)+rng.IntN(2)) {
			w.WriteByte(consonants[rng.IntN(len(consonants))])
			w.WriteByte(vowels[rng.IntN(len(vowels))])
		}
		c.words = append(c.words, w.String())
	}
	c.weigh()
	return c
}

// newChinese has 3,000 characters, and words of one or two of them with nothing between.
func newChinese(seed uint64) *corpus {
	rng := rand.New(rand.NewPCG(seed, 2))
	c := &corpus{seed: seed, stop: "。"}
	character := func() rune { return rune(0x4e00 + rng.IntN(3000)) }
	for i := range 20_000 {
		w := string(character())
		if i > 500 || rng.IntN(2) == 0 {
			w += string(character())
		}
		c.words = append(c.words, w)
	}
	c.weigh()
	return c
}

func (c *corpus) weigh() {
	sum := 0.0
	for i := range c.words {
		sum += 1 / float64(i+3)
		c.weights = append(c.weights, sum)
	}
}

// text returns text i, of about the given size.
func (c *corpus) text(i, bytes int) string {
	rng := rand.New(rand.NewPCG(c.seed, uint64(i)+10))
	bytes = bytes/2 + rng.IntN(bytes)
	var b strings.Builder
	for b.Len() < bytes {
		for range 5 + rng.IntN(20) {
			b.WriteString(c.word(rng))
			b.WriteString(c.between)
		}
		b.WriteString(c.stop)
		if rng.IntN(6) == 0 {
			b.WriteString("\n\n")
		}
	}
	return b.String()
}

// word draws a word by its weight.
func (c *corpus) word(rng *rand.Rand) string {
	at, _ := slices.BinarySearch(c.weights, rng.Float64()*c.weights[len(c.weights)-1])
	return c.words[at]
}

// texts returns count texts and the sum of their sizes.
func (c *corpus) texts(count, bytes int) (texts []string, sum int) {
	for i := range count {
		texts = append(texts, c.text(i, bytes))
		sum += len(texts[i])
	}
	return texts, sum
}
