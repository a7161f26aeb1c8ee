package rewrite

import (
	"io"
	"sync"
	"testing"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/files"
	"example.org/ndd/engine/oracle/must"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// Two texts.
const (
	rivers = "Rivers carry stones from the mountains to the plain, " +
		"and the further they carry them the smaller they become"
	bread = "Bread needs four things: flour, water, salt and time, " +
		"and the last is what most bakers are short of"
)

// equalTexts returns a job that drops documents with the text of an earlier one. The note of a document is its
// number, from 1.
func equalTexts(options format.Options, inputs ...string) *Job {
	seen, number, mu := map[string]bool{}, 0, sync.Mutex{}
	return &Job{Inputs: inputs, Options: options, Threads: 1, Judge: func(input.File, int, int) Judge {
		return Judge{Decision: func(io.Writer) {}, Unit: func(x *format.Extractor, u format.Unit) (v Verdict, err error) {
			doc, err := x.Extract(u)
			if err != nil {
				return v, nil // no document
			}
			mu.Lock()
			defer mu.Unlock()
			number++
			v = Verdict{Drop: seen[doc.Text], Note: number}
			seen[doc.Text] = true
			return v, nil
		}}
	}}
}

// copied returns the copies that a job makes, by name.
func copied(t *testing.T, j *Job) (map[string]string, Report) {
	t.Helper()
	copies := map[string]string{}
	report, err := j.Copy(t.Context(), targetOf(t, copies, j.Inputs...))
	must.Do(t, err)
	return copies, report
}

// targetOf returns a target for copies of some inputs in a map, by name.
func targetOf(t *testing.T, copies map[string]string, inputs ...string) *Target {
	t.Helper()
	to, err := NewTarget(t.Context(), inputs)
	must.Do(t, err)
	to.Create = files.Into(copies)
	return to
}
