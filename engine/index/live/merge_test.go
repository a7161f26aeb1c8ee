package live

import (
	"testing"
	"time"

	"ndd/engine/index/live/rows"
	"ndd/engine/oracle/must"
)

// mergeFrom merges the segments of an index from one on.
func mergeFrom(t *testing.T, x *Index, first int) {
	t.Helper()
	x.upkeep.merging.Lock()
	defer x.upkeep.merging.Unlock()
	x.writer.mu.Lock()
	list := x.versions.Current().Segments[first:]
	mark(list, true)
	x.writer.mu.Unlock()
	must.Do(t, x.upkeep.mergeFiles(t.Context(), list, 1))
}

// TestOlderDeletions: a merge of some segments keeps what stands beside them on deletions of
// documents in earlier ones, which are not merged: after the index is opened again, they are
// deleted still.
func TestOlderDeletions(t *testing.T) {
	x, dir := makeIndex(t, Config{Design: halves(t), IDs: true, Table: planar}, scripted(nil))
	docs := someDocs(60, 6)
	for i, list := range [][]rows.Doc{docs[:40], docs[40:50], docs[50:]} {
		// Beside the later ones stands that one of the first is deleted.
		insert(t, x, list...)
		remove(t, x, docs[i].ID)
		must.Do(t, x.Flush(t.Context()))
	}
	mergeFrom(t, x, 1)
	for range 2 {
		if n := len(x.versions.Current().Segments); n != 2 {
			t.Fatalf("%d segments, want 2", n)
		}
		got := contents(t, x)
		if len(got) != len(docs)-3 {
			t.Errorf("%d documents, want %d", len(got), len(docs)-3)
		}
		for i := range rows.DocID(3) {
			if d, ok := got[i]; ok {
				t.Errorf("%+v has come back", d)
			}
		}
		must.Do(t, x.Close())
		x = openFolder(t, dir, scripted(nil))
	}
}

// TestMergedAway: no deletion is written of a document that a merge has removed from the files since
// it was deleted.
func TestMergedAway(t *testing.T) {
	x, _ := makeIndex(t, Config{Design: halves(t), IDs: true, Table: planar}, scripted(nil))
	docs := someDocs(60, 6)
	for _, list := range [][]rows.Doc{docs[:40], docs[40:]} {
		insert(t, x, list...)
		must.Do(t, x.Flush(t.Context()))
	}
	remove(t, x, docs[3].ID, docs[50].ID)
	mergeFrom(t, x, 0)
	must.Do(t, x.Flush(t.Context()))
	if n := len(x.versions.Current().Segments); n != 1 {
		t.Errorf("%d segments, want 1", n)
	}
	if n := len(contents(t, x)); n != 58 {
		t.Errorf("%d documents, want 58", n)
	}
}

// TestNumbersOfTheGone: a number is not given again when the segment that had it has expired and
// was dropped, and nothing of it is in the log.
func TestNumbersOfTheGone(t *testing.T) {
	e := newClocked(t, time.Minute)
	e.insert(t, 0, "zero", "one", "two")
	must.Do(t, e.Flush(t.Context()))
	e.pass(time.Minute)
	must.Do(t, e.upkeep.DropExpired(t.Context()))
	if n := len(e.versions.Current().Segments); n != 0 {
		t.Fatalf("%d segments, want none", n)
	}
	must.Do(t, e.Close())
	e.open(t, true, false)
	if next := e.versions.Current().End(); next != 3 {
		t.Errorf("the next number is %d, and 0 to 2 were given", next)
	}
	e.insert(t, 0, "three")
	if doc, ok, err := e.Find("three"); doc != 3 || !ok || err != nil {
		t.Errorf("document %d, %t, %v: a number was given twice", doc, ok, err)
	}
}
