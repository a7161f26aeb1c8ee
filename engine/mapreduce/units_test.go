package mapreduce_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ndd/engine/corpus/ingest"
	"ndd/engine/mapreduce"
	"ndd/engine/oracle/must"
	"ndd/engine/passages"
)

// TestUnits: repeated units, their places and which one stays are those that package passages finds.
func TestUnits(t *testing.T) {
	all := texts(150)
	for i, text := range all {
		all[i] = strings.ReplaceAll(text, " the ", ".\n") + "\nThe same line."
	}
	path := filepath.Join(t.TempDir(), "docs.jsonl")
	must.Do(t, os.WriteFile(path, []byte(textLines(all)), 0o600))
	for _, o := range []passages.Options{{Unit: passages.Unit{Kind: passages.Lines, Length: 1}, MinChars: 5},
		{Unit: passages.Unit{Kind: passages.Sentences, Length: 1}, Ignore: passages.IgnoreDigits}} {
		r, _, err := passages.Find(t.Context(), []string{path}, ingest.Config{}, o)
		must.Do(t, err)
		var want []string
		for d := range r.Documents() {
			for _, s := range d.Spans {
				kept := 0
				if s.Kept {
					kept = 1
				}
				want = append(want, fmt.Sprintf("%s\t%d\t%d\t%d\t%s\t%d\n", d.ID, s.From, s.To, kept, s.First.ID, s.First.From))
			}
		}
		must.Do(t, r.Close())
		if slices.Sort(want); len(want) < 50 {
			t.Fatalf("%d spans", len(want))
		}
		job := mapreduce.Units{Passages: o}
		eachSplit(t, o.Unit.Kind == passages.Lines, func(t *testing.T, l *local) {
			same(t, o.Unit.String(), l.collect(l.run(job, l.cut(textLines(all))), l.reduces), want)
		})
	}
	bytes := mapreduce.Units{Passages: passages.Options{Unit: passages.Unit{Kind: passages.Bytes, Length: 50}}}
	if _, err := step(t, mapOf(bytes), textLines(all), nil); err == nil || !strings.Contains(err.Error(), "no units") {
		t.Errorf("%v", err)
	}
}
