package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/oracle/must"
)

// FuzzJSONValues checks that an array or a sequence of objects is read as by encoding/json, and nothing panics.
func FuzzJSONValues(f *testing.F) {
	for _, seed := range []string{`[{"text":"a"},{"text":"b"}]`, "{\"text\":\n\"a}\\\"\"} {\"text\":\"[\"}",
		`[1,"x",[{}],{"text":"a"}`, "[]", "", "{", `[{"text":"a"}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		var got, want []string
		for doc, err := range Read(t.Context(), []string{input.Stdin}, Options{Format: JSON, TextField: "text"},
			iotest.OneByteReader(strings.NewReader(in))) {
			if err == nil {
				got = append(got, doc.Text)
			}
		}
		decoder := json.NewDecoder(bytes.NewReader([]byte(in)))
		if strings.HasPrefix(strings.TrimLeft(in, " \t\r\n"), "[") {
			var all []struct{ Text *string }
			if json.Unmarshal([]byte(in), &all) != nil {
				return
			}
			for _, v := range all {
				if v.Text != nil {
					want = append(want, *v.Text)
				}
			}
		} else {
			for decoder.More() {
				var v struct{ Text *string }
				if decoder.Decode(&v) != nil {
					return
				}
				if v.Text != nil {
					want = append(want, *v.Text)
				}
			}
		}
		if !utf8.ValidString(in) {
			return // a text that is not UTF-8 is refused
		}
		if strings.Contains(strings.ToLower(in), `\u`) || strings.Count(strings.ToLower(in), `"text"`) != len(want) ||
			strings.Count(in, `"text"`) != len(want) {
			return // names that are written otherwise, or twice in an object, are read otherwise
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", in, got, want)
		}
	})
}

// TestJSONRows checks that the row of an object is its number, for any lines, also if an object is longer than the
// buffer.
func TestJSONRows(t *testing.T) {
	long := strings.Repeat("x", 400<<10)
	in := "[\n\n{\"text\": \"" + long + "\"},\n {\n\"text\": \"b\"}, {\"text\": \"c\"}]"
	n := 0
	for doc, err := range Read(t.Context(), []string{input.Stdin}, Options{}, strings.NewReader(in)) {
		n++
		if err != nil || doc.Line != []int{1, 2, 3}[n-1] || len(doc.Text) != []int{len(long), 1, 1}[n-1] {
			t.Fatalf("%d: row %d, %d bytes, %v", n, doc.Line, len(doc.Text), err)
		}
	}
	if n != 3 {
		t.Fatalf("%d documents", n)
	}
}

// TestFirstLineIsBroken checks that a line that is no object does not influence the fields of the lines after it.
func TestFirstLineIsBroken(t *testing.T) {
	for _, first := range []string{"{\"content\": \"cut of", "[1]", "null"} {
		in := first + "\n" + `{"url": "a", "content": "one"}` + "\n" + `{"url": "b", "content": "two"}` + "\n"
		chosen := 0
		o := Options{Format: JSONL, Chosen: func(string, Fields) { chosen++ }}
		got, err := read(t, o, strings.NewReader(in), input.Stdin)
		if err != nil || len(got) != 3 || !strings.HasPrefix(got[0], "skip: -:1: broken: ") ||
			!slices.Equal(got[1:], []string{"a: one", "b: two"}) || chosen != 1 {
			t.Errorf("%s: told %d times of the fields; %q, %v", first, chosen, got, err)
		}
	}
}

// TestBrokenReader checks that in CSV and in lines, a read error ends the reading and does not count as damage of the
// content.
func TestBrokenReader(t *testing.T) {
	cause := errors.New("the network is gone")
	for _, format := range []Format{CSV, JSONL, Lines, JSON} {
		start := map[Format]string{CSV: "text\none\n", JSON: `[{"text":"one"},`}[format]
		in := io.MultiReader(strings.NewReader(start), iotest.ErrReader(cause))
		if got, err := read(t, Options{Format: format}, in, input.Stdin); !errors.Is(err, cause) {
			t.Errorf("%s: %q, %v", format, got, err)
		}
	}
}

// TestOwnText checks that an extracted document keeps its text when the next one is extracted. A borrowed document has
// the same text until then.
func TestOwnText(t *testing.T) {
	for _, f := range []Format{JSONL, JSON, Lines} {
		in := `{"text":"one\ttwo and so on"}` + "\n" + `{"text":"three\tfour"}` + "\n"
		opts := Options{Format: f}
		owner, borrower := NewExtractor(t.Context(), opts), NewExtractor(t.Context(), opts)
		var owned []Document
		var want []string
		for unit, err := range Scan(t.Context(), []string{input.Stdin}, opts, strings.NewReader(in)) {
			must.Do(t, err)
			lent, err := borrower.Borrow(unit)
			must.Do(t, err)
			want = append(want, strings.Clone(lent.Text))
			doc, err := owner.Extract(unit)
			must.Do(t, err)
			owned = append(owned, doc)
			clear(unit.raw) // bytes that lines share with their neighbours belong to no document
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
