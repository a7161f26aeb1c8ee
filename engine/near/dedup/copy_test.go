package dedup

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/simhash"
	"ndd/engine/near/shingle"
)

func simhashOf(f uint64) simhash.Fingerprint { return simhash.Fingerprint(f) }

// into returns what puts copies into a map by name.
func into(copies map[string][]byte) Create {
	return func(name string, fill func(io.Writer) error) error {
		var b bytes.Buffer
		err := fill(&b)
		copies[filepath.ToSlash(name)] = b.Bytes()
		return err
	}
}

// copyAll is the copies by name.
func copyAll(ctx context.Context, r *Result, names *Copies) (map[string]string, error) {
	copies := map[string]string{}
	_, err := r.Copy(ctx, names, CopyOptions{}, func(name string, fill func(io.Writer) error) error {
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
		"3/picture.bin":   "\x00\x01", // not judged
	}
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

// TestCopyWARC: records go, and those that stay are compressed each by itself, as they were.
func TestCopyWARC(t *testing.T) {
	record := func(kind, uri, date, text string) string {
		block := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + text
		return fmt.Sprintf("WARC/1.0\r\nWARC-Type: %s\r\nWARC-Target-URI: %s\r\nWARC-Date: %s\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
			kind, uri, date, len(block), block)
	}
	const rivers = "Rivers carry stones from the mountains to the plain, and the further they carry them the smaller they become"
	records := []string{
		record("response", "old", "2023-01-01T00:00:00Z", rivers), // goes
		record("warcinfo", "", "", "made by a test"),
		record("request", "new", "", "GET /"),
		record("response", "new", "2024-01-01T00:00:00Z", rivers),
		record("response", "older", "2022-01-01T00:00:00Z", rivers), // goes
		record("response", "few", "", "few"),
		record("metadata", "few", "", "of few"),
	}
	want := []string{records[1], records[2], records[3], records[5], records[6]}
	t.Chdir(t.TempDir())
	var packed []byte
	for _, r := range records {
		packed = append(packed, pack(t, "a.warc.gz", r)...)
	}
	for name, content := range map[string][]byte{"in/a.warc.gz": packed, "in/b.warc": []byte(strings.Join(records[:2], ""))} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	names, err := NewCopies(t.Context(), []string{"in"}, "out")
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := ReadDocuments(t.Context(), []string{"in"}, ingest.Config{}, ReadOptions{Keep: Keep{Policy: Newest}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Find(t.Context(), c, Options{K: 3, Verify: &Verify{Jaccard: 0.9, Shingles: shingle.Options{Words: 3, Chars: 5}}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := copyAll(t.Context(), r, names)
	if err != nil || len(got) != 2 || got["b.warc"] != records[1] {
		t.Fatalf("%q, %v", got, err)
	}
	in := strings.NewReader(got["a.warc.gz"])
	z, err := gzip.NewReader(in)
	for i := 0; err == nil && i < len(want); i++ {
		z.Multistream(false)
		member, err := io.ReadAll(z)
		if err != nil || string(member) != want[i] {
			t.Errorf("member %d is %q, want %q; %v", i, member, want[i], err)
		}
		if err := z.Reset(in); err != nil && (err != io.EOF || i != len(want)-1) {
			t.Fatalf("after member %d: %v", i, err)
		}
	}
	if err != nil || in.Len() > 0 {
		t.Errorf("%d bytes more, %v", in.Len(), err)
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
		root   string // "" where there must be an error
		says   string // of the error
	}{
		{[]string{"a.jsonl"}, "out", ".", ""},
		{[]string{"d/a.jsonl"}, "out", "d", ""},
		{[]string{"d"}, "out", "d", ""},
		{[]string{"d/a.jsonl", "f/a.jsonl"}, "out", ".", ""},
		{[]string{"d/a.jsonl", "d/e"}, "out", "d", ""},
		{[]string{"*/a.jsonl"}, "out", "", "named twice"}, // d and link
		{[]string{"a.jsonl", "./a.jsonl"}, "out", "", "named twice"},
		{[]string{"d", "d/e"}, "out", "", "named twice"},
		{[]string{"d"}, "d/out", "", "lies in the input"},
		{[]string{"link"}, "d/e/out", "", "lies in the input"},
		{[]string{"d"}, "link/out", "", "lies in the input"},
		{[]string{"d/a.jsonl"}, "d/out", "d", ""},
		{[]string{"-"}, "out", "", "has no name to be copied to"},
		{[]string{"none"}, "out", "", "none"},
		{[]string{"d"}, "none/out", "", "none"},
	} {
		names, err := NewCopies(t.Context(), c.inputs, c.dir)
		if c.root == "" || err != nil {
			if c.root != "" || err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v to %s: %v, want an error with %q, or below %q", c.inputs, c.dir, err, c.says, c.root)
			}
			continue
		}
		if want, err := real(c.root); err != nil || names.root != want {
			t.Errorf("%v: below %s, want %s", c.inputs, names.root, c.root)
		}
	}
}

// TestCopyRepacked: what bzip2 and xz compressed is copied by zstd, under a name that says so, unless it stays whole; two files never get one name.
func TestCopyRepacked(t *testing.T) {
	const (
		bzip = "QlpoOTFBWSZTWZJIGMsAAH1bgAAQUAQwEBAAP2ffajAAuAoAAAAAUAAAAACqgqb1T2Uj9KfpQ9T8qPKdvR0yii3Em76copslGlG7tZZpjFGENLLuHJFCyzTQoykqi6UWTKkg8tGn8qmyu5SVbvCaTp5ZcJOGyx0sSbNkJMKHaTCaDwihddZdVCh22f4u5IpwoSEkkDGW"
		xz   = "/Td6WFoAAATm1rRGAgAhARYAAAB0L+Wj4AD9AGldAD2IiSaBk1Ox5jXSonxX7+2V3Sz5GOeD7dTtcWhVebMwEHpmVJ1mzmbJ/qV5lVBpgZmYcU7aDyoijKWFxN4a1oC9xBCdRBI4dMVdQCeh9hL1uiTUd6P05ZutHpjMIWGjAJzOa9ZMebQAAAAAAABA8T3BXXKKyQABhQH+AQAApXMz17HEZ/sCAAAAAARZWg=="
		line = `{"id":1,"text":"Rivers carry stones from the mountains to the plain, and the further they carry them the smaller they become"}` + "\n"
	)
	t.Chdir(t.TempDir())
	if err := os.Mkdir("in", 0o755); err != nil {
		t.Fatal(err)
	}
	for name, coded := range map[string]string{"in/a.jsonl.bz2": bzip, "in/b.jsonl.xz": xz} {
		raw, err := base64.StdEncoding.DecodeString(coded)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, raw, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	names, err := NewCopies(t.Context(), []string{"in"}, "out")
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := ReadDocuments(t.Context(), []string{"in"}, ingest.Config{}, ReadOptions{})
	if err != nil || c.Len() != 4 {
		t.Fatal(err, c.Len())
	}
	r, err := Find(t.Context(), c, Options{K: 0})
	if err != nil {
		t.Fatal(err)
	}
	copies := map[string][]byte{}
	report, err := r.Copy(t.Context(), names, CopyOptions{}, into(copies))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for name, raw := range copies {
		got[name] = unpack(t, name, string(raw))
	}
	if want := map[string]string{"a.jsonl.zst": line, "b.jsonl.zst": ""}; !maps.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if want := []string{"in/a.jsonl.bz2", "in/b.jsonl.xz"}; !slices.Equal(report.Repacked, want) || !names.Has("a.jsonl.zst") {
		t.Errorf("%q, want %q", report.Repacked, want)
	}
	if err := os.WriteFile("in/a.jsonl.zst", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := NewCopies(t.Context(), []string{"in"}, "out"); err == nil || !strings.Contains(err.Error(), "would have the name of another's") && !strings.Contains(err.Error(), "named twice") {
		t.Error(err)
	}
}

// TestCopyJSON: what is no document stays in a JSON file, wherever it stands beside what goes: a number, a string, a document that
// is too long to be compared.
func TestCopyJSON(t *testing.T) {
	const a = `{"text":"Rivers carry stones from the mountains to the plain, and the further they carry them the smaller they become"}`
	const b = `{"text":"Bread needs four things: flour, water, salt and time, and the last is what most bakers are short of"}`
	long := `{"text":"` + strings.Repeat("long ", 100) + `"}`
	for _, c := range []struct{ in, want string }{
		{"[" + a + ", " + a + ", 5, " + b + "]", "[" + a + ", 5, " + b + "]"},
		{"[" + a + ", 5, " + a + ", " + b + "]", "[" + a + ", 5, " + b + "]"},
		{"[" + a + ", " + b + ", " + a + ", 5]", "[" + a + ", " + b + ", 5]"},
		{"[" + a + ", \"x\", " + a + "]", "[" + a + ", \"x\"]"},
		{"[" + a + ", " + a + ", " + long + ", " + a + "]", "[" + a + ", " + long + "]"},
		{a + "\n" + a + " " + long + "\n" + b + "\n" + b, a + "\n" + long + "\n" + b},
	} {
		t.Chdir(t.TempDir())
		if err := os.WriteFile("in.json", []byte(c.in), 0o644); err != nil {
			t.Fatal(err)
		}
		names, err := NewCopies(t.Context(), []string{"in.json"}, "out")
		if err != nil {
			t.Fatal(err)
		}
		read := ingest.Config{Document: document.Options{Format: document.JSON, MaxDocumentBytes: 200}}
		corpus, _, err := ReadDocuments(t.Context(), []string{"in.json"}, read, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := Find(t.Context(), corpus, Options{K: 3})
		if err != nil {
			t.Fatal(err)
		}
		got, err := copyAll(t.Context(), r, names)
		if err != nil || got["in.json"] != c.want {
			t.Errorf("of %s:\n%s, want\n%s; %v", c.in, got["in.json"], c.want, err)
		}
	}
}
