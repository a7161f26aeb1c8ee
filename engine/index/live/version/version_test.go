package version

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ndd/engine/index/live/memtable"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/segment"
	"ndd/engine/oracle/must"
)

func table(first rows.DocID) *memtable.Table {
	return memtable.New(memtable.Options{First: first, MaxDocs: 1, MaxBytes: 1 << 20, K: 3})
}

// TestViewClock: a view whose clock is before the memtables would miss documents that are in
// segments already; the call waits until the clock has caught up.
func TestViewClock(t *testing.T) {
	var s Set
	s.Committed.Store(5)
	must.Do(t, s.Publish(s.Next(Edit{AddMemtable: table(10)})))
	time.AfterFunc(20*time.Millisecond, func() { s.Committed.Store(10) })
	w, err := s.View(0)
	if err != nil || w.Clock != 10 {
		t.Errorf("clock %d, %v", w.Clock, err)
	}
	w.Release()
}

// TestHoldWhilePublished: a version that a reader holds keeps its segments open, however the hold
// and the next version overlap.
func TestHoldWhilePublished(t *testing.T) {
	var s Set
	publish := func(e Edit) {
		if err := s.Publish(s.Next(e)); err != nil {
			t.Error(err)
		}
	}
	m := table(0)
	publish(Edit{AddMemtable: m})
	var all sync.Map
	next := func() *Segment {
		g, gone := &Segment{Segment: new(segment.Segment)}, new(atomic.Bool)
		g.Free = func() error { gone.Store(true); return nil }
		all.Store(g, gone)
		return g
	}
	g := next()
	publish(Edit{Add: []*Segment{g}})
	var done atomic.Bool
	var group sync.WaitGroup
	for slot := range uint32(2) {
		group.Go(func() {
			for !done.Load() {
				v, err := s.Hold(slot)
				if err != nil {
					t.Error(err)
					return
				}
				if gone, _ := all.Load(v.Segments[0]); gone.(*atomic.Bool).Load() {
					t.Error("a held segment is closed")
					done.Store(true)
				}
				s.Release(v, slot)
			}
		})
	}
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end) && !done.Load(); {
		by := next()
		publish(Edit{Remove: []*Segment{g}, Add: []*Segment{by}})
		g = by
	}
	done.Store(true)
	group.Wait()
}
