package dedup

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/near/keep"
	"example.org/ndd/engine/near/source"
	"example.org/ndd/engine/oracle/must"
)

// TestSources checks sources by input and by a field, with preferred and protected ones. It counts the drops of each
// source, with texts and without.
func TestSources(t *testing.T) {
	t.Chdir(t.TempDir())
	line := func(text, source string) string { return fmt.Sprintf("{%q:%q,%q:%q}\n", "text", text, "set", source) }
	write(t, map[string]string{
		"crawl/a.jsonl":   line(rivers, "web") + line(bread, "web") + line("short", "web"),
		"crawl/b/c.jsonl": line(rivers, "web"),
		"books/d.jsonl":   line(rivers+" then", "books") + line(bread, "web"),
		"gold.jsonl":      line(bread, "gold") + line(rivers, "gold") + line(rivers, "gold"),
	})
	keep, err := keep.Parse("source,longest")
	must.Do(t, err)
	inputs := []string{"crawl/", "./books", "gold.json?"}
	for _, c := range []struct {
		name   string
		source source.Options
		want   string
	}{
		{"inputs", source.Options{}, "[{crawl 4 1 5} {books 2 2 0} {gold.jsonl 3 3 0}]"},
		{"prefer", source.Options{Prefer: []string{"gold.jsonl", "books/"}}, "[{crawl 4 3 0} {books 2 2 0} {gold.jsonl 3 1 5}]"},
		{"field", source.Options{Field: "set", Prefer: []string{"books"}}, "[{web 5 3 1} {books 1 0 4} {gold 3 3 0}]"},
		{"protect", source.Options{Protect: []string{"gold.*"}}, "[{crawl 4 3 0} {books 2 2 0} {gold.jsonl 3 0 5}]"},
		{"folder", source.Options{Protect: []string{"crawl/b"}}, "[{crawl 4 1 5} {books 2 2 0} {gold.jsonl 3 3 0}]"},
		{"value", source.Options{Field: "set", Protect: []string{"gold", "d.jsonl"}}, "[{web 5 3 0} {books 1 0 0} {gold 3 0 2}]"},
	} {
		for mode, o := range []Options{{}, {Rule: Rule{{Jaccard: 0.5}}}, {Rule: Rule{{Jaccard: 0.5}}, Texts: &Texts{}}} {
			corpus, _, err := ReadDocuments(t.Context(), inputs, ingest.Config{}, ReadOptions{Keep: keep, Source: c.source,
				Sketches: mode == 1})
			if err != nil {
				t.Fatal(c.name, err)
			}
			o.K = 8
			r := found(t, corpus, o)
			if got := fmt.Sprint(r.Sources()); got != c.want {
				t.Errorf("%s, mode %d: %s, want %s", c.name, mode, got, c.want)
			}
			if c.name == "folder" && slices.Contains(keptRows(r), 0) {
				t.Error("a document near a protected one is kept")
			}
			corpus.Close()
		}
	}
	for _, c := range []struct {
		source source.Options
		want   string
	}{
		{source.Options{Prefer: []string{"crawl", "book"}}, "prefer book: no source has this name: the sources are crawl, books, gold.jsonl"},
		{source.Options{Protect: []string{"*.txt"}},
			"protect *.txt: no source, file or folder has this name: the sources are crawl, books, gold.jsonl"},
		{source.Options{Limits: []source.Limit{{Source: "", Share: 0.5}, {Source: "web", Share: 0.5}}},
			"max-drop web: no source has this name: the sources are crawl, books, gold.jsonl"},
		{source.Options{Prefer: []string{"crawl", "books"}, Protect: []string{"books"}},
			"prefer crawl before books contradicts that books is protected, and so kept before all others"},
		{source.Options{Field: "sett"}, "source sett: no document has this field with a number or text; " +
			"documents have the fields text, set"},
		{source.Options{Field: "set", Prefer: []string{"crawl"}}, "prefer crawl: no source has this name: the sources are web, books, gold"},
	} {
		if _, _, err := ReadDocuments(t.Context(), inputs, ingest.Config{}, ReadOptions{Source: c.source}); err == nil ||
			err.Error() != c.want {
			t.Errorf("%+v: %v, want %s", c.source, err, c.want)
		}
	}
}

// TestProtected checks that a protected document is kept even if it is near another one.
func TestProtected(t *testing.T) {
	set := func(name string) []format.Value { return []format.Value{{Text: name, Found: true}} }
	docs := []Document{{ID: "x", Fingerprint: 0b1_1111, Values: set("web")}, {ID: "p", Values: set("gold")},
		{ID: "q", Fingerprint: 0b111, Values: set("gold")}, {ID: "r", Fingerprint: 0b111, Values: set("gold")}}
	o := ReadOptions{Source: source.Options{Field: "set", Protect: []string{"gold"},
		Limits: []source.Limit{{Source: "", Share: 0.25}, {Source: "", Share: 0.24}, {Source: "web", Share: 0.5}, {Source: "gold", Share: 0}}}}
	r := found(t, appended(t, o, docs...), Options{K: 3})
	if got := fmt.Sprint(keptRows(r)); got != "[1 2 3]" {
		t.Error("kept are", got)
	}
	if got := fmt.Sprint(Excesses(r)); got != "[{{ 0.24} { 4 1 0}} {{web 0.5} {web 1 1 0}}]" {
		t.Error("beyond the limits are", got)
	}

	// A known document is not compared, so the compared documents have other numbers than the rows.
	known := func(context.Context, []uint64, []sketch.Sketch) ([]Drop, error) { return []Drop{{Kept: "old"}}, nil }
	r = found(t, appended(t, o, Document{ID: "known", Fingerprint: 1 << 60}, docs[1], docs[0], docs[2]),
		Options{K: 3, Known: known})
	if got := fmt.Sprint(keptRows(r)); got != "[1 3]" {
		t.Error("with a known document kept are", got)
	}
}

// TestDoubts checks that the dropped documents nearest to the threshold come first, one for each kept document.
func TestDoubts(t *testing.T) {
	t.Chdir(t.TempDir())
	lines := ""
	for _, end := range []string{"", " at last", " in the end, says the book of the sea", " and go",
		" or so it is said in books", " in the end, says the book of the river"} {
		lines += fmt.Sprintf("{%q:%q}\n", "text", rivers+end) + fmt.Sprintf("{%q:%q}\n", "text", bread+end)
	}
	write(t, map[string]string{"in.jsonl": lines})
	for _, o := range []Options{{K: 8, Rule: Rule{{Jaccard: 0.7}}, Texts: &Texts{}}, {K: 8, Rule: Rule{{Jaccard: 0.7}}}, {K: 8}} {
		r := found(t, read(t, "in.jsonl", ingest.Config{}, ReadOptions{Sketches: len(o.Rule) > 0}), o)
		margin := func(d Drop) float64 {
			if len(o.Rule) == 0 {
				return float64(o.K - d.Distance)
			}
			return float64(d.Jaccard) - o.Rule[0].Jaccard
		}
		lowest := map[int64]float64{} // margin of the most doubtful document of each kept one
		for d := range r.Dropped() {
			if before, ok := lowest[d.KeptRow]; !ok || margin(d) < before {
				lowest[d.KeptRow] = margin(d)
			}
		}
		want := slices.Sorted(maps.Values(lowest))
		for _, n := range []int{1, 9} {
			var got []float64
			for _, d := range Doubts(r, n, o) {
				if got = append(got, d.Margin); d.Margin != margin(d.Drop) || d.Margin != lowest[d.KeptRow] {
					t.Errorf("%+v: %v, want %v", o, d, lowest[d.KeptRow])
				}
			}
			if !slices.Equal(got, want[:min(n, len(want))]) || len(want) < 2 {
				t.Errorf("%+v: margins %v, want %d of %v", o, got, n, want)
			}
		}
	}
}
