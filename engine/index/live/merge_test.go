package live

import (
	"path/filepath"
	"testing"
	"time"

	"ndd/engine/index/table"
	"ndd/engine/storage/store"
)

// TestOlderDeletions: a merge of some segments keeps what stands beside them on deletions of documents in
// earlier ones, which are not merged: after the index is opened again, they are deleted still.
func TestOlderDeletions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	if err := Create(dir, Config{Design: halves(t), IDs: true, Table: table.Options{Layout: table.LayoutPlanar}}, store.Options{}); err != nil {
		t.Fatal(err)
	}
	x, err := openScripted(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { x.Close() }()
	docs := someDocs(60, 6)
	for i, list := range [][]Doc{docs[:40], docs[40:50], docs[50:]} { // in the later ones stands that one of the first is deleted
		if _, err := x.Insert(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		if n, err := x.Delete(t.Context(), docs[i].ID); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		if err := x.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	x.merging.Lock()
	x.writer.mu.Lock()
	later := x.current.Load().segments[1:]
	mark(later, true)
	x.writer.mu.Unlock()
	if err := x.mergeFiles(t.Context(), later, 1); err != nil {
		t.Fatal(err)
	}
	x.merging.Unlock()
	for range 2 {
		if n := len(x.current.Load().segments); n != 2 {
			t.Fatalf("%d segments, want 2", n)
		}
		got := contents(t, x)
		if len(got) != len(docs)-3 {
			t.Errorf("%d documents, want %d", len(got), len(docs)-3)
		}
		for i := range DocID(3) {
			if d, ok := got[i]; ok {
				t.Errorf("%+v has come back", d)
			}
		}
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
		if x, err = openScripted(dir, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNumbersOfTheGone: a number is not given again when the segment that had it has expired and was dropped,
// and nothing of it is in the log.
func TestNumbersOfTheGone(t *testing.T) {
	e := newExpiring(t)
	e.insert(t, 0, "zero", "one", "two")
	if err := e.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.pass(time.Minute)
	if err := e.DropExpired(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(e.current.Load().segments); n != 0 {
		t.Fatalf("%d segments, want none", n)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e.open(t)
	if next := e.current.Load().end(); next != 3 {
		t.Errorf("the next number is %d, and 0 to 2 were given", next)
	}
	e.insert(t, 0, "three")
	if doc, ok, err := e.Find("three"); doc != 3 || !ok || err != nil {
		t.Errorf("document %d, %t, %v: a number was given twice", doc, ok, err)
	}
}
