package dedup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/oracle/must"
)

func pack(t *testing.T, name, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch filepath.Ext(name) {
	case ".gz":
		w = gzip.NewWriter(&b)
	case ".zst":
		z, err := zstd.NewWriter(&b)
		must.Do(t, err)
		w = z
	default:
		return []byte(content)
	}
	if _, err := io.WriteString(w, content); err != nil {
		t.Fatal(err)
	}
	must.Do(t, w.Close())
	return b.Bytes()
}

// unpacked returns files without their compression.
func unpacked(t *testing.T, files map[string]string) map[string]string {
	t.Helper()
	plain := map[string]string{}
	for name, content := range files {
		var r io.Reader = strings.NewReader(content)
		switch filepath.Ext(name) {
		case ".gz":
			z, err := gzip.NewReader(r)
			must.Do(t, err)
			r = z
		case ".zst":
			z, err := zstd.NewReader(r)
			must.Do(t, err)
			defer z.Close()
			r = z
		}
		b, err := io.ReadAll(r)
		must.Do(t, err)
		plain[name] = string(b)
	}
	return plain
}

func TestCopy(t *testing.T) {
	lineA, lineB := `{"text":"`+rivers+`"}`, `  {"id":7, "text":"`+bread+`"} `
	odd := "\xef\xbb\xbf" + lineA + "\r\n\nbroken\n{\"text\":\"few\"}\n" // kept as it is where a stays
	files := map[string]string{
		"in/1/one.jsonl":      odd + lineB + "\n" + lineB + "\n" + lineB,
		"in/1/two.jsonl.gz":   lineA + "\n" + `{"text":"few"}` + "\n",
		"in/2/one.jsonl.zst":  lineB + "\n" + lineB,
		"in/2/table.csv":      "id,text\n1,\"" + rivers + "\"\n\n2,few\n3,\"" + bread + "\"\n",
		"in/2/empty.jsonl":    "",
		"in/3/a.txt":          rivers,
		"in/3/c.txt.gz":       "The wind over the pass is cold in the evening and the goats come down before it does",
		"in/3/few.txt":        "few",
		"in/3/picture.bin":    "\x00\x01",
		"in/3/.hidden":        rivers,
		"in/3/with space.txt": "The wind over the pass is cold in the evening and the goats come down before it does",
	}
	want := map[string]string{
		"1/one.jsonl":     odd + lineB + "\n",
		"1/two.jsonl.gz":  "",
		"2/one.jsonl.zst": "",
		"2/table.csv":     "id,text\n",
		"2/empty.jsonl":   "",
		"3/c.txt.gz":      files["in/3/c.txt.gz"],
		"3/picture.bin":   "\x00\x01", // not judged
	}
	t.Chdir(t.TempDir())
	for name, content := range files {
		write(t, map[string][]byte{name: pack(t, name, content)})
	}
	inputs := []string{"in/1/one.jsonl", "in/1/two.jsonl.gz", "in/2", "in/3"}
	c, _, err := ReadDocuments(t.Context(), inputs, ingest.Config{}, ReadOptions{})
	must.Do(t, err)
	r := found(t, c, Options{K: 3})
	got, _ := copied(t, r)
	if d := cmp.Diff(want, unpacked(t, got)); d != "" {
		t.Error(d)
	}
	if again, _ := copied(t, r); !maps.Equal(got, again) {
		t.Error("copies differ from run to run")
	}
	// The copies have no near-duplicates any more.
	t.Chdir(t.TempDir())
	write(t, got)
	if r := found(t, read(t, ".", ingest.Config{}, ReadOptions{}), Options{K: 3}); r.Len() != 0 {
		t.Errorf("%d clusters are left", r.Len())
	}
}

// TestCopyWARC: records go, and those that stay are compressed each by itself, as they were.
func TestCopyWARC(t *testing.T) {
	record := func(kind, uri, date, text string) string {
		block := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + text
		return fmt.Sprintf("WARC/1.0\r\nWARC-Type: %s\r\nWARC-Target-URI: %s\r\nWARC-Date: %s\r\n"+
			"Content-Length: %d\r\n\r\n%s\r\n\r\n", kind, uri, date, len(block), block)
	}
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
	few2, few3 := record("response", "few", "", "few, too"), record("response", "few", "", "few as well")
	t.Chdir(t.TempDir())
	var packed []byte
	for _, r := range records {
		packed = append(packed, pack(t, "a.warc.gz", r)...)
	}
	torn := strings.Replace(records[6], "Content-Length: ", "Content-Length: 9", 1) + "garbage\n"
	write(t, map[string][]byte{"in/a.warc.gz": packed, "in/b.warc": []byte(strings.Join(records[:2], "")),
		"in/c.warc": []byte(records[0] + torn + records[4] + few2),
		"in/d.warc.gz": slices.Concat(pack(t, "d.warc.gz", records[1]), pack(t, "d.warc.gz", torn),
			pack(t, "d.warc.gz", few3))})
	c := read(t, "in", ingest.Config{}, ReadOptions{Keep: Keep{{Policy: Newest}}})
	got, _ := copied(t, found(t, c, Options{K: 3, Verify: &Verify{Rule: Rule{{Jaccard: 0.9}}}}))
	if len(got) != 4 || got["b.warc"] != records[1] || got["c.warc"] != torn+few2 {
		t.Fatalf("%q", got)
	}
	if members := membersOf(t, []byte(got["d.warc.gz"])); !slices.Equal(members, []string{records[1], torn, few3}) {
		t.Errorf("members %q", members)
	}
	if members := membersOf(t, []byte(got["a.warc.gz"])); !slices.Equal(members, want) {
		t.Errorf("members %q, want %q", members, want)
	}
}

func TestCopies(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, map[string]string{"a.jsonl": "", "d/a.jsonl": "", "d/e/b.jsonl": "", "f/a.jsonl": ""})
	must.Do(t, os.Symlink("d", "link"))
	for _, c := range []struct {
		inputs []string
		root   string // "" where there must be an error
		says   string // of the error
	}{
		{[]string{"a.jsonl"}, ".", ""},
		{[]string{"d/a.jsonl", "f/a.jsonl"}, ".", ""},
		{[]string{"d/a.jsonl", "d/e"}, "d", ""},
		{[]string{"*/a.jsonl"}, "", "named twice"}, // d and link
		{[]string{"a.jsonl", "./a.jsonl"}, "", "named twice"},
		{[]string{"d", "d/e"}, "", "named twice"},
		{[]string{"d/a.jsonl"}, "d", ""},
		{[]string{"-"}, "", "has no name to be copied to"},
		{[]string{"none"}, "", "none"},
		{[]string{"d"}, "d", ""},
	} {
		names, err := NewCopies(t.Context(), c.inputs)
		if c.root == "" || err != nil {
			if c.root != "" || err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v: %v, want an error with %q, or below %q", c.inputs, err, c.says, c.root)
			}
			continue
		}
		if want, err := locate(c.root); err != nil || names.root != want {
			t.Errorf("%v: below %s, want %s", c.inputs, names.root, c.root)
		}
	}
}

// TestCopyChanged: a document that is dropped, and one that is kept for it, must be what they were, also where
// the length is the same.
func TestCopyChanged(t *testing.T) {
	t.Chdir(t.TempDir())
	lines := []string{`{"id":1,"text":"` + rivers + `"}`, `{"id":2,"text":"` + rivers + `"}`, `{"id":3,"text":"` + bread + `"}`}
	for i, changed := range []string{"in.jsonl:1:", "in.jsonl:2:", ""} {
		write(t, map[string]string{"in.jsonl": strings.Join(lines, "\n")})
		r := found(t, read(t, "in.jsonl", ingest.Config{}, ReadOptions{}), Options{K: 3})
		other := slices.Clone(lines)
		other[i] = strings.Replace(other[i], "e ", "x ", 1)
		write(t, map[string]string{"in.jsonl": strings.Join(other, "\n")})
		for _, copy := range []func(context.Context, *Copies) (CopyReport, error){r.Copy, r.Annotate} {
			_, err := copy(t.Context(), copiesOf(t, map[string]string{}, "in.jsonl"))
			if _, is := errors.AsType[*ingest.ChangedError](err); is != (changed != "") ||
				is && !strings.HasPrefix(err.Error(), changed) {
				t.Errorf("document %d changed: %v", i+1, err)
			}
		}
	}
}

// TestCopyRepacked: what bzip2 and xz compressed is copied by zstd, under a name that says so,
// unless it stays whole; two files never get one name.
func TestCopyRepacked(t *testing.T) {
	files := map[string][]byte{}
	for ending, name := range map[string]string{"bz2": "in/a.jsonl.bz2", "xz": "in/b.jsonl.xz"} {
		raw, err := os.ReadFile("testdata/twice.jsonl." + ending)
		must.Do(t, err)
		files[name] = raw
	}
	t.Chdir(t.TempDir())
	write(t, files)
	names := copiesOf(t, nil, "in")
	c := read(t, "in", ingest.Config{}, ReadOptions{})
	got, report := copied(t, found(t, c, Options{K: 0}))
	want := map[string]string{"a.jsonl.zst": `{"id":1,"text":"` + rivers + "\"}\n", "b.jsonl.zst": ""}
	if got := unpacked(t, got); !maps.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if want := []string{"in/a.jsonl.bz2", "in/b.jsonl.xz"}; !slices.Equal(report.Repacked, want) ||
		!names.names["a.jsonl.zst"] {
		t.Errorf("%q, want %q", report.Repacked, want)
	}
	write(t, map[string]string{"in/a.jsonl.zst": ""})
	if _, err := NewCopies(t.Context(), []string{"in"}); err == nil ||
		!strings.Contains(err.Error(), "would have the name of another's") && !strings.Contains(err.Error(), "named twice") {
		t.Error(err)
	}
}

// TestCopyJSON: what is no document stays in a JSON file, wherever it stands beside what goes: a
// number, a string, a document that is too long to be compared.
func TestCopyJSON(t *testing.T) {
	const a, b = `{"text":"` + rivers + `"}`, `{"text":"` + bread + `"}`
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
		write(t, map[string]string{"in.json": c.in})
		cfg := ingest.Config{Document: document.Options{Format: document.JSON, MaxDocumentBytes: 200}}
		got, _ := copied(t, found(t, read(t, "in.json", cfg, ReadOptions{}), Options{K: 3}))
		if got["in.json"] != c.want {
			t.Errorf("of %s:\n%s, want\n%s", c.in, got["in.json"], c.want)
		}
	}
}

// TestCopyErrors: a list of which nothing stays is an empty one; an error of writing is reported as that of
// the copy, also where much of the file has not been read.
func TestCopyErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	const a = `{"text":"` + rivers + `"}`
	var long strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&long, "{\"text\":\"line %d of %d\"}\n", i, i*i)
	}
	write(t, map[string]string{"in/a.json": "[" + a + "]", "in/b.json": " [ " + a + " , " + a + " ]\n",
		"in/c.jsonl": long.String()})
	r := found(t, read(t, "in", ingest.Config{}, ReadOptions{}), Options{K: 0})
	got, _ := copied(t, r)
	if got["a.json"] != "["+a+"]" || got["b.json"] != " [  ]\n" || got["c.jsonl"] != long.String() {
		t.Errorf("%q, %q, %d bytes", got["a.json"], got["b.json"], len(got["c.jsonl"]))
	}
	full, copies := errors.New("full"), copiesOf(t, nil, "in")
	copies.Create = func(name string, fill func(io.Writer) error) error {
		if name == "c.jsonl" {
			return fill(failing{full})
		}
		return fill(io.Discard)
	}
	_, err := r.Copy(t.Context(), copies)
	if !errors.Is(err, full) || err.Error() != "copying "+filepath.Join("in", "c.jsonl")+": full" {
		t.Error(err)
	}
}

// TestChanged: a file that has another line, or is new or gone, since it was read is named by the error
// of both readings that follow.
func TestChanged(t *testing.T) {
	line := func(n int) string {
		return fmt.Sprintf("{\"id\":%d,\"text\":\"line %d, of some more words than are too few for a fingerprint\"}\n",
			n, n/2)
	}
	for _, test := range []struct{ file, text string }{
		{"in/a.jsonl", line(0) + line(1) + line(3)},
		{"in/a.jsonl", line(0)},
		{"in/a.jsonl", line(1)},
		{"in/a.jsonl", line(7) + line(0) + line(1)},
		{"in/a.jsonl", strings.ReplaceAll(line(0)+line(1), `"id":`, `"id":1`)},
		{"in/a.jsonl", strings.ReplaceAll(line(0)+line(1), "more", "many more")},
		{"in/a.jsonl", strings.ReplaceAll(line(0)+line(1), "{", "")}, // broken
		{"in/aa.jsonl", line(7)},                                     // new
		{"in/c.jsonl", line(7)},                                      // new
		{"in/a.jsonl", ""},                                           // gone
		{"in/b.jsonl", ""},                                           // gone
	} {
		t.Run(fmt.Sprint(test.file, " of ", test.text), func(t *testing.T) {
			t.Chdir(t.TempDir())
			write(t, map[string]string{"in/a.jsonl": line(0) + line(1), "in/b.jsonl": line(4) + line(5)})
			c := read(t, "in", ingest.Config{}, ReadOptions{})
			r := found(t, c, Options{K: 3})
			names := copiesOf(t, map[string]string{}, "in")
			if must.Do(t, os.RemoveAll(test.file)); test.text != "" {
				write(t, map[string]string{test.file: test.text})
			}
			_, copied := r.Copy(t.Context(), names)
			_, compared := Find(t.Context(), c, Options{K: 3, Verify: &Verify{Rule: Rule{{Jaccard: 0.5}}}})
			named := test.file + ":"
			if strings.HasPrefix(test.text, `"`) {
				named = "in" // documents are missing, of some file
			}
			for _, err := range []error{copied, compared} {
				if err == nil || !strings.HasPrefix(err.Error(), named) || !strings.Contains(err.Error(), "changed") {
					t.Error(err)
				}
			}
		})
	}
}
