package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// A corpus makes texts of invented words in sentences and paragraphs. As in real texts, the frequency of a syllable is
// inversely proportional to its rank. Text i of a seed is the same on every machine.
type corpus struct {
	words   []string
	weights []float64 // cumulated
	seed    uint64
}

// newEnglish has 30,000 words of one to four syllables with blanks between them.
func newEnglish(seed uint64) *corpus {
	rng := rand.New(rand.NewPCG(seed, 1))
	const consonants, vowels = "bcdfghklmnprstvw", "aeiou"
	c := &corpus{seed: seed}
	for i := range 30_000 {
		var w strings.Builder
		for range 1 + min(3, int(math.Log2(float64(i+2))/5)+rng.IntN(2)) {
			w.WriteByte(consonants[rng.IntN(len(consonants))])
			w.WriteByte(vowels[rng.IntN(len(vowels))])
		}
		c.words = append(c.words, w.String())
	}
	sum := 0.0
	for i := range c.words {
		sum += 1 / float64(i+3)
		c.weights = append(c.weights, sum)
	}
	return c
}

// text returns text i, of about the given size.
func (c *corpus) text(i, bytes int) string {
	rng := rand.New(rand.NewPCG(c.seed, uint64(i)+10))
	bytes = bytes/2 + rng.IntN(bytes)
	var b strings.Builder
	for b.Len() < bytes {
		for range 5 + rng.IntN(20) {
			b.WriteString(c.word(rng))
			b.WriteByte(' ')
		}
		b.WriteString(". ")
		if rng.IntN(6) == 0 {
			b.WriteString("\n\n")
		}
	}
	return b.String()
}

// word draws a word by its weight.
func (c *corpus) word(rng *rand.Rand) string {
	index, _ := slices.BinarySearch(c.weights, rng.Float64()*c.weights[len(c.weights)-1])
	return c.words[index]
}

// edit returns text i of a corpus with near-duplicates. Texts 7 and 8 of each ten are copies of the
// first one, with one word in 40 and one in 10 replaced.
func (c *corpus) edit(i, bytes int) string {
	rate := map[int]int{7: 40, 8: 10}[i%10]
	if rate == 0 {
		return c.text(i, bytes)
	}
	words := strings.Split(c.text(i/10*10, bytes), " ")
	rng := rand.New(rand.NewPCG(c.seed+1, uint64(i)))
	for range len(words) / rate {
		words[rng.IntN(len(words))] = c.word(rng)
	}
	return strings.Join(words, " ")
}
