package search

import (
	"context"
	"fmt"

	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/version"
	"ndd/engine/index/segment"
)

// Sweeps reports whether a batch of n queries sweeps a segment of the view.
func Sweeps(w version.View, n int) bool {
	for _, s := range w.Version.Segments {
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

// From returns the results of the queries from number n on.
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
func Sweep(ctx context.Context, w version.View, queries []uint64, k, threads, limit int) (Swept, error) {
	swept := Swept{found: make([]*segment.Found, len(w.Version.Segments))}
	for i, s := range w.Version.Segments {
		if !s.Sweeps(len(queries)) {
			continue
		}
		f, err := s.Sweep(ctx, queries, k, threads, limit)
		if err != nil {
			return swept, fmt.Errorf("segment %d: %w", i, err)
		}
		swept.found[i] = f
		limit -= f.Len()
	}
	return swept, nil
}

// matches appends what the sweep of a segment found for the queries of a chunk, up to the one with
// which there are more than most matches, if most is not 0.
func (s Swept) matches(dst []rows.Match, number int, queries []uint64, most int) []rows.Match {
	f := s.of(number)
	for j, q := range queries {
		for _, x := range f.Of(s.first + j) {
			dst = append(dst, rows.NewMatch(j, q, x, number))
		}
		if most > 0 && len(dst) > most {
			break
		}
	}
	return dst
}
