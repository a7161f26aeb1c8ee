package decontaminate

import (
	"fmt"
	"strings"
	"testing"

	"ndd/engine/corpus/ingest"
	"ndd/engine/oracle/files"
	"ndd/engine/oracle/must"
)

// numbered returns so many words that no other prefix has.
func numbered(prefix string, n int) string {
	var words []string
	for i := range n {
		words = append(words, fmt.Sprint(prefix, i))
	}
	return strings.Join(words, " ")
}

// TestBorders holds what is a hit where a limit is just reached, and where it is not.
func TestBorders(t *testing.T) {
	first, last := numbered("a", 20), numbered("b", 20)
	law, ten := numbered("law", 60), numbered("t", 10)
	laws := texts(law, law, law, law, law, law, law, law, law, law, law, law)
	for name, c := range map[string]struct {
		item    string
		docs    []map[string]string
		options Options
		hits    int
	}{
		"runs that are near":            {first + " " + last, texts(first + " " + numbered("x", nearTokens) + " " + last), Options{}, 1},
		"runs that are not":             {first + " " + last, texts(first + " " + numbered("x", nearTokens+1) + " " + last), Options{}, 0},
		"a phrase":                      {"who wrote the red book", texts("who wrote the red book", "who wrote the red book", "who wrote the red book"), Options{Common: 2}, 0},
		"as common as allowed":          {"who wrote the red book", texts("who wrote the red book", "who wrote the red book"), Options{Common: 2}, 2},
		"a long run":                    {law + " " + numbered("q", runLeast), append(texts(numbered("q", runLeast)), laws...), Options{}, 1},
		"a score that is the threshold": {ten, texts(ten, ten, ten, numbered("t", 5)), Options{Common: 3, Threshold: 0.5}, 4},
		"a shorter run":                 {law + " " + numbered("q", runLeast-1), append(texts(numbered("q", runLeast-1)), laws...), Options{}, 0},
	} {
		if r := look(t, texts(c.item), c.docs, c.options); r.Met != c.hits {
			t.Errorf("%s: %d documents", name, r.Met)
		}
	}
}

// TestAnswerBorders: an answer is near that begins, or ends, at most nearTokens from the item.
func TestAnswerBorders(t *testing.T) {
	item := numbered("a", 20)
	items := []map[string]string{{"question": item, "answer": "forty two"}}
	for n, want := range map[int]bool{nearTokens: true, nearTokens + 1: false} {
		between := " " + numbered("x", n) + " "
		docs := texts(item+between+"forty two", "forty two"+between+item)
		for d := range look(t, items, docs, Options{}).Documents() {
			if d.Hits[0].Answer != want {
				t.Errorf("document %s: %d words between: the answer is near: %v", d.ID, n, !want)
			}
		}
	}
}

// TestJob: what was kept of a corpus is not used for other answers, nor for another threshold.
func TestJob(t *testing.T) {
	seen := map[string]string{}
	for name, c := range map[string]struct {
		answer    string
		threshold float64
	}{"one": {"yes", 0.8}, "another answer": {"no", 0.8}, "another threshold": {"yes", 0.7}} {
		items := []map[string]string{{"question": "Is this a question of some words?", "answer": c.answer}}
		x, _, err := ReadItems(t.Context(), []string{files.Lines(t, "items.jsonl", items)}, ingest.Config{},
			Options{Threshold: c.threshold})
		must.Do(t, err)
		if other, found := seen[x.job()]; found {
			t.Errorf("%s is the job of %s", name, other)
		}
		seen[x.job()] = name
	}
}
