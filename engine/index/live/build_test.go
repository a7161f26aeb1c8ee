package live

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
)

// someDocs returns n documents, some of which share fingerprints, with the IDs "doc i".
func someDocs(n int, seed uint64) []rows.Doc {
	docs := make([]rows.Doc, n)
	for i, f := range sets.Uniform(n, seed) {
		docs[i] = rows.Doc{Fingerprint: simhash.Fingerprint(f), ID: fmt.Sprint("https://example.org/doc ", i)}
		if i%7 == 6 {
			docs[i].Fingerprint = docs[i/2].Fingerprint
		}
	}
	return docs
}

// printsFile writes documents as a fingerprint file and opens it.
func printsFile(t *testing.T, docs []rows.Doc) *ndf.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "docs.ndf")
	w, err := ndf.Create(path, simhash.Default(), store.Options{})
	must.Do(t, err)
	for _, d := range docs {
		must.Do(t, w.Append(ndf.Document{Fingerprint: d.Fingerprint, ID: d.ID}))
	}
	must.Do(t, w.Commit())
	f, err := ndf.Open(path, ndf.OpenOptions{})
	must.Do(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// sectionsOf returns the sections of the only segment of an index.
func sectionsOf(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	m, err := ReadManifest(dir)
	if err != nil || len(m.Segments) != 1 {
		t.Fatalf("%+v, %v", m, err)
	}
	f, err := store.Open(filepath.Join(dir, m.Segments[0].File), store.KindSegment)
	must.Do(t, err)
	defer f.Close()
	sections := map[string][]byte{}
	for _, s := range f.Sections() {
		sections[s.Name] = bytes.Clone(s.Data)
	}
	return sections
}

// TestSameAsBuilt inserts documents, deletes and replaces some, and merges. The segment equals, byte for byte, a
// segment built from the remaining documents.
func TestSameAsBuilt(t *testing.T) {
	t.Parallel()
	recipe := simhash.Default()
	for _, layout := range []table.Layout{table.LayoutPlanar, table.LayoutHuffman} {
		c := Config{Design: halves(t), Table: table.Options{Layout: layout}, Recipe: &recipe, IDs: true}
		x, dir := makeIndex(t, c, OpenOptions{Write: true, NoSync: true, simulation: simulation{flushDocs: 4000}})
		docs := someDocs(20_000, 5)
		for list := range slices.Chunk(docs, 777) {
			insert(t, x, list...)
		}
		docs[11].Fingerprint = 1234
		insert(t, x, docs[11:12]...)
		docs = append(docs, docs[11])
		docs = slices.Delete(docs, 11, 12)
		remove(t, x, docs[500].ID, docs[501].ID)
		docs = slices.Delete(docs, 500, 502)
		must.Do(t, x.Merge(t.Context(), 2))
		must.Do(t, x.Close())
		built := filepath.Join(t.TempDir(), "built")
		o := BuildOptions{Options: segment.Options{Design: c.Design, Table: c.Table}}
		must.Do(t, Build(t.Context(), built, []*ndf.File{printsFile(t, docs)}, o))
		got, want := sectionsOf(t, dir), sectionsOf(t, built)
		if !maps.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("%s: other sections", layout)
		}
	}
}

// TestBuiltBecomesLive opens a built index for writing. Its documents keep their numbers and are found by their IDs,
// new documents follow, and the index is the same after it is opened again. Adding files treats existing IDs as
// inserting does.
func TestBuiltBecomesLive(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "index")
	docs := someDocs(9000, 6)
	o := BuildOptions{Options: segment.Options{Design: halves(t), Table: planar}}
	must.Do(t, Build(t.Context(), dir, []*ndf.File{printsFile(t, docs[:5000])}, o))
	before := fileBytes(t, filepath.Join(dir, "00000001.segment"))
	want := map[rows.DocID]rows.Doc{}
	for i, d := range docs[:5000] {
		want[rows.DocID(i)] = d
	}
	open := func() *Index {
		t.Helper()
		x := openFolder(t, dir, OpenOptions{Write: true, NoSync: true})
		if got := contents(t, x); !maps.Equal(got, want) {
			t.Fatalf("%d documents, want %d", len(got), len(want))
		}
		return x
	}
	x := open()
	if doc, ok, err := x.Find(docs[4321].ID); doc != 4321 || !ok || err != nil {
		t.Errorf("%d, %t, %v", doc, ok, err)
	}
	out, err := x.Insert(t.Context(), []rows.Doc{{Fingerprint: 77, ID: docs[17].ID}})
	if err != nil || !out[0].Inserted || !out[0].Replaced || out[0].Doc != 5000 {
		t.Fatalf("%+v, %v", out, err)
	}
	delete(want, 17)
	want[5000] = rows.Doc{Fingerprint: 77, ID: docs[17].ID}
	must.Do(t, x.Close())
	x = open()
	must.Do(t, x.Add(t.Context(), []*ndf.File{printsFile(t, docs[4000:])}, BuildOptions{}))
	for i, d := range docs[4000:] {
		if 4000+i < 5000 {
			delete(want, rows.DocID(4000+i))
		}
		want[rows.DocID(5001+i)] = d
	}
	insert(t, x, rows.Doc{Fingerprint: 78, ID: "last"})
	want[10_001] = rows.Doc{Fingerprint: 78, ID: "last"}
	must.Do(t, x.end())
	x = open()
	defer x.Close()
	if r := x.Recovery; r.Inserted != 1 {
		t.Errorf("%+v", r)
	}
	if !bytes.Equal(before, fileBytes(t, filepath.Join(dir, "00000001.segment"))) {
		t.Error("the built segment has changed")
	}
}

// TestLocked checks that one process at a time writes to an index. Others may read it, and see all acknowledged
// changes.
func TestLocked(t *testing.T) {
	x, dir := makeIndex(t, Config{Design: halves(t)}, OpenOptions{Write: true})
	_, err := Open(t.Context(), dir, OpenOptions{Write: true})
	if want := fmt.Sprintf("%s: %v: by process %d; stop it first; until then the index can be read and backed up", dir,
		disk.ErrLocked, os.Getpid()); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	insert(t, x, rows.Doc{Fingerprint: 5})
	r := openFolder(t, dir, OpenOptions{})
	if s := r.Stats(); s.Documents != 1 {
		t.Errorf("a reader sees %d documents", s.Documents)
	}
	must.Do(t, x.Close())
	x = openFolder(t, dir, OpenOptions{Write: true})
	must.Do(t, x.Close())
}

// TestOpenChanged checks that an index is opened by the next manifest if its files were merged after the first
// manifest was read. A damaged index is not opened a second time.
func TestOpenChanged(t *testing.T) {
	x, dir := makeIndex(t, Config{Design: halves(t), IDs: true}, OpenOptions{Write: true, NoSync: true})
	for _, d := range someDocs(2, 1) {
		insert(t, x, d)
		must.Do(t, x.Flush(t.Context()))
	}
	stale, err := ReadManifest(dir)
	must.Do(t, err)
	must.Do(t, x.Merge(t.Context(), 1))
	reads := 0
	read := func() (*Manifest, error) {
		if reads++; reads == 1 {
			return stale, nil
		}
		return ReadManifest(dir)
	}
	open := func(m *Manifest) (*Index, error) { return m.Open(t.Context(), dir, OpenOptions{}) }
	y, err := openCurrent(read, open)
	must.Do(t, err)
	if s := y.Stats(); s.Documents != 2 || s.Segments != 1 || reads != 3 {
		t.Errorf("%+v after reading %d manifests", s, reads)
	}
	y.Close()
	tries := 0
	_, err = openCurrent(func() (*Manifest, error) { return stale, nil }, func(m *Manifest) (*Index, error) {
		tries++
		return open(m)
	})
	if !errors.Is(err, store.ErrCorrupt) || tries != 1 {
		t.Errorf("files that are missing, tried %d times: %v", tries, err)
	}
}

// TestUnique compares a build of files with repeated IDs with a map, for each conflict policy.
func TestUnique(t *testing.T) {
	t.Parallel()
	docs := someDocs(200_000, 3)
	sketches := make([]sketch.Sketch, len(docs))
	for i := range docs {
		sketches[i][0] = uint64(i)
		docs[i].ID = ""
		if i%50 > 0 {
			docs[i].ID = fmt.Sprint(i)
		}
		if i%1000 == 1 {
			docs[i].ID = fmt.Sprint(i / 3000)
		}
	}
	for _, conflict := range []rows.OnConflict{rows.Replace, rows.Keep, rows.Refuse} {
		in := input{sketches: slices.Chunk(sketches, 1000)}
		in.IDs = func(yield func(string, error) bool) {
			for _, d := range docs {
				if !yield(d.ID, nil) {
					return
				}
			}
		}
		owner := map[string]uint64{}
		var fingerprints []uint64
		for i, d := range docs {
			fingerprints = append(fingerprints, uint64(d.Fingerprint))
			if _, ok := owner[d.ID]; d.ID != "" && (!ok || conflict == rows.Replace) {
				owner[d.ID] = uint64(i)
			}
		}
		in.Chunks = slices.Collect(slices.Chunk(fingerprints, 7777))
		dropped, err := unique(t.Context(), &in, conflict, memory.NewBudget(memory.Set(4<<20)))
		if conflict == rows.Refuse {
			fails(t, "refused", err, ErrConflict)
			continue
		}
		if err != nil || dropped == 0 || in.Len()+int(dropped) != len(docs) {
			t.Fatalf("%d dropped, %d left of %d: %v", dropped, in.Len(), len(docs), err)
		}
		next, stop := iter.Pull2(in.IDs)
		defer stop()
		kept, pos := slices.Concat(in.Chunks...), 0
		for part := range in.sketches {
			for _, s := range part {
				n := s[0]
				d := docs[n]
				id, _, _ := next()
				if owned, ok := owner[id]; id != d.ID || id != "" && (!ok || owned != n) || kept[pos] != uint64(d.Fingerprint) {
					t.Fatalf("row %d: document %d with ID %q, want %q of document %d", pos, n, id, d.ID, owned)
				}
				pos++
			}
		}
		if pos != in.Len() {
			t.Errorf("%d sketches of %d rows", pos, in.Len())
		}
	}
}
