package live

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/search"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle/hostile"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/store"
)

// sketchWith returns a sketch of alternating bits with the first n bits flipped.
func sketchWith(n int) (s sketch.Sketch) {
	for i := range s {
		s[i] = 0x5555555555555555
	}
	for i := range n {
		s[i/64] ^= 1 << (i % 64)
	}
	s[len(s)-1] |= 1 << 63 // the mark of a min-hash sketch
	return s
}

// checkAll checks and inserts documents in one call.
func checkAll(t *testing.T, x *Index, docs ...rows.Doc) []Outcome {
	t.Helper()
	out, err := x.CheckAndInsert(t.Context(), docs, 3, search.AllDocs)
	must.Do(t, err)
	return out
}

// TestVerified inserts documents with one fingerprint. A document whose sketch differs from all others is inserted,
// and others do not find it. A document without a sketch is near all.
func TestVerified(t *testing.T) {
	const similar, unlike = sketch.Bins * 10 / 100, sketch.Bins * 16 / 100 // estimates of .8 and .68
	dir := filepath.Join(t.TempDir(), "index")
	must.Do(t, Create(dir, Config{Design: halves(t), IDs: true, Sketches: true, Table: planar}))
	open := func(write bool) *Index { return openFolder(t, dir, OpenOptions{Write: write, NoSync: true}) }
	x := open(true)
	stored := []rows.Doc{{ID: "a", Fingerprint: 7, Sketch: sketchWith(0)}, {ID: "b", Fingerprint: 7, Sketch: sketchWith(sketch.Bins)}}
	for i, o := range checkAll(t, x, stored...) {
		if !o.Inserted {
			t.Errorf("document %d, unlike all others, is kept out by %+v", i, o.Near)
		}
	}
	check := func(stage string) {
		t.Helper()
		c := x.Searcher()
		defer c.Done()
		for _, ask := range []struct {
			s    sketch.Sketch
			docs []rows.DocID
			like []float32
		}{
			{sketchWith(similar), []rows.DocID{0}, []float32{float32(estimate(sketchWith(0), sketchWith(similar)))}},
			{sketchWith(unlike), nil, nil},
			{sketchWith(sketch.Bins), []rows.DocID{1}, []float32{1}},
			{sketch.Sketch{}, []rows.DocID{0, 1}, nil},
		} {
			a, err := c.Search(viewOf(t, x), []uint64{6}, 3, search.AllDocs, search.SweepResult{}, x.config.Verifier([]sketch.Sketch{ask.s}))
			var likes []float32
			for _, h := range a.Hits {
				likes = append(likes, h.Similarities...)
			}
			if err != nil || !slices.Equal(docsOf(a.Hits), ask.docs) || !slices.Equal(likes, ask.like) {
				t.Errorf("%s: %+v, %v; want documents %d, similarities %g", stage, a.Hits, err, ask.docs, ask.like)
			}
		}
	}
	refused := func(stage string) {
		t.Helper()
		for _, d := range []rows.Doc{{ID: "c", Fingerprint: 5, Sketch: sketchWith(similar)}, {ID: "d", Fingerprint: 5}} {
			if o := checkAll(t, x, d)[0]; o.Inserted || o.ID != "a" {
				t.Errorf("%s: %q: %+v", stage, d.ID, o)
			}
		}
		check(stage)
	}
	refused("memtable")
	must.Do(t, x.end())
	x = open(true)
	refused("log")
	must.Do(t, x.Flush(t.Context()))
	refused("segment")
	insert(t, x, rows.Doc{ID: "far", Fingerprint: 0xff << 40, Sketch: sketchWith(9)})
	must.Do(t, x.Merge(t.Context(), 1))
	refused("merged segment")
	must.Do(t, x.Close())
	x = open(false)
	check("opened for reading")
	if x := openFolder(t, dir, OpenOptions{Threshold: -1}); found(t, x, 7, 0) != 2 {
		t.Error("a negative threshold verifies")
	}
}

// TestBuiltSketches builds an index from a file with sketches, adds another one, and refuses a file without.
func TestBuiltSketches(t *testing.T) {
	file := func(keep bool, docs ...rows.Doc) *ndf.File {
		path := filepath.Join(t.TempDir(), "docs.ndf")
		w, err := ndf.Create(path, simhash.Default(), store.Options{})
		must.Do(t, err)
		if keep {
			w.KeepSketches()
		}
		for _, d := range docs {
			must.Do(t, w.Append(ndf.Document{Fingerprint: d.Fingerprint, ID: d.ID, Sketch: d.Sketch}))
		}
		must.Do(t, w.Commit())
		f, err := ndf.Open(path, ndf.OpenOptions{})
		must.Do(t, err)
		t.Cleanup(func() { f.Close() })
		return f
	}
	dir := filepath.Join(t.TempDir(), "index")
	o := BuildOptions{Sketches: true}
	o.Design, o.Table = halves(t), planar
	one, two := rows.Doc{ID: "a", Fingerprint: 7, Sketch: sketchWith(1)}, rows.Doc{ID: "b", Fingerprint: 7, Sketch: sketchWith(2)}
	bare := file(false, two)
	fails(t, "building of a file without sketches", Build(t.Context(), dir, []*ndf.File{bare}, o), ErrMixed)
	must.Do(t, Build(t.Context(), dir, []*ndf.File{file(true, one)}, o))
	x := openFolder(t, dir, OpenOptions{Write: true, NoSync: true})
	fails(t, "adding a file without sketches", x.Add(t.Context(), []*ndf.File{bare}, BuildOptions{}), ErrMixed)
	must.Do(t, x.Add(t.Context(), []*ndf.File{file(true, two)}, BuildOptions{}))
	if docs := contents(t, x); docs[0] != one || docs[1] != two {
		t.Errorf("%+v", docs)
	}
	must.Do(t, x.Close())
	fails(t, "adding to a closed index", x.Add(t.Context(), []*ndf.File{file(true, two)}, BuildOptions{}), version.ErrClosed)
}

// TestHostileSketches changes the file of a segment's sketches. An index that opens has a sketch for each document;
// everything else is refused.
func TestHostileSketches(t *testing.T) {
	x, dir := makeIndex(t, Config{Design: halves(t), IDs: true, Sketches: true, Table: planar}, OpenOptions{Write: true})
	insert(t, x, rows.Doc{ID: "a", Fingerprint: 7, Sketch: sketchWith(1)}, rows.Doc{ID: "b", Fingerprint: 9})
	must.Do(t, x.Flush(t.Context()))
	must.Do(t, x.Close())
	m, err := ReadManifest(dir)
	must.Do(t, err)
	path := filepath.Join(dir, m.Segments[0].Sketches.File)
	refused, used := 0, 0
	hostile.Each(hostile.Sections(t, path, store.KindSketches), 1000, 3, func(changed []store.Section) {
		list, err := parseSketches(hostile.File(t, store.KindSketches, changed), &m.Segments[0])
		if err == nil {
			used++
			if len(list) != 2 {
				t.Errorf("%d sketches of 2 documents", len(list))
			}
			return
		}
		hostile.Expect(t, "sketches", err)
		refused++
	})
	if refused == 0 || used == 0 {
		t.Errorf("%d refused, %d used", refused, used)
	}
	of := m.Segments[0]
	of.ID = strings.Repeat("0", len(of.ID))
	sections := hostile.Sections(t, path, store.KindSketches)
	_, err = parseSketches(hostile.File(t, store.KindSketches, sections), &of)
	fails(t, "sketches of another segment", err, store.ErrCorrupt)
	sections[0].Data = bytes.Replace(sections[0].Data, []byte(`"version":1`), []byte(`"version":2`), 1)
	_, err = parseSketches(hostile.File(t, store.KindSketches, sections), &m.Segments[0])
	if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "of version 2 for segment") {
		t.Errorf("sketches of version 2: %v", err)
	}
	whole := must.Read(t, path)
	whole[4096*2+5] ^= 1
	must.Do(t, os.WriteFile(path, whole, 0o600))
	_, err = Open(t.Context(), dir, OpenOptions{})
	fails(t, "a flipped bit", err, store.ErrCorrupt)
	must.Do(t, os.Remove(path))
	if _, err := Open(t.Context(), dir, OpenOptions{}); err == nil {
		t.Error("an index without its file of sketches is opened")
	}
}

// TestFlippedSketches flips a bit of each byte of a logged sketch, and some bits of a segment's sketches. No index
// opens with a sketch that was not inserted.
func TestFlippedSketches(t *testing.T) {
	x, dir := makeIndex(t, Config{Design: halves(t), IDs: true, Sketches: true, Table: planar}, OpenOptions{Write: true})
	insert(t, x, rows.Doc{ID: "a", Fingerprint: 7, Sketch: sketchWith(1)})
	must.Do(t, x.Flush(t.Context()))
	insert(t, x, rows.Doc{ID: "b", Fingerprint: 8, Sketch: sketchWith(2)})
	insert(t, x, rows.Doc{ID: "c", Fingerprint: 9, Sketch: sketchWith(3)}) // so that the damage is not at the end
	must.Do(t, x.end())
	m, err := ReadManifest(dir)
	must.Do(t, err)
	logs, err := filepath.Glob(filepath.Join(dir, "*.wal"))
	must.Do(t, err)
	for path, s := range map[string]sketch.Sketch{logs[len(logs)-1]: sketchWith(2),
		filepath.Join(dir, m.Segments[0].Sketches.File): sketchWith(1)} {
		good := must.Read(t, path)
		begin := bytes.Index(good, memory.Cast[byte](s[:]))
		if begin < 0 {
			t.Fatalf("%s lacks the sketch", path)
		}
		for i := range sketch.Bytes {
			bad := bytes.Clone(good)
			bad[begin+i] ^= 1 << (i % 8)
			must.Do(t, os.WriteFile(path, bad, 0o600))
			x, err := Open(t.Context(), dir, OpenOptions{})
			if fails(t, path, err, store.ErrCorrupt); err == nil {
				x.Close()
			}
		}
		must.Do(t, os.WriteFile(path, good, 0o600))
	}
	openFolder(t, dir, OpenOptions{Write: true})
}

// TestForgedSketches queries and inserts with sketches that no text has: neither panics.
func TestForgedSketches(t *testing.T) {
	x, _ := makeIndex(t, Config{Design: halves(t), IDs: true, Sketches: true, Table: planar}, OpenOptions{Write: true})
	var forged []rows.Doc
	for i, last := range []uint64{0, 1, 7, 8, 9, 1 << 62, 1<<63 - 1, 1 << 63, 1<<63 + 7, ^uint64(0)} {
		for j, word := range []uint64{0, 1, ^uint64(0)} {
			var s sketch.Sketch
			for w := range s {
				s[w] = word
			}
			s[len(s)-1] = last
			forged = append(forged, rows.Doc{ID: fmt.Sprint(i, j), Fingerprint: 7, Sketch: s})
		}
	}
	checkAll(t, x, forged...)
	must.Do(t, x.Flush(t.Context()))
	for _, o := range checkAll(t, x, forged...) {
		for _, h := range o.Near {
			for _, similarity := range h.Similarities {
				if !(similarity >= sketch.DefaultThreshold && similarity <= 1) {
					t.Errorf("%+v", o)
				}
			}
		}
	}
}
