package document

import (
	"strings"
	"testing"

	"ndd/engine/oracle/must"
)

// TestOwnText: a document that was extracted keeps its text when the next one is; a borrowed one
// has the same text, until then.
func TestOwnText(t *testing.T) {
	for _, f := range []Format{JSONL, JSON, Lines} {
		input := `{"text":"one\ttwo and so on"}` + "\n" + `{"text":"three\tfour"}` + "\n"
		opts := Options{Format: f}
		owner, borrower := NewExtractor(opts), NewExtractor(opts)
		var owned []Document
		var want []string
		for unit, err := range Scan(t.Context(), []string{Stdin}, opts, strings.NewReader(input)) {
			must.Do(t, err)
			lent, err := borrower.Borrow(unit)
			must.Do(t, err)
			want = append(want, strings.Clone(lent.Text))
			doc, err := owner.Extract(unit)
			must.Do(t, err)
			owned = append(owned, doc)
			clear(unit.raw) // what lines share with their neighbours is no document's
		}
		if len(owned) != 2 {
			t.Fatalf("%s: %d documents, want 2", f, len(owned))
		}
		for i, doc := range owned {
			if doc.Text != want[i] || strings.Trim(doc.Text, "\x00") == "" {
				t.Errorf("%s: document %d has text %q when the other one is extracted, want %q", f, i, doc.Text, want[i])
			}
		}
	}
}
