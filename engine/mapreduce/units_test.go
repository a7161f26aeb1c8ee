package mapreduce_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/mapreduce"
	"example.org/ndd/engine/oracle/files"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/passages"
)

// eachSpan calls f with the spans that package passages finds in texts: the document's ID, and 1 if the span is kept.
func eachSpan(t *testing.T, all []string, o passages.Options, f func(id string, stays int, s passages.Span)) {
	t.Helper()
	r, _, err := passages.Find(t.Context(), []string{files.New(t, "docs.jsonl", textLines(all, idInOrder))}, ingest.Config{}, o)
	must.Do(t, err)
	defer r.Close()
	for d := range r.Documents() {
		for s := range r.Spans(d.Row) {
			stays := 0
			if s.Kept {
				stays = 1
			}
			f(d.ID, stays, s)
		}
	}
}

// TestUnits compares repeated units, their places and the kept places with package passages.
func TestUnits(t *testing.T) {
	all := texts(150)
	for i, text := range all {
		all[i] = strings.ReplaceAll(text, " the ", ".\n") + "\nThe same line."
	}
	for _, o := range []passages.Options{{Unit: passages.Unit{Kind: passages.Lines, Length: 1}, MinChars: 5},
		{Unit: passages.Unit{Kind: passages.Sentences, Length: 1}, Ignore: passages.IgnoreDigits}} {
		var want []string
		eachSpan(t, all, o, func(id string, stays int, s passages.Span) {
			want = append(want, fmt.Sprintf("%s\t%d\t%d\t%d\t%s\t%d\n", id, s.From, s.To, stays, s.First.ID, s.First.From))
		})
		if slices.Sort(want); len(want) < 50 {
			t.Fatalf("%d spans", len(want))
		}
		job := mapreduce.Units{Passages: o}
		eachSplit(t, o.Unit.Kind == passages.Lines, func(t *testing.T, l *localCluster) {
			requireSame(t, o.Unit.String(), l.collect(l.run(job, l.cut(textLines(all, idInOrder))), l.reduces), want)
		})
	}
	bytes := mapreduce.Units{Passages: passages.Options{Unit: passages.Unit{Kind: passages.Bytes, Length: 50}}}
	_, err := step(t, mapOf(bytes), textLines(all, idInOrder), nil)
	wantError(t, err, nil, "no units")
}
