package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/search"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/store"
)

// list compares the listing of an index with the model, with few rows of a segment at a time or many. Each document
// occurs once, in the order of insertion.
func (w *modelTest) list(name string) {
	w.t.Helper()
	v, err := w.x.View()
	if err != nil {
		w.t.Fatal(err)
	}
	defer v.Release()
	next, listed, expiring := rows.DocID(0), 0, uint64(0)
	for doc := range w.m.expires {
		if _, ok := w.m.docs[doc]; ok { // deleted documents are left out
			expiring++
		}
	}
	got, err := search.Documents(w.t.Context(), v, w.x.config.Budget, 1+w.rng.Uint64N(1000),
		func(doc rows.DocID, d rows.Doc) error {
			want, ok := w.m.docs[doc]
			want.TTL = 0
			if !ok || doc < next || d != want {
				return fmt.Errorf("document %d is %+v (listed after number %d), want %+v, %t", doc, d, next, want, ok)
			}
			next = doc + 1
			listed++
			return nil
		})
	if err != nil || listed != len(w.m.docs) {
		w.t.Fatalf("after %s: %d of %d documents listed: %v", name, listed, len(w.m.docs), err)
	}
	if got.Documents != uint64(listed) || got.Expiring != expiring {
		w.t.Fatalf("after %s: %+v, want %d documents, %d of them with an expiry", name, got, listed, expiring)
	}
}

// TestListRebuilds lists built indexes to fingerprint files, and builds them again: the files are the same.
func TestListRebuilds(t *testing.T) {
	t.Parallel()
	for _, keep := range []BuildOptions{{}, {Sketches: true}, {NoIDs: true}} {
		t.Run(fmt.Sprintf("sketches=%t/noIDs=%t", keep.Sketches, keep.NoIDs), func(t *testing.T) {
			recipe := simhash.Minwise()
			docs := someDocs(5000, 9)
			for i := range docs {
				if docs[i].Sketch[1] = uint64(i); !keep.Sketches {
					docs[i].Sketch = sketch.Sketch{}
				}
			}
			base := t.TempDir()
			write := func(name string) (*ndf.Writer, string) {
				path := filepath.Join(base, name+".ndf")
				w, err := ndf.Create(path, recipe, store.Options{})
				must.Do(t, err)
				w.KeepSketches()
				return w, path
			}
			w, path := write("first")
			for _, d := range docs {
				must.Do(t, w.Append(ndf.Document{ID: d.ID, Fingerprint: d.Fingerprint, Sketch: d.Sketch}))
			}
			first := builtOf(t, w, path, keep)
			x := openFolder(t, filepath.Dir(first), OpenOptions{})
			v := viewOf(t, x)
			w, path = write("again")
			got, err := search.Documents(t.Context(), v, x.config.Budget, 0, func(_ rows.DocID, d rows.Doc) error {
				return w.Append(ndf.Document{ID: d.ID, Fingerprint: d.Fingerprint, Sketch: d.Sketch})
			})
			if want := (search.ListCounts{Documents: uint64(len(docs))}); err != nil || got != want {
				t.Fatalf("%+v, %v; want %+v", got, err, want)
			}
			again := builtOf(t, w, path, keep)
			names := []string{first}
			if keep.Sketches {
				names = append(names, strings.TrimSuffix(first, ".segment")+".sketches")
			}
			for _, name := range names {
				a, b := fileBytes(t, name), fileBytes(t, filepath.Join(filepath.Dir(again), filepath.Base(name)))
				if !bytes.Equal(a, b) {
					t.Errorf("%s differs from the file built from the listing: %d bytes and %d", filepath.Base(name), len(a), len(b))
				}
			}
		})
	}
}

// builtOf builds an index in the folder of a complete fingerprint file, and returns the path of its segment.
func builtOf(t *testing.T, w *ndf.Writer, path string, o BuildOptions) string {
	t.Helper()
	must.Do(t, w.Commit())
	f, err := ndf.Open(path, ndf.OpenOptions{})
	must.Do(t, err)
	defer f.Close()
	o.Design, o.Table, o.Random = halves(t), table.Options{Layout: table.LayoutHuffman},
		bytes.NewReader(make([]byte, 1<<10))
	must.Do(t, Build(t.Context(), path+".index", []*ndf.File{f}, o))
	return filepath.Join(path+".index", "00000001.segment")
}

func fileBytes(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	must.Do(t, err)
	return data
}

// TestListedErrors ends a listing by an error of the caller, by its context, by a lack of memory, and in an index
// without documents. It then holds no memory.
func TestListedErrors(t *testing.T) {
	enough := errors.New("enough")
	ended, end := context.WithCancel(t.Context())
	end()
	for name, c := range map[string]struct {
		ctx     context.Context
		noDocs  bool
		maxRows uint64
		bytes   uint64 // size of the memory
		want    error
	}{
		"taker":        {t.Context(), false, 100, 1 << 30, enough},
		"context":      {ended, false, 100, 1 << 30, context.Canceled},
		"memory":       {t.Context(), false, 1000, 1000*9 - 1, memory.ErrTooLarge},
		"no documents": {t.Context(), true, 100, 1 << 30, search.ErrNoDocs},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "index")
			o := BuildOptions{Options: segment.Options{Design: halves(t), Table: planar, NoDocs: c.noDocs}}
			must.Do(t, Build(t.Context(), dir, []*ndf.File{printsFile(t, someDocs(1000, 3))}, o))
			budget := memory.NewBudget(memory.Set(c.bytes))
			v := viewOf(t, openFolder(t, dir, OpenOptions{Budget: budget}))
			remaining := budget.Free()
			got, err := search.Documents(c.ctx, v, budget, c.maxRows, func(doc rows.DocID, _ rows.Doc) error {
				if doc == 150 {
					return enough
				}
				return nil
			})
			fails(t, name, err, c.want)
			if budget.Free() != remaining {
				t.Errorf("%d bytes are reserved still", remaining-budget.Free())
			}
			if got.Documents > 151 || c.want != enough && got.Documents > 0 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestListedIsInterrupted checks that a listing ends soon after its context, in a segment and in a memtable.
func TestListedIsInterrupted(t *testing.T) {
	docs := someDocs(20_000, 5)
	dir := filepath.Join(t.TempDir(), "index")
	o := BuildOptions{Options: segment.Options{Design: halves(t), Table: planar}}
	must.Do(t, Build(t.Context(), dir, []*ndf.File{printsFile(t, docs[:10_000])}, o))
	x := openFolder(t, dir, OpenOptions{})
	insert(t, x, docs[10_000:]...)
	w := viewOf(t, x)
	for _, pos := range []uint64{1, 10_001} {
		ctx, end := context.WithCancel(t.Context())
		defer end()
		listed := uint64(0)
		_, err := search.Documents(ctx, w, x.config.Budget, 0, func(rows.DocID, rows.Doc) error {
			if listed++; listed == pos {
				end()
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) || listed > pos+5000 {
			t.Errorf("ended with document %d: %d were listed, %v", pos, listed, err)
		}
	}
}

// TestListedView checks that a view lists the documents that the index had when it began, despite later changes.
func TestListedView(t *testing.T) {
	x := memoryIndex(t, Config{Design: halves(t), Table: planar, IDs: true,
		Budget: memory.NewBudget(memory.Set(math.MaxInt64))})
	docs := someDocs(50, 4)
	insert(t, x, docs[:40]...)
	v := viewOf(t, x)
	repeated := docs[3]
	repeated.Fingerprint++
	insert(t, x, append([]rows.Doc{repeated}, docs[40:]...)...)
	remove(t, x, docs[5].ID)
	now := viewOf(t, x)
	for _, c := range []struct {
		view version.View
		want search.ListCounts
	}{{v, search.ListCounts{Documents: 40}}, {now, search.ListCounts{Documents: 49, Deleted: 2}}} {
		got, err := search.Documents(t.Context(), c.view, x.config.Budget, 0, func(doc rows.DocID, d rows.Doc) error {
			if c.view == v && d != docs[doc] {
				return fmt.Errorf("document %d: %+v, want %+v", doc, d, docs[doc])
			}
			return nil
		})
		if err != nil || got != c.want {
			t.Errorf("%+v, %v; want %+v", got, err, c.want)
		}
	}
}
