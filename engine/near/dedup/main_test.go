package dedup

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/simhash"
	"ndd/engine/oracle"
	"ndd/engine/oracle/must"
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
func write[T string | []byte](t *testing.T, files map[string]T) {
	t.Helper()
	for name, content := range files {
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must.Do(t, os.WriteFile(name, []byte(content), 0o644))
	}
}

// read returns the corpus of an input.
func read(t *testing.T, input string, cfg ingest.Config, o ReadOptions) *Corpus {
	t.Helper()
	c, _, err := ReadDocuments(t.Context(), []string{input}, cfg, o)
	must.Do(t, err)
	return c
}

// found returns the clusters of a corpus.
func found(t *testing.T, c *Corpus, o Options) *Result {
	t.Helper()
	r, err := Find(t.Context(), c, o)
	must.Do(t, err)
	return r
}

// appended returns the corpus of some documents.
func appended(t *testing.T, keep Keep, docs ...Document) *Corpus {
	t.Helper()
	c := NewCorpus(nil, ReadOptions{Keep: keep})
	for _, d := range docs {
		must.Do(t, c.Append(d))
	}
	return c
}

// copied copies the inputs of a result, and returns the copies by name.
func copied(t *testing.T, r *Result) (map[string]string, CopyReport) {
	t.Helper()
	names, err := NewCopies(t.Context(), r.corpus.from.inputs, "out")
	must.Do(t, err)
	copies := map[string]string{}
	report, err := r.Copy(t.Context(), names.with(into(copies)))
	must.Do(t, err)
	return copies, report
}

// with sets the Create of copies.
func (c *Copies) with(create Create) *Copies {
	c.Create = create
	return c
}

// into returns a Create that puts copies into a map by name.
func into(copies map[string]string) Create {
	var mu sync.Mutex
	return func(name string, fill func(io.Writer) error) error {
		var b bytes.Buffer
		err := fill(&b)
		mu.Lock()
		defer mu.Unlock()
		copies[filepath.ToSlash(name)] = b.String()
		return err
	}
}

// keptRows returns the rows that are kept, of documents whose IDs are the rows.
func keptRows(r *Result) (rows []Row) {
	dropped := r.droppedRows()
	for row := range r.corpus.Len() {
		if !dropped.has(row) {
			rows = append(rows, Row(row))
		}
	}
	return rows
}

func simhashOf(f uint64) simhash.Fingerprint { return simhash.Fingerprint(f) }
