package live

import (
	"cmp"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/oracle/must"
)

// TestExpire checks that documents exist until their time, in memory, in files and after a restart. Until then they
// prevent inserts of near documents. Afterwards their IDs are free.
func TestExpire(t *testing.T) {
	e := newClocked(t, time.Minute)
	steps := map[string]func(){
		"in memory": func() {},
		"in a file": func() { must.Do(t, e.Flush(t.Context())) },
		"stopped and opened": func() {
			must.Do(t, e.Close())
			e.open(t, true, false)
		},
		"read from the log": func() { e.open(t, true, false) },
	}
	for name, step := range steps {
		t.Run(name, func(t *testing.T) {
			minute, hour, ever := name+" a minute", name+" an hour", name+" for ever"
			e.insert(t, 0, minute)
			e.insert(t, time.Hour, hour)
			e.insert(t, rows.Forever, ever)
			step()
			e.pass(59 * time.Second)
			if !e.has(t, minute) || !e.has(t, hour) || !e.has(t, ever) {
				t.Error("a document expired too early")
			}
			near := []rows.Doc{{Fingerprint: fingerprintOf(minute) ^ 1, ID: name + " near"}}
			if out, err := e.CheckAndInsert(t.Context(), near, 3, 1); err != nil || out[0].Inserted {
				t.Errorf("%+v, %v: near a document that is there", out, err)
			}
			e.pass(time.Second)
			if e.has(t, minute) || !e.has(t, hour) || !e.has(t, ever) {
				t.Error("a document is there after its time, or another is not")
			}
			if out, err := e.CheckAndInsert(t.Context(), near, 3, 1); err != nil || !out[0].Inserted {
				t.Errorf("%+v, %v: near a document that has expired", out, err)
			}
			out, err := e.Insert(t.Context(), []rows.Doc{{Fingerprint: 1, ID: minute, OnConflict: rows.Refuse}})
			if err != nil || out[0].Replaced {
				t.Errorf("%+v, %v: the ID of a document that has expired", out, err)
			}
			e.pass(time.Hour)
			if e.has(t, hour) || !e.has(t, ever) {
				t.Error("after an hour")
			}
		})
	}
	if s := e.Stats(); s.Documents != uint64(len(steps)) || s.Expired == 0 {
		t.Errorf("%+v", s)
	}
	must.Do(t, e.Merge(t.Context(), 1))
	if s := e.Stats(); s.Documents != uint64(len(steps)) || s.Expired != 0 || s.Fingerprints != s.Documents {
		t.Errorf("after a merge: %+v", s)
	}
}

// TestExpiredSegments checks that a segment is dropped with its files when all its documents have expired. The
// deletions in its documents file are kept.
func TestExpiredSegments(t *testing.T) {
	e := newClocked(t, time.Minute)
	// More than half of all are kept, so that no merge is due.
	e.insert(t, rows.Forever, "kept", "deleted", "kept too", "kept as well")
	must.Do(t, e.Flush(t.Context()))
	remove(t, e.Index, "deleted")
	for _, ids := range [][]string{{"beside the deletion", "beside that"}, {"a minute", "a minute more"}} {
		e.insert(t, 0, ids...)
		must.Do(t, e.Flush(t.Context()))
	}
	e.insert(t, 0, "in memory")
	files := func() int {
		entries, err := filepath.Glob(filepath.Join(e.dir, "*[^l]")) // all files except logs
		must.Do(t, err)
		return len(entries)
	}
	before := files()
	e.pass(time.Minute)
	mergeDue(t, e.Index)
	w, err := e.View()
	must.Do(t, err)
	if n := len(w.Version.Segments); n != 2 || w.Version.Segments[1].Documents() != 0 {
		t.Errorf("%d segments, want one with the remaining documents and an empty one", n)
	}
	w.Release()
	if s := e.Stats(); s.Expired != 1 || s.Documents != 3 || s.Deleted != 1 {
		t.Errorf("%+v", s)
	}
	for range 2 {
		if !e.has(t, "kept") || e.has(t, "deleted") || e.has(t, "a minute") || e.has(t, "in memory") {
			t.Error("wrong documents are left")
		}
		must.Do(t, e.end())
		if now := files(); now != before-2 {
			t.Errorf("%d files, want 2 fewer than %d", now, before)
		}
		e.open(t, true, false)
	}
	must.Do(t, e.Check(t.Context()))
	e.insert(t, 0, "number")
	if doc, _, _ := e.Find("number"); doc != 9 {
		t.Errorf("a number was given twice: %d", doc)
	}
}

// TestExpiredInMemory checks that a segment in memory is dropped when all its documents have expired.
func TestExpiredInMemory(t *testing.T) {
	var second atomic.Int64
	x := memoryIndex(t, Config{Design: halves(t), TTL: time.Minute,
		simulation: simulation{now: func() time.Time { return time.Unix(second.Load(), 0) }}})
	insert(t, x, someDocs(100, 4)...)
	must.Do(t, x.upkeep.flush(t.Context()))
	if s := x.Stats(); s.Segments != 1 || s.Documents != 100 {
		t.Errorf("%+v", s)
	}
	second.Store(61)
	mergeDue(t, x)
	if s := x.Stats(); s.Segments != 0 || s.Documents != 0 || s.Expired != 0 {
		t.Errorf("%+v", s)
	}
}

// TestAddExpires checks that documents of files that are added expire as others do.
func TestAddExpires(t *testing.T) {
	e := newClocked(t, time.Minute)
	docs := someDocs(100, 3)
	must.Do(t, e.Add(t.Context(), []*ndf.File{printsFile(t, docs)}, BuildOptions{}))
	if s := e.Stats(); s.Documents != 100 {
		t.Errorf("%+v", s)
	}
	e.pass(time.Minute)
	if s := e.Stats(); s.Documents != 0 || s.Expired != 100 {
		t.Errorf("%+v", s)
	}
}

// TestAddRefuses checks that files with a taken ID are not added if conflicts are refused. The ID may belong to an
// existing document or to another of the files. A document that is inserted during the call keeps its ID.
func TestAddRefuses(t *testing.T) {
	t.Parallel()
	recipe := simhash.Default()
	x, dir := makeIndex(t, Config{Design: halves(t), Recipe: &recipe, IDs: true, Table: planar},
		OpenOptions{Write: true, NoSync: true, OnConflict: rows.Refuse})
	docs := someDocs(5000, 4)
	add := func(docs []rows.Doc, during func()) error {
		o := BuildOptions{}
		o.Progress = func(string, int, int) {
			if during != nil {
				during()
				during = nil
			}
		}
		return x.Add(t.Context(), []*ndf.File{printsFile(t, docs)}, o)
	}
	insert := func(d rows.Doc) error {
		_, err := x.Insert(t.Context(), []rows.Doc{d})
		return err
	}
	must.Do(t, insert(docs[0]))
	fails(t, "an ID that is there", add(docs, nil), ErrConflict)
	fails(t, "an ID twice", add(append(docs[1:2000:2000], docs[1500]), nil), ErrConflict)
	if s := x.Stats(); s.Documents != 1 {
		t.Errorf("%+v", s)
	}
	must.Do(t, add(docs[1:4000], func() {
		if err := insert(docs[3000]); err != nil {
			t.Error(err)
		}
	}))
	if doc, ok, err := x.Find(docs[3000].ID); doc != 4000 || !ok || err != nil {
		t.Errorf("an ID that came meanwhile: document %d, %t, %v", doc, ok, err)
	}
	fails(t, "an ID that was added", insert(docs[2000]), ErrConflict)
	if s := x.Stats(); s.Documents != 4000 || s.Deleted != 1 {
		t.Errorf("%+v", s)
	}
	remaining, err := filepath.Glob(filepath.Join(dir, "*.segment"))
	if err != nil || len(remaining) != 2 { // one flushed before, and one of the added files
		t.Errorf("%v, %v", remaining, err)
	}
}

// TestOnConflict checks that the option of each document decides what happens if its ID is taken.
func TestOnConflict(t *testing.T) {
	for _, own := range []rows.OnConflict{0, rows.Replace, rows.Keep, rows.Refuse} {
		x := memoryIndex(t, Config{Design: halves(t), IDs: true, OnConflict: own})
		for i, how := range []rows.OnConflict{rows.Refuse, rows.Keep, rows.Replace, rows.Refuse, 0} {
			out, err := x.Insert(t.Context(), []rows.Doc{{Fingerprint: simhash.Fingerprint(i), ID: "one", OnConflict: how}})
			applied := cmp.Or(how, own, rows.Replace)
			if refused := i > 0 && applied == rows.Refuse; refused || err != nil {
				if !refused || !errors.Is(err, ErrConflict) {
					t.Errorf("%d, insert %d: %v", own, i, err)
				}
				continue
			}
			if o := out[0]; o.Inserted != (i == 0 || applied == rows.Replace) || o.Replaced != (i > 0 && o.Inserted) ||
				!o.Inserted && i == 1 && o.Doc != 0 {
				t.Errorf("%d, insert %d: %+v", own, i, o)
			}
		}
	}
}
