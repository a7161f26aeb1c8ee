package live

import (
	"fmt"
	"path/filepath"
	"testing"

	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/oracle/hostile"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/store"
)

// TestHostileDocuments changes the documents file of a segment and repairs its checksums. The file is refused with a
// typed error, or the index works without harm: wrong look-ups find other documents or none.
func TestHostileDocuments(t *testing.T) {
	x, dir := makeIndex(t, Config{Design: halves(t), IDs: true}, OpenOptions{Write: true, NoSync: true, Threads: 1})
	for i := range 3 {
		docs := make([]rows.Doc, 20)
		for j := range docs {
			docs[j] = rows.Doc{Fingerprint: fingerprintOf(fmt.Sprint(i, j)), ID: fmt.Sprint(15*i + j)} // some replace others
		}
		insert(t, x, docs...)
		must.Do(t, x.Flush(t.Context()))
	}
	must.Do(t, x.Close())
	m, err := ReadManifest(dir)
	if err != nil || len(m.Segments) != 3 || m.Segments[2].DocsFile == nil {
		t.Fatalf("%+v, %v", m, err)
	}
	of := &m.Segments[2]
	path := filepath.Join(dir, of.DocsFile.File)
	sections := hostile.Sections(t, path, store.KindDocuments)
	refused, used := 0, 0
	try := func(changed []store.Section) {
		f := hostile.File(t, store.KindDocuments, changed)
		d, err := parseDocuments(f, of)
		if err != nil {
			hostile.Expect(t, "documents", err)
			refused++
			return
		}
		used++
		for _, doc := range []rows.DocID{0, 40, 59, 60, rows.Max} {
			if row, ok := d.numbers.Row(doc); ok && row >= of.Documents {
				t.Errorf("row %d of %d", row, of.Documents)
			}
		}
		for i := range of.Documents {
			d.numbers.Doc(i)
		}
		key, _ := parseID(m.Live.Key)
		for i := range 60 {
			k := rows.IDKey(key)
			d.ids.Rows(k.Hash(fmt.Sprint(i)), func(row uint64) bool {
				if row >= of.Documents {
					t.Errorf("an ID in row %d of %d", row, of.Documents)
				}
				return true
			})
		}
	}
	hostile.Each(sections, 5000, 13, try)
	t.Logf("%d refused, %d used", refused, used)
	if refused == 0 || used == 0 {
		t.Error("all the same")
	}
}

// TestCheckIDs checks that a check finds an index of IDs that belongs to another segment.
func TestCheckIDs(t *testing.T) {
	x := memoryIndex(t, Config{Design: halves(t), IDs: true, simulation: simulation{flushDocs: smallDocs}})
	docs := someDocs(smallDocs+1, 3)
	insert(t, x, docs...)
	must.Eventually(t, "a segment", func() bool { return x.Stats().Segments > 0 })
	s := x.versions.Current().Segments[0]
	s.DocsFile = hostile.File(t, store.KindDocuments, []store.Section{{Name: "documents", Data: []byte("{}")}})
	must.Do(t, x.Check(t.Context()))
	s.IDIndex = rows.NewIDIndex(make([]uint64, rows.IDIndexLen(s.Documents())), s.Documents())
	fails(t, "an index of no IDs", x.Check(t.Context()), store.ErrCorrupt)
}
