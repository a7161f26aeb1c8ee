package document

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ndd/engine/oracle/must"
)

// TestBinaryIsNamed: a file that is no text is said to be what it is.
func TestBinaryIsNamed(t *testing.T) {
	tar := make([]byte, 512)
	copy(tar, "pages/a.html")
	copy(tar[257:], "ustar")
	for begin, want := range map[string]string{
		"%PDF-1.7 and so on": "a PDF document", "\x89PNG\r\n": "a PNG image", "PK\x03\x04word/document.xml": "a ZIP archive",
		"\x7fELF\x02\x01\x01": "a program", "Rar!\x1a\x07": "a RAR archive", string(tar): "a tar archive",
		"nddhead\n\x01\x00": "a file that ndd wrote", "nothing\x00known": "it has zero bytes",
		"SQLite format 3\x00": "an SQLite database",
	} {
		path := filepath.Join(t.TempDir(), "file")
		must.Do(t, os.WriteFile(path, []byte(begin), 0o644))
		for _, err := range Read(context.Background(), []string{path}, Options{}, nil) {
			skip, ok := errors.AsType[*Skip](err)
			if !ok || skip.Reason != Unreadable || !errors.Is(err, ErrBinary) || !strings.Contains(err.Error(),
				"binary: "+want) {
				t.Errorf("%q: %v, want %s", begin, err, want)
			}
		}
		for doc, err := range Read(context.Background(), []string{path}, Options{Format: Text}, nil) {
			if err != nil || doc.Text == "" {
				t.Errorf("%q as text: %v", begin, err)
			}
		}
	}
}

// TestNoID: a record without the field that the options name for IDs is marked.
func TestNoID(t *testing.T) {
	for _, c := range []struct {
		field, name, content string
		want                 []bool
	}{
		{"key", "a.jsonl", `{"text":"one","key":"x"}` + "\n" + `{"text":"two"}` + "\n", []bool{false, true}},
		{"", "a.jsonl", `{"text":"one"}` + "\n", []bool{false}},
		{"key", "a.csv", "text,id\none,x\n", []bool{true}},
		{"key", "a.txt", "one\n", []bool{false}},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		must.Do(t, os.WriteFile(path, []byte(c.content), 0o644))
		var got []bool
		for doc, err := range Read(context.Background(), []string{path}, Options{IDField: c.field}, nil) {
			must.Do(t, err)
			got = append(got, doc.NoID)
		}
		if len(got) != len(c.want) || got[0] != c.want[0] || got[len(got)-1] != c.want[len(got)-1] {
			t.Errorf("%s, field %q: %v, want %v", c.name, c.field, got, c.want)
		}
	}
}

// TestNameless: a column without a name, as data frames write their index, is neither the ID nor the text.
func TestNameless(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.csv")
	must.Do(t, os.WriteFile(path, []byte(",text\n7,one\n8,two\n"), 0o644))
	var ids []string
	for doc, err := range Read(t.Context(), []string{path}, Options{}, nil) {
		must.Do(t, err)
		ids = append(ids, strings.TrimPrefix(doc.ID, path))
	}
	if len(ids) != 2 || ids[0] == "7" || ids[0] == ids[1] {
		t.Errorf("IDs %q", ids)
	}
	must.Do(t, os.WriteFile(path, []byte(",other\n7,one\n"), 0o644))
	for doc, err := range Read(t.Context(), []string{path}, Options{}, nil) {
		if fields, ok := errors.AsType[*FieldError](err); !ok {
			t.Errorf("no text: %+v, %v", doc, fields)
		}
	}
}
