package live

import (
	"context"
	"fmt"
	"math/bits"

	"ndd/engine/index/segment"
)

// A View is what an index holds at one moment. It stays as it is, however the index changes or
// closes meanwhile, until it is released. It may be read by many goroutines, each with a [Searcher]
// of its own.
type View struct {
	index   *Index
	version *version
	slot    uint32
	clock   DocID  // number of the first document that it does not have
	now     moment // when it began: what expires by then is not seen
}

// View returns what the index holds now. The error is [ErrClosed].
func (x *Index) View() (View, error) { return x.view(x.slot()) }

func (x *Index) view(slot uint32) (View, error) {
	for {
		clock := DocID(x.committed.Load())
		v, err := x.hold(slot)
		if err != nil {
			return View{}, err
		}
		if v.memtables[0].first <= clock {
			return View{x, v, slot, clock, x.wall.now()}, nil
		}
		x.release(v, slot) // what came behind the clock is in a segment already
	}
}

// Release ends the view. What only it kept is given back.
func (w View) Release() { w.index.release(w.version, w.slot) }

// Sweeps reports whether a batch of n queries sweeps a segment of the view.
func (w View) Sweeps(n int) bool {
	for _, s := range w.version.segments {
		if s.Sweeps(n) {
			return true
		}
	}
	return false
}

// Swept is what sweeps found: by segment, nothing where it is to be searched. Its zero value has
// nothing.
type Swept struct {
	found []*segment.Found
	first int // query of the chunk
}

// From returns what was found for the queries from number n on.
func (s Swept) From(n int) Swept { return Swept{s.found, s.first + n} }

// of returns what the sweep of a segment found, nil when there was none.
func (s Swept) of(segment int) *segment.Found {
	if s.found == nil {
		return nil
	}
	return s.found[segment]
}

// Sweep walks the tables of the segments for which that is faster than searching them, in order,
// once for all queries. It holds at most limit matches; the error may be [segment.ErrTooMany].
func (w View) Sweep(ctx context.Context, queries []uint64, k, threads, limit int) (Swept, error) {
	swept := Swept{found: make([]*segment.Found, len(w.version.segments))}
	for i, s := range w.version.segments {
		if !s.Sweeps(len(queries)) {
			continue
		}
		f, err := s.sweep(ctx, queries, k, threads, limit)
		if err != nil {
			return swept, fmt.Errorf("segment %d: %w", i, err)
		}
		swept.found[i] = f
		limit -= f.Len()
	}
	return swept, nil
}

// matches appends what the sweep of a segment found for the queries of a chunk, up to the one with which there are
// more than most matches, if most is not 0.
func (s Swept) matches(dst []Match, number int, queries []uint64, most int) []Match {
	f := s.of(number)
	for j, q := range queries {
		for _, x := range f.Of(s.first + j) {
			dst = append(dst, Match{j, bits.OnesCount64(x ^ q), x, number, 0})
		}
		if most > 0 && len(dst) > most {
			break
		}
	}
	return dst
}

// Walk calls yield with all distinct fingerprints of the view, some at a time, until it returns
// false or ctx ends. One that was inserted again may come again, and one whose documents were all
// deleted, or have expired, comes until a merge drops them.
func (w View) Walk(ctx context.Context, yield func([]uint64) bool) error {
	going := true
	for i, s := range w.version.segments {
		if s.Fingerprints() == 0 || s.expires.all(w.now) {
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
	for _, m := range w.version.memtables {
		m.eachPage(0, m.before(w.clock), func(_ int, prints []uint64) bool {
			going = ctx.Err() == nil && yield(prints)
			return going
		})
		if !going {
			break
		}
	}
	return ctx.Err()
}
