package passages

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/rewrite"
	"example.org/ndd/engine/oracle/files"
	"example.org/ndd/engine/oracle/must"
)

// A writeFunc is the method Copy or Annotate of a Result.
type writeFunc func(context.Context, *rewrite.Target) (rewrite.Report, error)

// copied returns the copies of an input by name.
func copied(t *testing.T, input string, write writeFunc) (all map[string]string, report rewrite.Report, err error) {
	t.Helper()
	to, err := rewrite.NewTarget(t.Context(), []string{input})
	must.Do(t, err)
	all = map[string]string{}
	to.Create = files.Into(all)
	report, err = write(t.Context(), to)
	return all, report, err
}

// less returns a text without some cuts.
func less(text string, cuts []Cut) (tail string) {
	offset := 0
	for _, c := range cuts {
		tail += text[offset:c.From]
		offset = c.To
	}
	return tail + text[offset:]
}

// TestCuts compares the removed bytes with the definition, one by one, and copies with the texts without them.
func TestCuts(t *testing.T) {
	for name, texts := range sets(rand.New(rand.NewPCG(7, 8)), 12_000) {
		path := writeDocs(t, texts)
		for i, o := range []Options{
			{Unit: Unit{Lines, 1}}, {Unit: Unit{Sentences, 3}}, {Unit: Unit{Bytes, 40}},
			{Unit: Unit{Bytes, 40}, AcrossOnly: true},
			{Unit: Unit{Bytes, 40}, StrikeAll: true}, {Unit: Unit{Lines, 1}, MaxShare: 0.3},
			{Unit: Unit{Lines, 1}, MaxShare: 0.3, Drop: true},
		} {
			o.Threads = 1 + i%2
			r := find(t, path, o)
			others := map[string]string{}
			for row, text := range texts {
				d := r.Document(row)
				others[fmt.Sprint("d", row)] = less(text, d.Cuts)
				if cuts := definedCuts(&d, slices.Collect(r.Spans(row)), o); less(text, cuts) != less(text, d.Cuts) {
					t.Fatalf("%s, %+v: document %d: %v goes, want %v", name, o, row, d.Cuts, cuts)
				}
			}
			copies, report, err := copied(t, path, r.Copy)
			if err != nil || len(copies) != 1 || len(report.Uncut) > 0 {
				t.Fatalf("%d files, %d documents whole, %v", len(copies), len(report.Uncut), err)
			}
			var want strings.Builder
			for row, text := range texts {
				id := fmt.Sprint("d", row)
				if strings.TrimSpace(others[id]) == "" && others[id] != text {
					continue
				}
				line, err := json.Marshal(map[string]string{"id": id, "text": others[id]})
				must.Do(t, err)
				want.Write(append(line, '\n'))
			}
			if copies["docs.jsonl"] != want.String() {
				t.Fatalf("%s, %+v: the copy is not the file without what goes", name, o)
			}
		}
	}
}

// definedCuts returns the cuts by their definition: the bytes that are in a removed span and in no kept one.
func definedCuts(d *Document, spans []Span, o Options) (cuts []Cut) {
	goes := make([]bool, d.TextBytes)
	for _, kept := range []bool{false, true} {
		for _, s := range spans {
			for i := s.From; i < s.To && s.Kept == kept; i++ {
				goes[i] = !kept
			}
		}
	}
	n := 0
	for i, g := range goes {
		if g {
			cuts = append(cuts, Cut{i, i + 1})
			n++
		}
	}
	if o.MaxShare > 0 && float64(n) > o.MaxShare*float64(len(goes)) {
		if cuts = nil; o.Drop {
			cuts = []Cut{{0, d.TextBytes}}
		}
	}
	return cuts
}

// TestCopyFormats copies files of several formats and compressions. Each copy lacks only repeated lines. Documents that
// cannot be cut stay whole and are counted.
func TestCopyFormats(t *testing.T) {
	dir := t.TempDir()
	const again = "This line stands in every file.\n"
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	fmt.Fprintf(z, `{"n":1.50,"text":"one\n%s","id":"z"}`+"\n{\n", strings.TrimSpace(again))
	z.Close()
	in := map[string]string{
		"a.txt":      "first\n" + again,
		"b.jsonl.gz": zipped.String(),
		"c.json":     `[{"text": "` + strings.TrimSpace(again) + `"}, {"text":"x\n` + strings.TrimSpace(again) + `\ny"}]`,
		"d.txt":      again + "rest\r\n" + again,
		"e.csv":      "id,text\n1,\"x\n" + again + "\"\n2," + again,
	}
	for name, content := range in {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	r := find(t, dir, Options{Unit: Unit{Lines, 1}, MinChars: 10, Ignore: IgnoreSpace, Threads: 2})
	copies, report, err := copied(t, dir, r.Copy)
	must.Do(t, err)
	unzipped, err := gzip.NewReader(strings.NewReader(copies["b.jsonl.gz"]))
	must.Do(t, err)
	b, err := io.ReadAll(unzipped)
	must.Do(t, err)
	copies["b.jsonl.gz"] = string(b)
	for name, want := range map[string]string{
		"a.txt":      in["a.txt"],
		"b.jsonl.gz": `{"n":1.50,"text":"one\n","id":"z"}` + "\n{\n",
		"c.json":     `[{"text":"x\ny"}]`,
		"d.txt":      "rest\r\n",
		"e.csv":      "id,text\n1,\"x\n" + again + "\"\n",
	} {
		if copies[name] != want {
			t.Errorf("%s: %q, want %q", name, copies[name], want)
		}
	}
	if len(report.Uncut) != 1 || report.Uncut[0].Documents != 1 {
		t.Errorf("whole: %v", report.Uncut)
	}
}

// TestChanged checks that a file that is another one when it is copied, or has lost a text, is an error.
func TestChanged(t *testing.T) {
	path := writeDocs(t, []string{"the same line\nx", "the same line\ny"})
	r := find(t, path, Options{Unit: Unit{Lines, 1}})
	b, err := os.ReadFile(path)
	must.Do(t, err)
	must.Do(t, os.WriteFile(path, bytes.ReplaceAll(b, []byte("y"), []byte("z")), 0o600))
	_, _, err = copied(t, path, r.Copy)
	if err == nil || !strings.Contains(err.Error(), ":2: changed since it was first read") {
		t.Errorf("%v", err)
	}
	must.Do(t, os.WriteFile(path, bytes.Replace(b, []byte(`"d1","text"`), []byte(`"d1","none"`), 1), 0o600))
	if _, _, err = copied(t, path, r.Annotate); err == nil || !strings.Contains(err.Error(), "changed since") {
		t.Errorf("%v", err)
	}
}

// TestOptions checks that invalid options are an error before anything is read.
func TestOptions(t *testing.T) {
	for _, o := range []Options{{}, {Unit: Unit{Bytes, 15}}, {Unit: Unit{Bytes, BytesMax + 1}}, {Unit: Unit{Lines, 0}},
		{Unit: Unit{Lines, 1}, MinCount: 1}, {Unit: Unit{Lines, 1}, MaxShare: 1.1}} {
		if _, _, err := Find(context.Background(), []string{"none"}, ingest.Config{}, o); err == nil ||
			errors.Is(err, os.ErrNotExist) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	_, _, err := Find(context.Background(), []string{"none"}, ingest.Config{}, Options{Unit: Unit{Lines, 1}})
	if !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// TestListOnOneLine checks that a record without text on the line of other records has none of their spans.
func TestListOnOneLine(t *testing.T) {
	const line = "the same line stands twice"
	path := files.New(t, "list.json", `[{"id":"p","text":"plain"},{"id":"n"},{"id":"a","text":"`+line+
		`"},{"id":"n"},{"id":"b","text":"`+line+`"}]`)
	copies, _, err := copied(t, path, find(t, path, Options{Unit: Unit{Lines, 1}}).Annotate)
	if err != nil || strings.Count(copies["list.json"], `"id":"n","ndd_spans":null`) != 2 {
		t.Errorf("%v: %s", err, copies)
	}
}
