package rewrite

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/work"
	"example.org/ndd/engine/oracle/files"
	"example.org/ndd/engine/oracle/must"
)

// TestFinished checks that a second run takes over the copies of the first one and reports the same. It makes the copy
// of a file that could not be judged again, and every copy if the decision is another one.
func TestFinished(t *testing.T) {
	xz := must.Read(t, "testdata/twice.jsonl.xz")
	t.Chdir(t.TempDir())
	line := `{"text":"` + rivers + `"}` + "\n"
	files.Write(t, map[string]string{"in/a.jsonl": line + line + line, "in/b.bin": "\x00\x01", "in/c.jsonl": line,
		"in/d.jsonl.xz": string(xz), "in/e.html": "<p>" + bread + " &amp; more</p>"})
	run := func(out, decision string) (copies map[string]string, report Report, taken int) {
		w, err := work.Open(t.Context(), nil, "work", 1, func(work.Taken) {}, func(msg string) { t.Error(msg) })
		must.Do(t, err)
		defer w.Close()
		must.Do(t, w.Begin(t.Context(), []string{"in"}, &ingest.Config{}))
		j := equalTexts(format.Options{}, "in")
		judge := j.Judge
		j.Judge = func(f input.File, first, units int) Judge {
			of := judge(f, first, units)
			of.Decision = func(hash io.Writer) { io.WriteString(hash, decision) }
			if unit := of.Unit; f.Path == "in/e.html" {
				of.Unit = func(x *format.Extractor, u format.Unit) (v Verdict, err error) {
					v, err = unit(x, u)
					v.Cuts = []format.Range{{From: 0, To: 5}}
					return v, err
				}
			}
			return of
		}
		copies = map[string]string{}
		to := targetOf(t, copies, "in")
		to.Finished = w.CopiesIn(out)
		into := to.Create
		to.Create = func(name string, fill func(io.Writer) error) error {
			path := filepath.Join(out, name)
			must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
			file, err := os.Create(path)
			must.Do(t, err)
			defer file.Close()
			return into(name, func(b io.Writer) error {
				buffered := bufio.NewWriter(file)
				defer buffered.Flush()
				return fill(io.MultiWriter(buffered, b))
			})
		}
		report, err = j.Copy(t.Context(), to)
		must.Do(t, err)
		return copies, report, to.Finished.Taken()
	}
	want, said, _ := run("one", "x")
	if len(want) != 5 || len(said.Unjudged) != 1 || len(said.Repacked) != 1 || len(said.Uncut) != 1 {
		t.Fatalf("%q, %+v", want, said)
	}
	for _, c := range []struct {
		decision string
		taken    int
	}{{"x", 4}, {"y", 0}} {
		got, report, taken := run("two"+c.decision, c.decision)
		if d := cmp.Diff(want, got) + cmp.Diff(said, report); d != "" || taken != c.taken {
			t.Errorf("%s: took over %d, want %d; %s", c.decision, taken, c.taken, d)
		}
	}
}
