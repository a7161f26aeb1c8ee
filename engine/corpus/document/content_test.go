package document_test

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"ndd/engine/corpus/document"
	"ndd/engine/oracle/must"
)

// TestRanges puts files of lines and records together from the ranges of their units, and leaves
// one out.
func TestRanges(t *testing.T) {
	const lines = "\xef\xbb\xbf{\"text\":\"a\"}\r\n\n{\"text\":\"b\"}\nbroken\n  {\"text\":\"c\"}"
	const records = "\xef\xbb\xbfid,text\n1,\"a\nb\"\n\n2,c\r\nbroken\n3,\"d\"\"\""
	long := `{"text":"` + strings.Repeat("x", 300<<10) + "\"}\n"
	tree(t, map[string]string{"a.jsonl": lines, "b.csv": records, "c.jsonl.gz": gz(t, lines), "d.csv.zst": zst(t, records),
		"e.jsonl": "{\"text\":\"a\"}\n" + long + "{\"text\":\"c\"}"})
	for _, c := range []struct{ path, content, without string }{
		{"a.jsonl", lines, strings.Replace(lines, "{\"text\":\"b\"}\n", "", 1)},
		{"b.csv", records, strings.Replace(records, "\n2,c\r\n", "", 1)},
		{"c.jsonl.gz", lines, strings.Replace(lines, "{\"text\":\"b\"}\n", "", 1)},
		{"d.csv.zst", records, strings.Replace(records, "\n2,c\r\n", "", 1)},
		{"e.jsonl", "{\"text\":\"a\"}\n" + long + "{\"text\":\"c\"}", "{\"text\":\"a\"}\n{\"text\":\"c\"}"},
	} {
		f := document.File{Path: c.path}
		content, err := f.Open(t.Context(), document.Options{})
		must.Do(t, err)
		all, err := io.ReadAll(content)
		content.Close()
		if err != nil || string(all) != c.content || !content.Rows {
			t.Fatalf("%s: %q, %v", c.path, all, err)
		}
		var units []document.Unit
		for u, err := range f.Scan(t.Context(), document.Options{}, nil) {
			if err == nil {
				units = append(units, u)
			}
		}
		if len(units) < 2 || !slices.IsSortedFunc(units, func(a, b document.Unit) int { return int(a.To - b.From - 1) }) {
			t.Fatalf("%s: %+v", c.path, units)
		}
		if got := slices.Concat(all[:units[1].From], all[units[1].To:]); string(got) != c.without {
			t.Errorf("%s without its second unit: %q, want %q", c.path, got, c.without)
		}
	}
}

func TestValues(t *testing.T) {
	tree(t, map[string]string{
		"a.jsonl": `{"text":"a","meta":{"score":1.50},"date":"d"}
{"text":"b","date":"d"}
{"text":"c","date":null,"later":7}
{"text":"d"}`,
		"b.csv": "later,text,date\n1,a,2\n3,b,\n,c,\n",
		"c.txt": "words",
	})
	when := time.Unix(1_700_000_000, 5)
	must.Do(t, os.Chtimes("c.txt", when, when))
	opts := document.Options{ValueFields: [][]string{{"meta.score", "date", "later"}, {"later"}}}
	var got bytes.Buffer
	for doc, err := range document.Read(t.Context(), []string{"a.jsonl", "b.csv", "c.txt"}, opts, nil) {
		must.Do(t, err)
		if doc.Line > 0 && doc.Modified != 0 || doc.Line == 0 && doc.Modified != when.UnixNano() {
			t.Errorf("%s: modified %d", doc.ID, doc.Modified)
		}
		for _, v := range doc.Values {
			if !v.Found {
				v.Text = "none"
			}
			got.WriteString(v.Text + " ")
		}
		got.WriteString("| ")
	}
	if got.String() != "1.50 none | d none | 7 7 | none none | 2 1 | 3 3 | none none | | " {
		t.Error(got.String())
	}
}
