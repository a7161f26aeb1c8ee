package dedup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/rewrite"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/near/rowset"
	"example.org/ndd/engine/oracle/must"
)

// TestCopyChanged checks that a dropped document, and the document kept for it, must be unchanged. A change with the
// same length is found, too.
func TestCopyChanged(t *testing.T) {
	t.Chdir(t.TempDir())
	lines := []string{`{"id":1,"text":"` + rivers + `"}`, `{"id":2,"text":"` + rivers + `"}`, `{"id":3,"text":"` + bread + `"}`}
	for i, changed := range []string{"in.jsonl:1:", "in.jsonl:2:", ""} {
		write(t, map[string]string{"in.jsonl": strings.Join(lines, "\n")})
		r := found(t, read(t, "in.jsonl", ingest.Config{}, ReadOptions{}), Options{K: 3})
		other := slices.Clone(lines)
		other[i] = strings.Replace(other[i], "e ", "x ", 1)
		write(t, map[string]string{"in.jsonl": strings.Join(other, "\n")})
		for _, copy := range []func(context.Context, *rewrite.Target) (rewrite.Report, error){r.Copy, r.Annotate} {
			_, err := copy(t.Context(), copiesOf(t, map[string]string{}, "in.jsonl"))
			if _, is := errors.AsType[*ingest.ChangedError](err); is != (changed != "") ||
				is && !strings.HasPrefix(err.Error(), changed) {
				t.Errorf("document %d changed: %v", i+1, err)
			}
		}
	}
}

// TestChanged checks that both later readings report a file that is new or missing, or has another line than in the
// first reading.
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
		{"in/a.jsonl", ""},                                           // the file is removed
		{"in/b.jsonl", ""},                                           // the file is removed
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
			_, compared := Find(t.Context(), c, Options{K: 3, Rule: Rule{{Jaccard: 0.5}}, Texts: &Texts{}})
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

// TestDecision checks that two decisions about as many documents are not the same.
func TestDecision(t *testing.T) {
	t.Chdir(t.TempDir())
	line := `{"text":"` + rivers + `"}` + "\n"
	write(t, map[string]string{"a.jsonl": line + line + line})
	from := &read(t, "a.jsonl", ingest.Config{}, ReadOptions{}).from
	var texts [2]bytes.Buffer
	for i := range texts {
		var dropped rowset.Set
		dropped.Add(i + 1)
		from.decision(&texts[i], dropped, 0, 3)
	}
	if bytes.Equal(texts[0].Bytes(), texts[1].Bytes()) {
		t.Error("two decisions are the same")
	}
}

// TestLittleMemory checks that a document that is too long for the memory stays in the copy, and the others are
// compared.
func TestLittleMemory(t *testing.T) {
	t.Chdir(t.TempDir())
	line := `{"text":"` + rivers + `"}` + "\n"
	long := `{"text":"` + strings.Repeat("long ", 1<<19) + `"}` + "\n"
	write(t, map[string]string{"a.jsonl": line + long + line})
	budget := memory.NewBudget(memory.Set(rewrite.LeastBytes))
	r := found(t, read(t, "a.jsonl", ingest.Config{}, ReadOptions{Copies: true, Budget: budget}), Options{K: 3})
	copies := map[string]string{}
	_, err := r.Copy(t.Context(), copiesOf(t, copies, "a.jsonl"))
	if must.Do(t, err); copies["a.jsonl"] != line+long {
		t.Errorf("a copy of %d bytes, want %d", len(copies["a.jsonl"]), len(line+long))
	}
}

// TestCopiesNeedMemory checks that reading fails if its memory does not suffice for copies, if copies will be made.
func TestCopiesNeedMemory(t *testing.T) {
	for _, copies := range []bool{false, true} {
		budget := memory.NewBudget(memory.Set(rewrite.LeastBytes - 1))
		c := NewCorpus(nil, ReadOptions{Copies: copies, Threads: 1, Budget: budget})
		if _, err := c.room.readConfig(ingest.Config{Threads: 1}); errors.Is(err, memory.ErrTooLarge) != copies {
			t.Errorf("copies %v: %v", copies, err)
		}
		c.Close()
	}
}
