package decontaminate

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// An excerpt is words of an item that a document holds, in a row.
type excerpt struct{ item, from, to int }

// exactScore returns the score of an excerpt by the definition, for an item whose n-grams no other item has. all has
// the excerpts of all documents.
func exactScore(e excerpt, tokens int, all []excerpt, common int) *big.Rat {
	const n = 5
	weight := func(token int) *big.Rat {
		maximum := 1
		for gram := max(token-n+1, 0); gram <= min(token, tokens-n); gram++ {
			documents := 0
			for _, o := range all {
				if o.item == e.item && o.from <= gram && gram+n <= o.to {
					documents++
				}
			}
			maximum = max(maximum, min(documents, common))
		}
		return big.NewRat(1, int64(maximum*maximum))
	}
	covered, whole := new(big.Rat), new(big.Rat)
	for token := range tokens {
		w := weight(token)
		if token >= e.from && token < e.to {
			covered.Add(covered, w)
		}
		whole.Add(whole, w)
	}
	words := big.NewRat(int64(e.to-e.from), int64(tokens))
	if covered.Quo(covered, whole); covered.Cmp(words) < 0 {
		return covered
	}
	return words
}

// TestScores compares hits with the definition of scores in exact numbers, also for scores at the threshold.
func TestScores(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var items [][]string
		var lines []map[string]string
		for i := range rapid.IntRange(1, 3).Draw(rt, "items") {
			var words []string
			for j := range rapid.IntRange(8, 23).Draw(rt, "words") {
				words = append(words, fmt.Sprintf("w%dx%d", i, j))
			}
			items = append(items, words)
			lines = append(lines, map[string]string{"id": fmt.Sprint(i), "question": strings.Join(words, " ")})
		}
		var all []excerpt
		var docs []map[string]string
		for i := range rapid.IntRange(1, 12).Draw(rt, "documents") {
			e := excerpt{item: rapid.IntRange(0, len(items)-1).Draw(rt, "item")}
			n := len(items[e.item])
			e.from = rapid.IntRange(0, n-5).Draw(rt, "from")
			e.to = rapid.IntRange(e.from+5, n).Draw(rt, "to")
			all = append(all, e)
			docs = append(docs, map[string]string{"text": fmt.Sprintf("before%d %s behind%d", i,
				strings.Join(items[e.item][e.from:e.to], " "), i)})
		}
		o := Options{Common: rapid.IntRange(1, 5).Draw(rt, "common")}
		score := func(e excerpt) *big.Rat { return exactScore(e, len(items[e.item]), all, o.Common) }
		o.Threshold, _ = score(all[rapid.IntRange(0, len(all)-1).Draw(rt, "threshold")]).Float64()
		var want, got []int
		for i, e := range all {
			exact, _ := score(e).Float64()
			rows := func(tokens int) float64 { return float64(tokens - rareTokens + 1) }
			if exact >= o.Threshold && reaches(rows(e.to-e.from), rareShare*min(o.Threshold, 0.5)*rows(len(items[e.item]))) {
				want = append(want, i+1)
			}
		}
		for d := range look(t, lines, docs, o).Documents() {
			got = append(got, d.Line)
			if exact, _ := score(all[d.Line-1]).Float64(); !(d.Hits[0].Score-exact < 1e-9 && exact-d.Hits[0].Score < 1e-9) {
				rt.Fatalf("document %d: score %v, want %v", d.Line, d.Hits[0].Score, exact)
			}
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("threshold %v: documents %v, want %v", o.Threshold, got, want)
		}
	})
}
