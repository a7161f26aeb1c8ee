package decontaminate

import (
	"fmt"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/oracle/files"
	"example.org/ndd/engine/oracle/must"
)

// numbered returns n distinct words with the prefix.
func numbered(prefix string, n int) string {
	var words []string
	for i := range n {
		words = append(words, fmt.Sprint(prefix, i))
	}
	return strings.Join(words, " ")
}

// TestBorders checks hits at the limits, and texts just outside them.
func TestBorders(t *testing.T) {
	first, last := numbered("a", 20), numbered("b", 20)
	ten := numbered("t", 10)
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
		"a score that is the threshold": {ten, texts(ten, ten, ten, numbered("t", 5)), Options{Common: 3, Threshold: 0.5}, 4},
	} {
		if r := look(t, texts(c.item), c.docs, c.options); r.Met != c.hits {
			t.Errorf("%s: %d documents", name, r.Met)
		}
	}
}

// TestAnswerBorders checks that an answer is near if it begins or ends at most nearTokens from the item.
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

// TestJob checks that stored results of a corpus are not used with other answers or another threshold.
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

// TestDistinctive checks that a document has an item if it has, in order, the words that distinguish the question from
// others of its template. The covered share counts the words that it has.
func TestDistinctive(t *testing.T) {
	templates := []string{"Which of the following statements about %s is correct?",
		"Which of the following best describes the role of %s in the modern economy?",
		"According to the text, what is the main cause of %s in the early years?"}
	subjects := []string{"glacier movement", "volcanic ash", "medieval trade", "cell membranes", "railway signals",
		"soil acidity", "river deltas", "choral music", "bridge design", "grain storage"}
	var items, same []string
	for _, template := range templates {
		for _, s := range subjects[:5] {
			items = append(items, fmt.Sprintf(template, s))
		}
		for _, s := range subjects[5:] {
			same = append(same, "Notes. "+fmt.Sprintf(template, s)+" The answer is below.")
		}
	}
	long := "A gardener plants nine rows of beans behind the old wall. She waters them twice before noon on warm days. " +
		"Her neighbour brings four more baskets in the evening. How many baskets stand there?"
	words := strings.Fields(long)
	for _, c := range []struct {
		name      string
		items     []string
		doc       string
		threshold float64
		covered   float64 // covered share, or 0 if the document is no hit
	}{
		{"a template with other subjects", items, strings.Join(same, " "), 0.5, 0},
		{"a template without a subject", items, "Which of the following statements is correct?", 0.8, 0},
		{"a template with its subject", items, "So: " + items[2] + " Think.", 0.8, 1},
		{"the last sentence is missing", []string{long}, strings.TrimSuffix(long, "How many baskets stand there?"), 0.6, 29. / 34},
		{"the last sentence is missing", []string{long}, strings.Join(words[:20], " "), 0.7, 0},
		{"words in a gap", []string{long}, strings.Join(append(append([]string{}, words[:10]...), words[12:]...), " "), 0.8, 32. / 34},
		{"parts in another order", []string{long}, strings.Join(append(append([]string{}, words[16:]...), words[:16]...), " "), 0.5, 18. / 34},
	} {
		covered := 0.0
		for d := range look(t, texts(c.items...), texts(c.doc), Options{Threshold: c.threshold}).Documents() {
			covered = d.Hits[0].Covered
		}
		if max(covered-c.covered, c.covered-covered) > 1e-9 {
			t.Errorf("%s, threshold %g: covered %.4f, want %.4f", c.name, c.threshold, covered, c.covered)
		}
	}
}

// TestMarkup checks that an item is found in a text with tags or in Markdown, and its position is that in the original
// text.
func TestMarkup(t *testing.T) {
	item := "A gardener plants nine rows of beans behind the old wall. How many baskets does she need & when?"
	for _, c := range []struct{ doc, part string }{
		{"<p class=x>Q: <b>A</b> gardener <a href='https://example.org/p?q=1'>plants nine</a> rows<br>of beans be<i>hind</i> the old wall.</p>" +
			"<p>How many <span title=\"so many\">baskets</span> does she need &amp; when?</p>", "A</b> gardener"},
		{"**Q**: _A_ **gardener** plants _nine_ rows [of beans](https://example.org/beans_and_walls#top) behind the __old__ wall.\n\n" +
			"> How *many* `baskets` does she need & when?", "A_ **gardener**"},
	} {
		r := look(t, texts(item), texts(c.doc), Options{})
		for d := range r.Documents() {
			h := d.Hits[0]
			if part := c.doc[h.From:h.To]; !strings.HasPrefix(part, c.part) || !strings.HasSuffix(part, "when") || h.Covered != 1 {
				t.Errorf("%+v: %q", h, part)
			}
		}
		if r.Met != 1 {
			t.Errorf("%d hits in %q", r.Met, c.doc)
		}
	}
}
