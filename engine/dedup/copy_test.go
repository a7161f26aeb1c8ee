package dedup

import (
	"bytes"
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"ndd/engine/ingest"
	"ndd/engine/simhash"
)

func simhashOf(f uint64) simhash.Fingerprint { return simhash.Fingerprint(f) }

// copyAll is the copies by name.
func copyAll(ctx context.Context, r *Result, names *Copies) (map[string]string, error) {
	copies := map[string]string{}
	err := r.Copy(ctx, names, nil, func(name string, fill func(io.Writer) error) error {
		var b bytes.Buffer
		err := fill(&b)
		copies[filepath.ToSlash(name)] = b.String()
		return err
	})
	return copies, err
}

func pack(t *testing.T, name, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch filepath.Ext(name) {
	case ".gz":
		w = gzip.NewWriter(&b)
	case ".zst":
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	default:
		return []byte(content)
	}
	if _, err := io.WriteString(w, content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func unpack(t *testing.T, name, content string) string {
	t.Helper()
	var r io.Reader = strings.NewReader(content)
	switch filepath.Ext(name) {
	case ".gz":
		z, err := gzip.NewReader(r)
		if err != nil {
			t.Fatal(err)
		}
		r = z
	case ".zst":
		z, err := zstd.NewReader(r)
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		r = z
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestCopy(t *testing.T) {
	const (
		a = "Rivers carry stones from the mountains to the plain, and the further they carry them the smaller they become"
		b = "Bread needs four things: flour, water, salt and time, and the last is what most bakers are short of"
	)
	lineA, lineB := `{"text":"`+a+`"}`, `  {"id":7, "text":"`+b+`"} `
	odd := "\xef\xbb\xbf" + lineA + "\r\n\nbroken\n{\"text\":\"few\"}\n" // kept as it is where a stays
	files := map[string]string{
		"in/1/one.jsonl":      odd + lineB + "\n" + lineB + "\n" + lineB,
		"in/1/two.jsonl.gz":   lineA + "\n" + `{"text":"few"}` + "\n",
		"in/2/one.jsonl.zst":  lineB + "\n" + lineB,
		"in/2/table.csv":      "id,text\n1,\"" + a + "\"\n\n2,few\n3,\"" + b + "\"\n",
		"in/2/empty.jsonl":    "",
		"in/3/a.txt":          a,
		"in/3/c.txt.gz":       "The wind over the pass is cold in the evening and the goats come down before it does",
		"in/3/few.txt":        "few",
		"in/3/picture.bin":    "\x00\x01",
		"in/3/.hidden":        a,
		"in/3/with space.txt": "The wind over the pass is cold in the evening and the goats come down before it does",
	}
	want := map[string]string{
		"1/one.jsonl":     odd + lineB + "\n",
		"1/two.jsonl.gz":  `{"text":"few"}` + "\n",
		"2/one.jsonl.zst": "",
		"2/table.csv":     "id,text\n\n2,few\n",
		"2/empty.jsonl":   "",
		"3/c.txt.gz":      files["in/3/c.txt.gz"],
		"3/few.txt":       "few",
	}
	want["2/table.csv"] = "id,text\n\n2,few\n"
	t.Chdir(t.TempDir())
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, pack(t, name, content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	inputs := []string{"in/1/one.jsonl", "in/1/two.jsonl.gz", "in/2", "in/3"}
	names, err := NewCopies(t.Context(), inputs, "out")
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := ReadDocuments(t.Context(), inputs, ingest.Config{}, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Find(t.Context(), c, Options{K: 3})
	if err != nil {
		t.Fatal(err)
	}
	got, err := copyAll(t.Context(), r, names)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range got {
		if plain := unpack(t, name, content); plain != want[name] {
			t.Errorf("%s: %q, want %q", name, plain, want[name])
		}
	}
	if g, w := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)); !slices.Equal(g, w) {
		t.Errorf("%q, want %q", g, w)
	}
	again, err := copyAll(t.Context(), r, names)
	if err != nil || !maps.Equal(got, again) {
		t.Error("copies differ from run to run", err)
	}
	// The copies have no near-duplicates any more.
	for name, content := range got {
		if err := os.MkdirAll(filepath.Join("out", filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("out", name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, _, err = ReadDocuments(t.Context(), []string{"out"}, ingest.Config{}, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := Find(t.Context(), c, Options{K: 3}); err != nil || r.Len() != 0 {
		t.Errorf("%d clusters are left, %v", r.Len(), err)
	}
}

func TestCopies(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a.jsonl", "d/a.jsonl", "d/e/b.jsonl", "f/a.jsonl"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("d", "link"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		inputs []string
		dir    string
		want   string // root, or what the error says
	}{
		{[]string{"a.jsonl"}, "out", "."},
		{[]string{"d/a.jsonl"}, "out", "d"},
		{[]string{"d"}, "out", "d"},
		{[]string{"d/a.jsonl", "f/a.jsonl"}, "out", "."},
		{[]string{"d/a.jsonl", "d/e"}, "out", "d"},
		{[]string{"*/a.jsonl"}, "out", "named twice"}, // d and link
		{[]string{"a.jsonl", "./a.jsonl"}, "out", "named twice"},
		{[]string{"d", "d/e"}, "out", "named twice"},
		{[]string{"d"}, "d/out", "lies in the input"},
		{[]string{"link"}, "d/e/out", "lies in the input"},
		{[]string{"d"}, "link/out", "lies in the input"},
		{[]string{"d/a.jsonl"}, "d/out", "d"},
		{[]string{"-"}, "out", "standard input"},
		{[]string{"none"}, "out", "none"},
		{[]string{"d"}, "none/out", "none"},
	} {
		names, err := NewCopies(t.Context(), c.inputs, c.dir)
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: %v, want %s", c.inputs, err, c.want)
			}
			continue
		}
		if want, err := real(c.want); err != nil || names.root != want {
			t.Errorf("%v: below %s, want %s", c.inputs, names.root, c.want)
		}
	}
}
