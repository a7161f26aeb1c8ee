package dedup

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/ingest"
	"example.org/ndd/engine/corpus/rewrite"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/files"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/spill"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// Two texts.
const (
	rivers = "Rivers carry stones from the mountains to the plain, " +
		"and the further they carry them the smaller they become"
	bread = "Bread needs four things: flour, water, salt and time, " +
		"and the last is what most bakers are short of"
)

// write writes files, with their folders.
func write[T string | []byte](t *testing.T, all map[string]T) { files.Write(t, all) }

// read returns the corpus of an input, which is closed when the test ends.
func read(t *testing.T, input string, cfg ingest.Config, o ReadOptions) *Corpus {
	t.Helper()
	c, _, err := ReadDocuments(t.Context(), []string{input}, cfg, o)
	must.Do(t, err)
	t.Cleanup(c.Close)
	return c
}

// found returns the clusters of a corpus.
func found(t *testing.T, c *Corpus, o Options) *Result {
	t.Helper()
	r, err := Find(t.Context(), c, o)
	must.Do(t, err)
	return r
}

// appended returns the corpus of some documents, which is closed when the test ends.
func appended(t *testing.T, o ReadOptions, docs ...Document) *Corpus {
	t.Helper()
	c := NewCorpus(nil, o)
	t.Cleanup(c.Close)
	for _, d := range docs {
		must.Do(t, c.Append(d))
	}
	return c
}

// copied copies the inputs of a result, and returns the copies by name.
func copied(t *testing.T, r *Result) (map[string]string, rewrite.Report) {
	t.Helper()
	return written(t, r, r.Copy)
}

func written(t *testing.T, r *Result, write func(context.Context, *rewrite.Target) (rewrite.Report, error)) (
	map[string]string, rewrite.Report) {
	t.Helper()
	copies := map[string]string{}
	report, err := write(t.Context(), copiesOf(t, copies, r.corpus.from.inputs...))
	must.Do(t, err)
	return copies, report
}

// copiesOf returns a target that puts the copies of some inputs into a map by name.
func copiesOf(t *testing.T, copies map[string]string, inputs ...string) *rewrite.Target {
	t.Helper()
	c, err := rewrite.NewTarget(t.Context(), inputs)
	must.Do(t, err)
	c.Create = files.Into(copies)
	return c
}

// keptRows returns the kept rows. The IDs of the documents must be their rows.
func keptRows(r *Result) (rows []Row) {
	dropped := r.droppedRows()
	for row := range r.corpus.Len() {
		if !dropped.Has(row) {
			rows = append(rows, Row(row))
		}
	}
	return rows
}

func simhashOf(f uint64) simhash.Fingerprint { return simhash.Fingerprint(f) }

// said returns a text with all figures and documents of a result.
func said(r *Result) string {
	var b strings.Builder
	for c := range r.Clusters() {
		fmt.Fprintln(&b, c)
	}
	for d := range r.Dropped() {
		fmt.Fprintln(&b, d, r.corpus.ID(d.Row), r.corpus.Place(d.Row))
	}
	for k := range r.Kept() {
		fmt.Fprintln(&b, k)
	}
	return b.String()
}

// ofPrints returns a corpus of fingerprints without texts, IDs and sketches.
func ofPrints(fingerprints []uint64) *Corpus {
	return &Corpus{rows: rows{fingerprints: spill.Column[uint64]{All: fingerprints}}}
}
