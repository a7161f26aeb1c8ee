package dedup

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ndd/engine/corpus/ingest"
	"ndd/engine/near/shingle"
	"ndd/engine/oracle/must"
)

// TestTemplates: of pages of templates, which fingerprints alone take for each other, only those go
// of which another program says the same: whose words in threes are in the kept page to the share
// that the rule asks for. Sketches change nothing, whatever the threads.
func TestTemplates(t *testing.T) {
	const each = 40
	var file strings.Builder
	var texts []string
	for i := range 36 * each {
		texts = append(texts, newTemplatePage(i%36, i/36))
		fmt.Fprintf(&file, "{\"text\":%q}\n", texts[i])
	}
	// Documents that are contained in an earlier one.
	for i := range 36 {
		words := strings.Fields(texts[i])
		texts = append(texts, strings.Join(words[:len(words)*15/16], " "))
		fmt.Fprintf(&file, "{\"text\":%q}\n", texts[len(texts)-1])
	}
	path := filepath.Join(t.TempDir(), "a.jsonl")
	write(t, map[string]string{path: file.String()})
	c := read(t, path, ingest.Config{}, ReadOptions{})
	plain := 0
	for d := range found(t, c, Options{K: 6}).Dropped() {
		if likeness(words(texts[d.Row]), words(texts[d.KeptRow]), 3).Jaccard < 0.7 {
			plain++
		}
	}
	for text, least := range map[string]int{"jaccard>=0.7": 150, "contained>=1": 10, "contained>=0.9": 50} {
		rule, err := ParseRule(text)
		must.Do(t, err)
		first := ""
		for _, threads := range []int{1, 3} {
			c.o.Threads = threads
			r := found(t, c, Options{K: 6, Verify: &Verify{Rule: rule}})
			dropped, result := 0, ""
			for d := range r.Dropped() {
				dropped++
				result += fmt.Sprintln(d)
				like := likeness(words(texts[d.Row]), words(texts[d.KeptRow]), 3)
				if like.Jaccard < float32(rule[0].Jaccard) || like.Contained < float32(rule[0].Contained) || d.Distance > 6 {
					t.Errorf("%s: %d went for %d: %v, by another program %v", text, d.Row, d.KeptRow, d, like)
				}
			}
			if first == "" {
				first = result
			}
			if dropped < least || result != first {
				t.Errorf("%s: %d went; with 3 threads the same: %v", text, dropped, result == first)
			}
		}
	}
	if plain < 200 {
		t.Errorf("only %d went wrong by their fingerprints", plain)
	}
}

// newTemplatePage returns a page of a site's template, made from the numbers of both alone. What a page says for
// itself is from nothing to two fifths of it, by its template.
func newTemplatePage(template, number int) string {
	fixed := rand.New(rand.NewPCG(uint64(template), 1))
	own := rand.New(rand.NewPCG(uint64(template), uint64(number)+2))
	share := 0.64 * fixed.Float64()
	words := make([]string, 60+fixed.IntN(120))
	for i := range words {
		words[i] = fmt.Sprint("w", fixed.IntN(4000))
		if fixed.Float64() < share*share {
			words[i] = fmt.Sprint("w", own.IntN(9))
		}
	}
	return strings.Join(words, " ")
}

// words returns the words of a page with single spaces between them.
func words(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_')
	}), " ")
}

// TestSketches: sketches never say that a document stays that may go by its set.
func TestSketches(t *testing.T) {
	var sets [][]uint64
	for i := range 300 {
		set := []uint64{}
		for x := range uint64(2 + i%97) {
			set = append(set, (x+uint64(i%7))*0x9e3779b97f4a7c15)
		}
		slices.Sort(set)
		sets = append(sets, set)
	}
	said := 0
	for _, n := range []int{1, 2, 8} {
		var s sketches
		s.resize(n, len(sets))
		for i, set := range sets {
			sketch(s.of(i), set)
		}
		for _, rule := range []Rule{{{Jaccard: 0.7}}, {{Contained: 1}}, {{Jaccard: 0.9}, {Contained: 0.8}}} {
			for i, a := range sets {
				for j := range i {
					_, ok := rule.judge(shingle.Shared(a, sets[j]), len(a), len(sets[j]))
					if may := s.may(rule, s.of(i), j); ok && !may {
						t.Fatalf("%d words, %v: %d and %d", n, rule, i, j)
					} else if !may {
						said++
					}
				}
			}
		}
	}
	if said < 100_000 {
		t.Errorf("sketches told only %d pairs apart", said)
	}
}
