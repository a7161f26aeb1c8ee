package live

import (
	"slices"
	"testing"
	"time"

	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/oracle/must"
)

// mergeDue makes the merges that are due, and drops expired segments.
func mergeDue(t *testing.T, x *Index) {
	t.Helper()
	for changed := true; changed; {
		var err error
		changed, err = x.upkeep.mergeDue()
		must.Do(t, err)
	}
}

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

// TestOlderDeletions merges segments with deletions of documents in earlier segments. These documents stay deleted
// after a restart.
func TestOlderDeletions(t *testing.T) {
	x, dir := makeIndex(t, Config{Design: halves(t), IDs: true, Table: planar}, scripted(nil))
	docs := someDocs(60, 6)
	for i, list := range [][]rows.Doc{docs[:40], docs[40:50], docs[50:]} {
		// The files of later segments store the deletion of a document of the first one.
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

// TestMergedAway checks that a flush writes no deletion of a document that a merge has removed from the files.
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

// TestNumbersOfDeleted checks that the numbers of an expired, dropped segment are not used again, even if the log
// has nothing of it.
func TestNumbersOfDeleted(t *testing.T) {
	e := newClocked(t, time.Minute)
	e.insert(t, 0, "zero", "one", "two")
	must.Do(t, e.Flush(t.Context()))
	e.pass(time.Minute)
	mergeDue(t, e.Index)
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

// TestTiers flushes 110 memtables and merges as pick decides: in an empty index, and in indexes with a hundred and
// a thousand times as many documents. It bounds the number of times that a document is written, the bytes, and the
// number of segments.
func TestTiers(t *testing.T) {
	const unit, flushes = 1 << 20, 110
	for _, base := range []uint64{0, 100 * unit, 1000 * unit} {
		var sizes []uint64
		if base > 0 {
			sizes = append(sizes, base)
		}
		written, total, bytes := uint64(0), base, 0.0
		c := Config{Design: halves(t), Table: planar}
		times := map[[2]uint64]float64{} // a plan takes a millisecond
		write := func(docs uint64) {
			written += docs
			of := [2]uint64{docs, min(total/docs, smallShare)}
			if times[of] == 0 { // two tables and the numbers of documents are 14 bytes a document, four tables 25
				times[of] = 1 + 0.4*float64(len(c.designOf(docs, docs*of[1]).Tables)-2)
			}
			bytes += float64(docs) * times[of]
		}
		for n := uint64(1); n <= flushes; n++ {
			sizes = append(sizes, unit)
			total += unit
			write(unit)
			for {
				begin, end := pickOutgrown(sizes)
				if begin == end {
					break
				}
				merged := uint64(0)
				for _, docs := range sizes[begin:end] {
					merged += docs
				}
				write(merged)
				sizes = slices.Replace(sizes, begin, end, merged)
				if merged > total {
					t.Errorf("%d flushes: a merge takes %d documents, more than all %d", n, merged, total)
				}
			}
			if base > 0 && sizes[0] != base {
				t.Fatalf("%d flushes: the built segment is written again: %v", n, sizes)
			}
			// Small segments have up to four tables, because a batch then takes a third less time.
			if each := bytes / float64(n*unit); n >= 10 && each > 6.1 {
				t.Errorf("%d flushes: %.2f bytes are written for each", n, each)
			}
			if each := float64(written) / float64(n*unit); each > 4.2 {
				t.Errorf("%d flushes: each document is written %.2f times", n, each)
			}
			if len(sizes) > 7+1 {
				t.Errorf("%d flushes: %d segments", n, len(sizes))
			}
		}
		t.Logf("%d flushes onto %d documents: written %.2f times, %.2f times the bytes that they have in the end, %v",
			flushes, base, float64(written)/(flushes*unit), bytes/(flushes*unit), sizes)
	}
}

// TestPickOutgrown checks that segments that may not be merged are left alone, that smaller segments are merged
// with later ones, and that larger ones stay.
func TestPickOutgrown(t *testing.T) {
	const no = neverMerged
	for _, c := range []struct {
		sizes      []uint64
		begin, end int
	}{
		{nil, 0, 0},
		{[]uint64{1}, 0, 0},
		{[]uint64{1, 1}, 0, 0},
		{[]uint64{1, 1, 1}, 0, 3},
		{[]uint64{9, 1, 1}, 0, 0},
		{[]uint64{9, 1, 1, 1}, 1, 4},
		{[]uint64{3, 3, 1, 1, 1}, 0, 5},
		{[]uint64{3, 5}, 0, 0},
		{[]uint64{3, 6}, 0, 0},
		{[]uint64{100, 9, 1, 9}, 0, 0},
		{[]uint64{100, 9, 1, 20}, 1, 4},
		{[]uint64{1, 1, 1, no, 1, 1}, 0, 3},
		{[]uint64{1, 1, no, 1, 1}, 0, 0},
		{[]uint64{1, 1, 1, no, 1, 1, 1}, 4, 7},
		{[]uint64{no, no}, 0, 0},
	} {
		for i := range c.sizes {
			c.sizes[i] *= fewDocs
		}
		if begin, end := pickOutgrown(c.sizes); begin != c.begin && begin != end || end-begin != c.end-c.begin {
			t.Errorf("%v: [%d, %d), want [%d, %d)", c.sizes, begin, end, c.begin, c.end)
		}
	}
	for n, want := range []int{0, 0, 0, 0, 4, 5} { // few documents
		if begin, end := pickOutgrown([]uint64{1, 1, 1, 1, 1}[:n]); end-begin != want {
			t.Errorf("%d segments of a document: %d are merged, want %d", n, end-begin, want)
		}
	}
}
