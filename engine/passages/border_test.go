package passages

import (
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/oracle/files"
	"example.org/ndd/engine/oracle/must"
)

// TestDecision checks that the same cuts of another document are another decision, so that no copy is taken over.
func TestDecision(t *testing.T) {
	file := writeDocs(t, []string{"the first line\nx", "the other line\ny"})
	var all []string
	for _, before := range []string{"the first line", "the other line"} {
		inputs := []string{files.New(t, "before.txt", before+"\n"), file}
		r, _, err := Find(t.Context(), inputs, ingest.Config{}, Options{Unit: Unit{Lines, 1}})
		must.Do(t, err)
		var decision strings.Builder
		r.decision(&decision, 1, r.Len()) // decision about the second file
		all = append(all, decision.String())
		must.Do(t, r.Close())
	}
	if all[0] == "" || all[0] == all[1] {
		t.Errorf("decisions %q", all)
	}
}

// TestBorders checks which text is removed if a limit is just reached, and which text remains in the first document.
func TestBorders(t *testing.T) {
	const line = "the same line\n"
	for name, c := range map[string]struct {
		options Options
		texts   []string
		want    string // the copy, with | between texts
	}{
		"white space after the last cut": {Options{}, []string{line + "x", line + " \n\t"}, line + "x"},
		"exactly the largest share":      {Options{MaxShare: 0.5}, []string{line, line + "another line!\n"}, line + "|another line!\n"},
		"more than the largest share": {Options{MaxShare: 0.5}, []string{line, line + "another line\n"},
			line + "|" + line + "another line\n"},
		"across documents": {Options{AcrossOnly: true}, []string{line + line + "x", line + "y"}, line + line + "x|y"},
	} {
		c.options.Unit = Unit{Lines, 1}
		path := writeDocs(t, c.texts)
		copies, _, err := copied(t, path, find(t, path, c.options).Copy)
		must.Do(t, err)
		var got []string
		for l := range strings.Lines(copies["docs.jsonl"]) {
			_, text, _ := strings.Cut(strings.TrimSuffix(l, "\"}\n"), `"text":"`)
			got = append(got, strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(text))
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestWindowChars checks that the characters of a window are counted in its own sentences only.
func TestWindowChars(t *testing.T) {
	o := Options{Unit: Unit{Sentences, 2}, MinChars: 10}
	texts := []string{"A sentence that is long enough. Yes. No. Yes.", "Another one that is long enough. Yes. No. Yes."}
	if r := find(t, writeDocs(t, texts), o); len(r.repeatList) > 0 {
		t.Errorf("%d windows of fewer characters", len(r.repeatList))
	}
}
