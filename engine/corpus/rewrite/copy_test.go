package rewrite

import (
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

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/oracle/files"
	"example.org/ndd/engine/oracle/must"
)

func TestCopy(t *testing.T) {
	lineA, lineB := `{"text":"`+rivers+`"}`, `  {"id":7, "text":"`+bread+`"} `
	odd := "\xef\xbb\xbf" + lineA + "\r\n\nbroken\n{\"text\":\"few\"}\n" // unchanged if a is kept
	all := map[string]string{
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
		"3/c.txt.gz":      all["in/3/c.txt.gz"],
		"3/picture.bin":   "\x00\x01", // a binary file is not judged
	}
	t.Chdir(t.TempDir())
	for name, content := range all {
		files.Write(t, map[string]string{name: files.Pack(t, name, content)})
	}
	inputs := []string{"in/1/one.jsonl", "in/1/two.jsonl.gz", "in/2", "in/3"}
	got, _ := copied(t, equalTexts(format.Options{}, inputs...))
	if d := cmp.Diff(want, files.Unpack(t, got)); d != "" {
		t.Error(d)
	}
	if again, _ := copied(t, equalTexts(format.Options{}, inputs...)); !maps.Equal(got, again) {
		t.Error("copies differ from run to run")
	}
}

// TestCopyWARC checks that records are removed, and each kept record is compressed separately, as in the input.
func TestCopyWARC(t *testing.T) {
	record := func(kind, uri, date, text string) string {
		block := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + text
		return fmt.Sprintf("WARC/1.0\r\nWARC-Type: %s\r\nWARC-Target-URI: %s\r\nWARC-Date: %s\r\n"+
			"Content-Length: %d\r\n\r\n%s\r\n\r\n", kind, uri, date, len(block), block)
	}
	records := []string{
		record("response", "old", "2023-01-01T00:00:00Z", rivers), // removed
		record("warcinfo", "", "", "made by a test"),
		record("request", "new", "", "GET /"),
		record("response", "new", "2024-01-01T00:00:00Z", rivers),
		record("response", "older", "2022-01-01T00:00:00Z", rivers), // removed
		record("response", "few", "", "few"),
		record("metadata", "few", "", "of few"),
	}
	want := []string{records[1], records[2], records[3], records[5], records[6]}
	few2, few3 := record("response", "few", "", "few, too"), record("response", "few", "", "few as well")
	t.Chdir(t.TempDir())
	var packed string
	for _, r := range records {
		packed += files.Pack(t, "a.warc.gz", r)
	}
	torn := strings.Replace(records[6], "Content-Length: ", "Content-Length: 9", 1) + "garbage\n"
	files.Write(t, map[string]string{"in/a.warc.gz": packed, "in/b.warc": strings.Join(records[:2], ""),
		"in/c.warc": records[0] + torn + records[4] + few2,
		"in/d.warc.gz": files.Pack(t, "d.warc.gz", records[1]) + files.Pack(t, "d.warc.gz", torn) +
			files.Pack(t, "d.warc.gz", few3)})
	j := &Job{Inputs: []string{"in"}, Threads: 2, Judge: func(input.File, int, int) Judge {
		return Judge{Unit: func(x *format.Extractor, u format.Unit) (v Verdict, err error) {
			doc, err := x.Extract(u)
			return Verdict{Drop: err == nil && strings.HasPrefix(doc.ID, "old")}, nil
		}}
	}}
	got, _ := copied(t, j)
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

// TestCopyJSON checks that a value that is no document stays in a JSON file, wherever it is next to a dropped value: a
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
		files.Write(t, map[string]string{"in.json": c.in})
		got, _ := copied(t, equalTexts(format.Options{Format: format.JSON, MaxDocumentBytes: 200}, "in.json"))
		if got["in.json"] != c.want {
			t.Errorf("of %s:\n%s, want\n%s", c.in, got["in.json"], c.want)
		}
	}
}

// TestCopyErrors checks that the copy of a list that loses all entries is an empty list. A write error is reported as
// an error of the copy, even if a large part of the file has not been read.
func TestCopyErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	const a = `{"text":"` + rivers + `"}`
	var long strings.Builder
	for i := range 60_000 {
		fmt.Fprintf(&long, "{\"text\":\"line %d of %d\"}\n", i, i*i)
	}
	files.Write(t, map[string]string{"in/a.json": "[" + a + "]", "in/b.json": " [ " + a + " , " + a + " ]\n",
		"in/c.jsonl": long.String()})
	got, _ := copied(t, equalTexts(format.Options{}, "in"))
	if got["a.json"] != "["+a+"]" || got["b.json"] != " [  ]\n" || got["c.jsonl"] != long.String() {
		t.Errorf("%q, %q, %d bytes", got["a.json"], got["b.json"], len(got["c.jsonl"]))
	}
	full, copies := errors.New("full"), targetOf(t, nil, "in")
	copies.Create = func(name string, fill func(io.Writer) error) error {
		if name == "c.jsonl" {
			return fill(failingStream{full})
		}
		return fill(io.Discard)
	}
	_, err := equalTexts(format.Options{}, "in").Copy(t.Context(), copies)
	if !errors.Is(err, full) || err.Error() != "copying "+filepath.Join("in", "c.jsonl")+": full" {
		t.Error(err)
	}
}

// TestCopyRepacked checks that copies of bzip2 and xz files are compressed by zstd and have its extension, unless the
// whole file is kept. Two files never get the same name.
func TestCopyRepacked(t *testing.T) {
	all := map[string][]byte{}
	for ending, name := range map[string]string{"bz2": "in/a.jsonl.bz2", "xz": "in/b.jsonl.xz"} {
		raw, err := os.ReadFile("testdata/twice.jsonl." + ending)
		must.Do(t, err)
		all[name] = raw
	}
	t.Chdir(t.TempDir())
	files.Write(t, all)
	names := targetOf(t, nil, "in")
	got, report := copied(t, equalTexts(format.Options{}, "in"))
	want := map[string]string{"a.jsonl.zst": `{"id":1,"text":"` + rivers + "\"}\n", "b.jsonl.zst": ""}
	if got := files.Unpack(t, got); !maps.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if want := []string{"in/a.jsonl.bz2", "in/b.jsonl.xz"}; !slices.Equal(report.Repacked, want) ||
		!names.names["a.jsonl.zst"] {
		t.Errorf("%q, want %q", report.Repacked, want)
	}
	files.Write(t, map[string]string{"in/a.jsonl.zst": ""})
	if _, err := NewTarget(t.Context(), []string{"in"}); err == nil ||
		!strings.Contains(err.Error(), "would have the name of another's") && !strings.Contains(err.Error(), "named twice") {
		t.Error(err)
	}
	// The ending of a name need not show the compression.
	must.Do(t, os.Rename("in/a.jsonl.bz2", "in/a.jsonl"))
	job := equalTexts(format.Options{}, "in")
	if _, err := job.Copy(t.Context(), targetOf(t, map[string]string{}, "in")); err == nil ||
		!strings.Contains(err.Error(), "would have the name of another's, a.jsonl.zst") {
		t.Error(err)
	}
}
