package live

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/search"
	"example.org/ndd/engine/oracle/crash"
	"example.org/ndd/engine/oracle/faults"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/wal"
)

var cuts = flag.Int("cuts", 0, "seeds of each power cut of TestPowerCut after every call; 0: 20 with -long, else one "+
	"behind every 31st")

// contents returns all documents that are not deleted.
func contents(t *testing.T, x *Index) map[rows.DocID]rows.Doc {
	t.Helper()
	docs := map[rows.DocID]rows.Doc{}
	w, err := x.View() // held, because a merge may be running
	must.Do(t, err)
	defer w.Release()
	_, err = search.Documents(t.Context(), w, x.config.Budget, 0, func(doc rows.DocID, d rows.Doc) error {
		docs[doc] = d
		return nil
	})
	must.Do(t, err)
	return docs
}

// A script is a list of changes to an index, with its expected content after each.
type script struct {
	rng    *rand.Rand
	states []map[rows.DocID]rows.Doc // after the given number of changes was begun
	model  model
}

func newScript(seed uint64) *script {
	return &script{rng: rand.New(rand.NewPCG(seed, 4)), states: []map[rows.DocID]rows.Doc{{}},
		model: model{docs: map[rows.DocID]rows.Doc{}}}
}

// step makes a change. The model contains the change, even if it fails.
func (s *script) step(x *Index) error {
	ctx := context.Background()
	id := func() string { return fmt.Sprint("doc ", s.rng.IntN(60)) }
	var act func() error
	switch n := s.rng.IntN(10); {
	case n < 1:
		docs := []rows.Doc{{Fingerprint: simhash.Fingerprint(s.rng.Uint64()), ID: id(), Sketch: sketch.Sketch{s.rng.Uint64()}}}
		s.model.insert(docs[0])
		act = func() error { _, err := x.CheckAndInsert(ctx, docs, 3, 1); return err }
	case n < 6:
		docs := make([]rows.Doc, 1+s.rng.IntN(20))
		for i := range docs {
			docs[i] = rows.Doc{Fingerprint: simhash.Fingerprint(s.rng.Uint64()), ID: id(), Sketch: sketch.Sketch{s.rng.Uint64()}}
			s.model.insert(docs[i])
		}
		act = func() error { _, err := x.Insert(ctx, docs); return err }
	case n < 8:
		gone := id()
		if n, ok := s.model.holder(gone); ok {
			delete(s.model.docs, n)
		}
		act = func() error { _, err := x.Delete(ctx, gone); return err }
	case n < 9:
		act = func() error { return x.Flush(ctx) }
	default:
		act = func() error { return x.Merge(ctx, 1) }
	}
	s.states = append(s.states, maps.Clone(s.model.docs))
	return act()
}

// scripted are the options of an index that flushes only on request.
func scripted(d *disk.Disk) OpenOptions {
	return OpenOptions{Write: true, Disk: d, Threads: 1, simulation: simulation{noFlushes: true}}
}

// TestPowerCut cuts the power after calls to the disk, and keeps none, half or all of the unsynced data. The index
// then has all acknowledged changes, and at most the next one.
func TestPowerCut(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir := filepath.Join(base, "index")
	must.Do(t, Create(dir, Config{Design: halves(t), IDs: true, Sketches: true, Table: planar}))
	r := crash.Record(t, base)
	s := newScript(5)
	x := openFolder(t, dir, scripted(r.Disk()))
	for i := range 40 {
		must.Do(t, s.step(x))
		r.Mark(i + 1)
		if i%13 == 12 {
			must.Do(t, x.Close())
			x = openFolder(t, dir, scripted(r.Disk()))
		}
	}
	must.Do(t, x.end())
	step, seeds := 31, cmp.Or(*cuts, long.Or(1, 20))
	if seeds > 1 {
		step = 1
	}
	states := 0
	r.States(step, seeds, func(state crash.State) {
		states++
		found := filepath.Join(t.TempDir(), "found")
		r.Cut(found, state)
		acknowledged := len(r.Marks(state))
		x, err := Open(t.Context(), filepath.Join(found, "index"), scripted(crash.Unsynced))
		if err != nil {
			t.Fatalf("%v, %d acknowledged: %v", state, acknowledged, err)
		}
		got := contents(t, x)
		whole := maps.Equal(got, s.states[acknowledged]) || acknowledged+1 < len(s.states) &&
			maps.Equal(got, s.states[acknowledged+1])
		if !whole {
			t.Errorf("%v: %d documents, want the %d after %d changes, or those after one more", state, len(got),
				len(s.states[acknowledged]), acknowledged)
		}
		if _, err := x.Insert(t.Context(), []rows.Doc{{Fingerprint: 1, ID: "one more"}}); err != nil {
			t.Errorf("%v: %v", state, err)
		}
		if err := x.Close(); err != nil {
			t.Errorf("%v: %v", state, err)
		}
		os.RemoveAll(found)
	})
	t.Logf("%d states after %d calls", states, r.Calls())
}

// TestDiskFaults makes each call to the disk fail. No failed change is acknowledged. The next opening finds all
// acknowledged changes, and at most one more.
func TestDiskFaults(t *testing.T) {
	t.Parallel()
	step := long.Or(13, 1)
	design := halves(t)
	var dir string
	var s *script
	acknowledged := 0
	work := func(d *disk.Disk) error {
		dir = filepath.Join(t.TempDir(), "index")
		must.Do(t, Create(dir, Config{Design: design, IDs: true, Sketches: true, Table: planar}))
		s, acknowledged = newScript(6), 0
		x, err := Open(context.Background(), dir, scripted(d))
		if err != nil {
			return err
		}
		for range 16 {
			if err = s.step(x); err != nil {
				break
			}
			acknowledged = len(s.states) - 1
		}
		return errors.Join(err, x.Close())
	}
	calls := faults.Calls(t, work)
	for n := 0; n < len(calls); n += step {
		for _, lasting := range []bool{false, true} {
			f := &faults.Fault{Call: calls[n], Number: n, Lasting: lasting}
			err := work(f.Disk())
			if err != nil && !errors.Is(err, f.Err()) && f.Err() != nil {
				t.Errorf("%+v: another error: %v", f, err)
			}
			x, err := Open(t.Context(), dir, scripted(crash.Unsynced))
			if err != nil {
				t.Fatalf("%+v: %v", f, err)
			}
			got := contents(t, x)
			found := false
			for _, want := range s.states[acknowledged:] {
				found = found || maps.Equal(got, want)
			}
			if !found {
				t.Errorf("%+v: %d documents; %d after %d changes, of %d begun", f, len(got), len(s.states[acknowledged]),
					acknowledged, len(s.states)-1)
			}
			if err := x.Close(); err != nil {
				t.Errorf("%+v: %v", f, err)
			}
		}
	}
	t.Logf("%d calls", len(calls))
}

// A gate blocks the calls that make a log durable.
type gate struct {
	shut    atomic.Bool
	waiting atomic.Int32
	open    chan struct{}
}

func (g *gate) hold(c disk.Call, path string) error {
	if c == disk.CallSync && filepath.Ext(path) == wal.Extension && g.shut.Load() {
		g.waiting.Add(1)
		<-g.open
	}
	return nil
}

// TestNearIsDurable checks that a near document is durable before a caller hears of it, whether the search has
// found it or the comparison under the lock.
func TestNearIsDurable(t *testing.T) {
	t.Parallel()
	for _, late := range []bool{false, true} {
		g := &gate{open: make(chan struct{})}
		x, _ := makeIndex(t, Config{Design: halves(t)}, scripted(disk.WithFailures(g.hold)))
		var c *checker
		if late {
			c = checking(t, x, rows.Doc{})
		}
		g.shut.Store(true)
		var group sync.WaitGroup
		group.Go(func() {
			if _, err := x.Insert(context.Background(), []rows.Doc{{Fingerprint: 1}}); err != nil {
				t.Error(err)
			}
		})
		open := sync.OnceFunc(func() { close(g.open) })
		defer open()
		must.Eventually(t, "an insert syncs a log", func() bool { return g.waiting.Load() > 0 })
		if !late {
			c = checking(t, x, rows.Doc{})
		}
		if (c.near[0].Near == nil) != late {
			t.Errorf("late %v: the search found %v", late, c.near)
		}
		expected := make(chan []Outcome, 1)
		group.Go(func() {
			out, err := c.conclude()
			if err != nil {
				t.Error(err)
			}
			expected <- out
		})
		select {
		case out := <-expected:
			t.Errorf("late %v: told %+v before it was durable", late, out)
			expected <- out
		case <-time.After(50 * time.Millisecond):
		}
		g.shut.Store(false)
		open()
		group.Wait()
		if out := <-expected; len(out) != 1 || out[0].Inserted || len(out[0].Near) != 1 {
			t.Errorf("late %v: %+v, want the document that was inserted meanwhile", late, out)
		}
	}
}
