package document_test

import (
	"bytes"
	"os"
	"testing"
	"time"

	"ndd/engine/corpus/document"
	"ndd/engine/oracle/must"
)

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
