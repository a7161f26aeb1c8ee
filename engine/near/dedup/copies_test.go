package dedup

import (
	"bytes"
	"slices"
	"testing"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/oracle/must"
)

// noWork keeps no copies, and notes which it would keep.
type noWork struct{ kept []string }

func (w *noWork) TakeCopy(document.File, []byte) (string, []byte, bool) { return "", nil, false }
func (w *noWork) KeepCopy(f document.File, _ []byte, _ string, _ []byte) {
	w.kept = append(w.kept, f.Path)
}

// oneCopy has a copy that was repacked.
type oneCopy struct{ path string }

func (w oneCopy) TakeCopy(document.File, []byte) (string, []byte, bool) {
	return w.path, []byte(`{"Copied":true,"Ending":".zst","Repacked":true}`), true
}
func (w oneCopy) KeepCopy(document.File, []byte, string, []byte) {}

// TestCopiesOfWork: a copy of a file that could not be judged is not kept; one that is taken over is reported as
// it was made; another decision about as many documents is another one.
func TestCopiesOfWork(t *testing.T) {
	t.Chdir(t.TempDir())
	line := `{"text":"` + rivers + `"}` + "\n"
	write(t, map[string]string{"in/a.jsonl": line + line + line, "in/b.bin": "\x00\x01", "old": "old"})
	r := found(t, read(t, "in", ingest.Config{}, ReadOptions{}), Options{K: 3})
	w := &noWork{}
	to := copiesOf(t, map[string]string{}, "in")
	to.Work = w
	report, err := r.Copy(t.Context(), to)
	if must.Do(t, err); len(report.Unjudged) != 1 || !slices.Equal(w.kept, []string{"in/a.jsonl"}) {
		t.Errorf("%+v, kept %q", report, w.kept)
	}
	copies := map[string]string{}
	to = copiesOf(t, copies, "in/a.jsonl")
	to.Work = oneCopy{"old"}
	r = found(t, read(t, "in/a.jsonl", ingest.Config{}, ReadOptions{}), Options{K: 3})
	report, err = r.Copy(t.Context(), to)
	if must.Do(t, err); !slices.Equal(report.Repacked, []string{"in/a.jsonl"}) || copies["a.jsonl.zst"] != "old" {
		t.Errorf("%+v, %q", report, copies)
	}
	var one, other bitmap
	one.set(1)
	other.set(2)
	if from := &r.corpus.from; bytes.Equal(from.decision(one, 0, 3), from.decision(other, 0, 3)) {
		t.Error("two decisions are one")
	}
}

// TestColumnValue: what is added to Parquet is valid UTF-8.
func TestColumnValue(t *testing.T) {
	if v := columnValue("a\xffb", 0); v.String() != "a\ufffdb" {
		t.Errorf("%q", v.String())
	}
}
