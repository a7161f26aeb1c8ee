package version

import (
	"context"
	"fmt"

	"ndd/engine/index/live/rows"
)

// A View is what an index holds at one moment. It stays as it is, however the index changes or
// closes meanwhile, until it is released. It may be read by many goroutines, each with a [Searcher]
// of its own.
type View struct {
	versions *Set
	Version  *Version
	slot     uint32
	Clock    rows.DocID // number of the first document that it does not have
	Now      rows.Time  // when it began: what expires by then is not seen
}

// View returns a view of the current version. Readers of one slot share a counter. The error is
// [ErrClosed].
func (w *Set) View(slot uint32) (View, error) {
	for {
		clock := rows.DocID(w.Committed.Load())
		v, err := w.Hold(slot)
		if err != nil {
			return View{}, err
		}
		if v.Memtables[0].First <= clock {
			return View{w, v, slot, clock, w.Clock.Now()}, nil
		}
		w.Release(v, slot) // some documents at or after the clock are in a segment already
	}
}

// Release ends the view. Memory that only the view held is released.
func (w View) Release() { w.versions.Release(w.Version, w.slot) }

// Walk calls yield with all distinct fingerprints of the view, some at a time, until it returns
// false or ctx ends. One that was inserted again may come again, and one whose documents were all
// deleted, or have expired, comes until a merge drops them.
func (w View) Walk(ctx context.Context, yield func([]uint64) bool) error {
	going := true
	for i, s := range w.Version.Segments {
		if s.Fingerprints() == 0 || s.Expires.All(w.Now) {
			continue
		}
		err := s.Walk(func(prints []uint64) bool {
			going = ctx.Err() == nil && yield(prints)
			return going
		})
		if err != nil {
			return fmt.Errorf("segment %d: %w", i, err)
		}
		if !going {
			return ctx.Err()
		}
	}
	for _, m := range w.Version.Memtables {
		m.EachPage(0, m.Before(w.Clock), func(_ int, prints []uint64) bool {
			going = ctx.Err() == nil && yield(prints)
			return going
		})
		if !going {
			break
		}
	}
	return ctx.Err()
}
