package document

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

	"github.com/google/go-cmp/cmp"

	"ndd/engine/oracle/must"
)

// values returns the texts of a JSON file, and whether all of it was read.
func values(t *testing.T, in string) (texts []string, whole bool) {
	t.Helper()
	whole = true
	for doc, err := range Read(t.Context(), []string{Stdin}, Options{Format: JSON, TextField: "text"},
		iotest.OneByteReader(strings.NewReader(in))) {
		if err != nil {
			whole = false
			continue
		}
		texts = append(texts, doc.Text)
	}
	return texts, whole
}

// FuzzJSONValues: an array or a sequence of objects that encoding/json reads is read alike, and
// nothing panics.
func FuzzJSONValues(f *testing.F) {
	for _, seed := range []string{`[{"text":"a"},{"text":"b"}]`, "{\"text\":\n\"a}\\\"\"} {\"text\":\"[\"}",
		`[1,"x",[{}],{"text":"a"}`, "[]", "", "{", `[{"text":"a"}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		got, _ := values(t, in)
		var want []string
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

// TestJSONLines: values are counted by the lines that they begin in, whatever the reads, and long
// ones pass over buffers.
func TestJSONLines(t *testing.T) {
	long := strings.Repeat("x", 3*diskBufferBytes)
	in := "[\n\n{\"text\": \"" + long + "\"},\n {\n\"text\": \"b\"}\n]"
	n := 0
	for doc, err := range Read(t.Context(), []string{Stdin}, Options{}, strings.NewReader(in)) {
		n++
		if err != nil || doc.Line != []int{3, 4}[n-1] || len(doc.Text) != []int{len(long), 1}[n-1] {
			t.Fatalf("%d: line %d, %d bytes, %v", n, doc.Line, len(doc.Text), err)
		}
	}
	if n != 2 {
		t.Fatalf("%d documents", n)
	}
}

// TestFirstLineIsBroken: a line that is no object says nothing on the fields of those behind it.
func TestFirstLineIsBroken(t *testing.T) {
	for _, first := range []string{"{\"content\": \"cut of", "[1]", "null"} {
		in := first + "\n" + `{"url": "a", "content": "one"}` + "\n" + `{"url": "b", "content": "two"}` + "\n"
		var got []string
		chosen := 0
		o := Options{Format: JSONL, Chosen: func(string, Fields) { chosen++ }}
		for doc, err := range Read(t.Context(), []string{Stdin}, o, strings.NewReader(in)) {
			if skip, ok := errors.AsType[*Skip](err); ok {
				got = append(got, string(skip.Reason))
				continue
			}
			must.Do(t, err)
			got = append(got, doc.ID+" "+doc.Text)
		}
		if diff := cmp.Diff([]string{"broken", "a one", "b two"}, got); diff != "" || chosen != 1 {
			t.Errorf("%s: told %d times of the fields; %s", first, chosen, diff)
		}
	}
}

// TestBrokenReader: of CSV as of lines, what cannot be read any more ends the reading, and is no
// damage of the content.
func TestBrokenReader(t *testing.T) {
	cause := errors.New("the network is gone")
	for _, format := range []Format{CSV, JSONL, Lines, JSON} {
		start := map[Format]string{CSV: "text\none\n", JSON: `[{"text":"one"},`}[format]
		in := io.MultiReader(strings.NewReader(start), iotest.ErrReader(cause))
		var last error
		for _, err := range Read(t.Context(), []string{Stdin}, Options{Format: format}, in) {
			last = err
		}
		if _, skipped := errors.AsType[*Skip](last); skipped || !errors.Is(last, cause) {
			t.Errorf("%s: %v", format, last)
		}
	}
}
