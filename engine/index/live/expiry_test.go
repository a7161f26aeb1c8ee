package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/table"
	"ndd/engine/storage/store"
)

// TestExpiries holds runs of moments against a list of them.
func TestExpiries(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 1))
	for range 200 {
		var e expiries
		var list []moment
		for range rng.IntN(20) {
			at, n := moment(rng.IntN(4)), uint64(rng.IntN(5))
			e.append(at, n)
			for range n {
				list = append(list, at)
			}
		}
		for now := range moment(5) {
			count, all := uint64(0), len(list) > 0
			for row, at := range list {
				if e.of(uint64(row)) != at {
					t.Fatalf("%v: row %d expires at %d, want %d", list, row, e.of(uint64(row)), at)
				}
				if at.expired(now) {
					count++
				} else {
					all = false
				}
			}
			if e.count(now) != count || e.any(now) != (count > 0) || e.all(now) != all {
				t.Fatalf("%v at %d: %d, %t, %t, want %d, %t", list, now, e.count(now), e.any(now), e.all(now), count, all)
			}
		}
		if again, ok := readExpiries(e.rows, e.times, e.n); len(list) > 0 && (!ok || fmt.Sprint(again) != fmt.Sprint(e)) {
			t.Fatalf("%v: %v", e, again)
		}
	}
	for _, bad := range []struct {
		rows  []uint64
		times []moment
	}{{nil, nil}, {[]uint64{1}, []moment{1}}, {[]uint64{0}, nil}, {[]uint64{0, 3, 3}, []moment{1, 2, 3}}, {[]uint64{0, 9}, []moment{1, 2}}, {[]uint64{0}, []moment{momentMax + 1}}} {
		if e, ok := readExpiries(bad.rows, bad.times, 9); ok {
			t.Errorf("%v is taken for %v", bad, e)
		}
	}
}

// TestWallClock: the clock of an index does not go back, and a document is kept for its whole time.
func TestWallClock(t *testing.T) {
	system := time.Unix(1000, 600_000_000)
	c := wallClock{system: func() time.Time { return system }}
	if c.now() != 0 || c.after(0) != 0 || c.after(Forever) != 0 || c.now() != 0 {
		t.Error("nothing expires, and somebody asks for the time")
	}
	if at := c.after(1500 * time.Millisecond); at != 1003 || c.now() != 1000 {
		t.Error(at, c.now())
	}
	system = time.Unix(1010, 0)
	if c.now() != 1010 {
		t.Error(c.now())
	}
	system = time.Unix(500, 0)
	if at := c.after(time.Second); at != 1011 || c.now() != 1010 {
		t.Error("the clock was set back", at, c.now())
	}
}

// expiring opens an index whose time is the test's.
type expiring struct {
	dir    string
	second atomic.Int64
	*Index
}

func (e *expiring) pass(d time.Duration) { e.second.Add(int64(d / time.Second)) }

func newExpiring(t *testing.T) *expiring {
	t.Helper()
	e := &expiring{dir: filepath.Join(t.TempDir(), "index")}
	e.second.Store(1_000_000)
	recipe := simhash.Default()
	if err := Create(e.dir, Config{Design: halves(t), Recipe: &recipe, IDs: true, Table: table.Options{Layout: table.LayoutPlanar}}, store.Options{}); err != nil {
		t.Fatal(err)
	}
	e.open(t)
	t.Cleanup(func() { e.Close() })
	return e
}

func (e *expiring) open(t *testing.T) {
	t.Helper()
	var err error
	e.Index, err = Open(t.Context(), e.dir, OpenOptions{Write: true, Sync: -1, TTL: time.Minute, now: func() time.Time { return time.Unix(e.second.Load(), 0) }})
	if err != nil {
		t.Fatal(err)
	}
}

func (e *expiring) insert(t *testing.T, ttl time.Duration, ids ...string) {
	t.Helper()
	var docs []Doc
	for _, id := range ids {
		docs = append(docs, Doc{Fingerprint: fingerprintOf(id), ID: id, TTL: ttl})
	}
	if _, err := e.Insert(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
}

// has says whether a document is found by its fingerprint, and demands that it is by its ID.
func (e *expiring) has(t *testing.T, id string) bool {
	t.Helper()
	c := e.Searcher()
	defer c.Done()
	hits, err := c.Query(fingerprintOf(id), 0, 0, AllDocs)
	if err != nil {
		t.Fatal(err)
	}
	_, found, err := e.Find(id)
	if err != nil || found != (len(hits) > 0) {
		t.Fatalf("%s: found by its ID %t, by its fingerprint %d times: %v", id, found, len(hits), err)
	}
	return found
}

// TestExpire: documents are there until their time, in memory, in files and after a restart, keep
// near ones out until then and not longer, and their IDs are free afterwards.
func TestExpire(t *testing.T) {
	e := newExpiring(t)
	steps := map[string]func(){
		"in memory": func() {},
		"in a file": func() {
			if err := e.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
		"stopped and opened": func() {
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			e.open(t)
		},
		"read from the log": func() {
			if err := e.end(); err != nil {
				t.Fatal(err)
			}
			e.open(t)
		},
	}
	for name, step := range steps {
		t.Run(name, func(t *testing.T) {
			minute, hour, ever := name+" a minute", name+" an hour", name+" for ever"
			e.insert(t, 0, minute)
			e.insert(t, time.Hour, hour)
			e.insert(t, Forever, ever)
			step()
			e.pass(59 * time.Second)
			if !e.has(t, minute) || !e.has(t, hour) || !e.has(t, ever) {
				t.Error("before its time a document is gone")
			}
			near := []Doc{{Fingerprint: fingerprintOf(minute) ^ 1, ID: name + " near"}}
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
			out, err := e.Insert(t.Context(), []Doc{{Fingerprint: 1, ID: minute, OnConflict: Refuse}})
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
	if err := e.Merge(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if s := e.Stats(); s.Documents != uint64(len(steps)) || s.Expired != 0 || s.Fingerprints != s.Documents {
		t.Errorf("after a merge: %+v", s)
	}
}

// TestExpiredSegments: a segment of which all has expired is dropped with its files, and the deletions
// that stand beside it are kept.
func TestExpiredSegments(t *testing.T) {
	e := newExpiring(t)
	flush := func() {
		t.Helper()
		if err := e.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	e.insert(t, Forever, "kept", "deleted", "kept too", "kept as well") // more than half of all, so that no merge is due
	flush()
	if _, err := e.Delete(t.Context(), "deleted"); err != nil {
		t.Fatal(err)
	}
	e.insert(t, 0, "beside the deletion", "beside that")
	flush()
	e.insert(t, 0, "a minute", "a minute more")
	flush()
	e.insert(t, 0, "in memory")
	files := func() int {
		entries, err := os.ReadDir(e.dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	before := files()
	e.pass(time.Minute)
	if err := e.DropExpired(t.Context()); err != nil {
		t.Fatal(err)
	}
	w, err := e.View()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(w.version.segments); n != 2 || w.version.segments[1].Documents() != 0 {
		t.Errorf("%d segments are left, want that of what is kept and an empty one", n)
	}
	w.Release()
	if s := e.Stats(); s.Expired != 1 || s.Documents != 3 || s.Deleted != 1 {
		t.Errorf("%+v", s)
	}
	for range 2 {
		if !e.has(t, "kept") || e.has(t, "deleted") || e.has(t, "a minute") || e.has(t, "in memory") {
			t.Error("wrong documents are left")
		}
		if err := e.end(); err != nil {
			t.Fatal(err)
		}
		if now := files(); now != before-2 {
			t.Errorf("%d files, want 2 fewer than %d", now, before)
		}
		e.open(t)
	}
	if err := e.Check(t.Context()); err != nil {
		t.Error(err)
	}
	e.insert(t, 0, "number")
	if doc, _, _ := e.Find("number"); doc != 9 {
		t.Errorf("a number was given twice: %d", doc)
	}
}

// TestExpiredInMemory: a segment in memory of which all has expired is dropped.
func TestExpiredInMemory(t *testing.T) {
	var second atomic.Int64
	x, err := New(Config{Design: halves(t), TTL: time.Minute, now: func() time.Time { return time.Unix(second.Load(), 0) }})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	docs := someDocs(100, 4)
	if _, err := x.Insert(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	if err := x.seal(); err != nil {
		t.Fatal(err)
	}
	if s := x.Stats(); s.Segments != 1 || s.Documents != 100 {
		t.Errorf("%+v", s)
	}
	second.Store(61)
	if err := x.DropExpired(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := x.Stats(); s.Segments != 0 || s.Documents != 0 || s.Expired != 0 {
		t.Errorf("%+v", s)
	}
}

// TestAddExpires: documents of files that are added expire as others do.
func TestAddExpires(t *testing.T) {
	e := newExpiring(t)
	docs := someDocs(100, 3)
	if err := e.Add(t.Context(), []*ndf.File{printsFile(t, docs)}, BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	if s := e.Stats(); s.Documents != 100 {
		t.Errorf("%+v", s)
	}
	e.pass(time.Minute)
	if s := e.Stats(); s.Documents != 0 || s.Expired != 100 {
		t.Errorf("%+v", s)
	}
}

// TestAddRefuses: files of which an ID is taken are not added where conflicts are refused, be it taken by a
// document that was there, by another of the files, or by one that comes while the segment is made.
func TestAddRefuses(t *testing.T) {
	dir, recipe := filepath.Join(t.TempDir(), "index"), simhash.Default()
	if err := Create(dir, Config{Design: halves(t), Recipe: &recipe, IDs: true, Table: table.Options{Layout: table.LayoutPlanar}}, store.Options{}); err != nil {
		t.Fatal(err)
	}
	x, err := Open(t.Context(), dir, OpenOptions{Write: true, Sync: -1, OnConflict: Refuse})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	docs := someDocs(5000, 4)
	add := func(docs []Doc, during func()) error {
		o := BuildOptions{}
		o.Progress = func(string, int, int) {
			if during != nil {
				during()
				during = nil
			}
		}
		return x.Add(t.Context(), []*ndf.File{printsFile(t, docs)}, o)
	}
	insert := func(d Doc) error {
		_, err := x.Insert(t.Context(), []Doc{d})
		return err
	}
	if err := insert(docs[0]); err != nil {
		t.Fatal(err)
	}
	if err := add(docs, nil); !errors.Is(err, ErrConflict) {
		t.Errorf("an ID that is there: %v", err)
	}
	if err := add(append(docs[1:2000:2000], docs[1500]), nil); !errors.Is(err, ErrConflict) {
		t.Errorf("an ID twice: %v", err)
	}
	during := func() {
		if err := insert(docs[3000]); err != nil {
			t.Error(err)
		}
	}
	if err := add(docs[1:4000], during); !errors.Is(err, ErrConflict) {
		t.Errorf("an ID that came meanwhile: %v", err)
	}
	if s := x.Stats(); s.Documents != 2 || x.incoming != nil {
		t.Errorf("%+v", s)
	}
	if err := add(docs[1:3000], nil); err != nil {
		t.Error(err)
	}
	if err := insert(docs[2000]); !errors.Is(err, ErrConflict) {
		t.Errorf("an ID that was added: %v", err)
	}
	if s := x.Stats(); s.Documents != 3001 {
		t.Errorf("%+v", s)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*.segment"))
	if err != nil || len(left) != 3 { // of what was flushed before the two, and of what was added
		t.Errorf("%v, %v", left, err)
	}
}

// TestOnConflict: a document says itself what becomes of it when its ID is taken.
func TestOnConflict(t *testing.T) {
	for _, own := range []OnConflict{0, Replace, Keep, Refuse} {
		x, err := New(Config{Design: halves(t), IDs: true, OnConflict: own})
		if err != nil {
			t.Fatal(err)
		}
		insert := func(f simhash.Fingerprint, how OnConflict) (Outcome, error) {
			out, err := x.Insert(context.Background(), []Doc{{Fingerprint: f, ID: "one", OnConflict: how}})
			if err != nil {
				return Outcome{}, err
			}
			return out[0], nil
		}
		if o, err := insert(1, Refuse); err != nil || !o.Inserted {
			t.Errorf("%d: %+v, %v", own, o, err)
		}
		if o, err := insert(2, Keep); err != nil || o.Inserted || o.Doc != 0 {
			t.Errorf("%d: %+v, %v", own, o, err)
		}
		if o, err := insert(3, Replace); err != nil || !o.Replaced {
			t.Errorf("%d: %+v, %v", own, o, err)
		}
		if o, err := insert(4, Refuse); !errors.Is(err, ErrConflict) {
			t.Errorf("%d: %+v, %v", own, o, err)
		}
		o, err := insert(5, 0)
		if errors.Is(err, ErrConflict) != (own == Refuse) || o.Replaced != (own == 0 || own == Replace) {
			t.Errorf("%d: %+v, %v", own, o, err)
		}
		x.Close()
	}
}
