package version

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.org/ndd/engine/index/live/memtable"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/oracle/must"
)

func table(first rows.DocID) *memtable.Table {
	return memtable.New(memtable.Options{First: first, MaxDocs: 1000, MaxBytes: 1 << 20, K: 3})
}

// TestViewMoment checks that a view has all documents before its moment, except those that were deleted before it,
// while versions change.
func TestViewMoment(t *testing.T) {
	const rounds, docs = 500, 200
	var s Set
	must.Do(t, s.Publish(s.Next(Edit{AddMemtable: table(0)})))
	var group sync.WaitGroup
	group.Go(func() {
		for n := range rows.DocID(rounds) {
			m := s.Current().Newest()
			for i := range rows.DocID(docs) {
				m.Add(make([]rows.Doc, 1), nil)
				s.committed.Store(uint64(docs*n + i + 1))
				s.deletions.Store(uint64(docs*n + i + 1))
			}
			e := Edit{RemoveMemtables: []*memtable.Table{m}, AddMemtable: table(docs * (n + 1))}
			if err := s.Publish(s.Next(e)); err != nil {
				t.Error(err)
			}
		}
	})
	for slot := range uint32(2) {
		group.Go(func() {
			for n := rows.DocID(0); n < docs*rounds && !t.Failed(); {
				w, err := s.View(slot)
				if err != nil {
					t.Error(err)
					return
				}
				first := w.Version.Memtables[0].First
				if n = w.Clock; n > w.Version.End() ||
					uint64(first) > w.Deletions || w.Deletions > uint64(n) {
					t.Errorf("documents %d to %d at %+v", first, w.Version.End(), w.Moment)
				}
				w.Release()
			}
		})
	}
	group.Wait()
}

// TestHoldWhilePublished checks that a held version keeps its segments open, however the hold and the next version
// overlap.
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
