package document_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ndd/engine/corpus/document"
	"ndd/engine/oracle/must"
)

// readBytes has bytes read as a file of a name, and demands that nothing but documents, skips and
// errors that name the file comes.
func readBytes(t *testing.T, name string, raw []byte, format document.Format) {
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, raw, 0o644))
	for doc, err := range document.Read(t.Context(), []string{path}, document.Options{Format: format,
		MaxDocumentBytes: 1 << 20}, nil) {
		skip, skipped := errors.AsType[*document.Skip](err)
		switch {
		case skipped && skip.Source != path, err != nil && !skipped && !strings.Contains(err.Error(), path):
			t.Errorf("%v: names no file", err)
		case err == nil && (doc.ID == "" || doc.Source != path):
			t.Errorf("a document without an ID or source: %+v", doc)
		}
	}
}

// FuzzParquet: whatever pages, dictionaries and row groups say, nothing panics, and what cannot be
// read is said.
func FuzzParquet(f *testing.F) {
	whole := table(f, 30)
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(append([]byte("PAR1\x00\x00\x00\x00"), "\xff\xff\xff\x7fPAR1"...))
	f.Fuzz(func(t *testing.T, raw []byte) { readBytes(t, "f.parquet", raw, document.Auto) })
}

// FuzzPacked: whatever a file that begins like a compressed one holds, nothing panics, and what
// cannot be read is said.
func FuzzPacked(f *testing.F) {
	const lines = `{"id":"a","text":"one"}` + "\n" + `{"id":"b","text":"two"}` + "\n"
	for _, seed := range []string{gz(f, lines), zst(f, lines), "\xfd7zXZ\x00\x00\x04\xe6\xd6\xb4F", "BZh91AY&SY", lines} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) { readBytes(t, "f.jsonl", raw, document.Auto) })
}

// FuzzCSV: whatever a table of text holds, nothing panics, and what cannot be read is said.
func FuzzCSV(f *testing.F) {
	f.Add([]byte("id,text\n1,\"one\ntwo\"\n2,\"thr\"\"ee\"\n"))
	f.Add([]byte("text\n\"open"))
	f.Fuzz(func(t *testing.T, raw []byte) { readBytes(t, "f.csv", raw, document.Auto) })
}
