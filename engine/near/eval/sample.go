package eval

import (
	"context"
	"math/rand/v2"
	"strings"
	"unicode/utf8"

	"example.org/ndd/engine/corpus/simhash"
)

// A SampledPair is a pair of documents for people to label.
type SampledPair struct {
	A, B     int // rows
	Distance int // Hamming distance of the fingerprints, 0 to [MaxK]
}

// SamplePairs draws up to count pairs of documents for each Hamming distance from 0 to [MaxK], as section 4.1 of Manku,
// Jain and Das Sarma (WWW 2007) does for figure 1. Each pair at a distance has the same chance. Pairs are in order of
// distance. The same corpus, recipe and seed give the same pairs. It returns the error of the recipe or of ctx.
func (c *Corpus) SamplePairs(ctx context.Context, recipe simhash.Recipe, count, threads int, seed uint64) ([]SampledPair, error) {
	p, err := c.fingerprint(ctx, &Method{Recipe: recipe}, threads)
	if err != nil {
		return nil, err
	}
	random := rand.New(rand.NewPCG(seed, 0))
	var seen Counts
	var drawn [MaxK + 1][]SampledPair
	err = p.nearPairs(ctx, c.Len(), func(a, b uint32, distance int) {
		pair := SampledPair{int(a), int(b), distance}
		seen[distance]++
		if len(drawn[distance]) < count {
			drawn[distance] = append(drawn[distance], pair)
		} else if i := random.IntN(seen[distance]); i < count { // reservoir sampling
			drawn[distance][i] = pair
		}
	})
	var all []SampledPair
	for _, pairs := range drawn {
		all = append(all, pairs...)
	}
	return all, err
}

// Beginning returns the first bytes of a document as one line.
func (c *Corpus) Beginning(row, bytes int) string {
	text := c.texts[row]
	if len(text) > bytes {
		for text = text[:bytes]; len(text) > 0 && !utf8.ValidString(text[max(0, len(text)-utf8.UTFMax):]); {
			text = text[:len(text)-1]
		}
	}
	return strings.Join(strings.Fields(text), " ")
}
