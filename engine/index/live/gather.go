package live

import (
	"iter"
	"slices"

	"example.org/ndd/engine/corpus/sketch"
	"example.org/ndd/engine/index/live/memtable"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/memory"
)

// A newSegment is what the files of a new segment contain.
type newSegment struct {
	input                // its fingerprints, IDs and sketches
	documents            // its document numbers, and the deletions of earlier documents
	first     rows.DocID // at most its first document
}

// mergeInput holds the live documents of consecutive segments or memtables: the input of the segment that replaces
// them. Building a segment of the same documents gives the same segment. Of segments it holds only the rows to copy,
// and reads the rest when the new segment is written. Of memtables it holds the fingerprints.
type mergeInput struct {
	newSegment
	segments     []*version.Segment
	memtables    []*memtable.Table
	kept         []*segment.RowSet      // rows to copy of each segment and then of each memtable; nil means all
	fingerprints *memory.Buffer[uint64] // fingerprints of memtables, in the order of documents
}

// gather returns the live documents of segments, or of memtables that no longer grow. Their numbers begin with first or
// later.
func gather(segments []*version.Segment, memtables []*memtable.Table, first rows.DocID, c *Config,
	now rows.Time) (*mergeInput, error) {
	g := &mergeInput{segments: segments, memtables: memtables}
	g.first = first
	// Describe the visible rows of segments.
	for _, s := range segments {
		g.keep(&s.Numbers, &s.Expires, &s.Tombstones, now)
		g.Sources = append(g.Sources, segment.Source{Segment: s.Segment, Rows: g.kept[len(g.kept)-1]})
	}
	// Copy the visible fingerprints of the memtables.
	docs := 0
	for _, m := range memtables {
		docs += m.Len()
	}
	var err error
	if g.fingerprints, err = memory.Make[uint64](docs); err != nil {
		return nil, err
	}
	offset := 0
	for _, m := range memtables {
		dst := g.fingerprints.Data[offset:][:m.Len()]
		m.EachPage(0, m.Len(), func(row int, fingerprints []uint64) bool {
			copy(dst[row:], fingerprints)
			return true
		})
		numbers, expires := rows.NewNumbers(m.First, uint64(m.Len())), m.Expiries()
		for row, n := range g.keep(&numbers, &expires, &m.Tombstones, now) {
			offset += copy(g.fingerprints.Data[offset:], dst[row:][:n])
		}
	}
	g.Fingerprints = g.fingerprints.Data[:offset]
	// IDs and sketches are read when they are written.
	if c.IDs {
		g.IDs = g.eachID
	}
	if c.Sketches && (len(segments) == 0 ||
		slices.ContainsFunc(segments, func(s *version.Segment) bool { return s.Sketches != nil })) {
		g.sketches = g.eachSketch
	}
	return g, nil
}

// keep appends the numbers and expiry of the live rows of a source, and returns runs of these rows.
func (g *mergeInput) keep(numbers *rows.Numbers, expires *rows.Expiries, deleted *rows.Tombstones,
	now rows.Time) iter.Seq2[uint64, uint64] {
	set := visible(numbers, expires, deleted, now)
	g.kept = append(g.kept, set)
	for r := range numbers.Runs {
		set.Runs(r.Row, r.Row+r.N, func(row, n uint64) bool {
			g.numbers.Append(r.Value+rows.DocID(row-r.Row), n)
			expires.Between(row, row+n, g.expires.Append)
			return true
		})
	}
	return func(yield func(row, n uint64) bool) { set.Runs(0, numbers.N, yield) }
}

// visible returns the rows of a source that a reader who begins now sees, or nil if it sees all of them.
func visible(numbers *rows.Numbers, expires *rows.Expiries, deleted *rows.Tombstones, now rows.Time) *segment.RowSet {
	if deleted.Len() == 0 && !expires.Any(now) {
		return nil
	}
	set := segment.NewRowSet(numbers.N)
	deleted.Each(func(doc rows.DocID, _ rows.Deletion) {
		if row, ok := numbers.Row(doc); ok {
			set.Drop(row)
		}
	})
	for r := range expires.Runs {
		for row := r.Row; r.Value.Expired(now) && row < r.Row+r.N; row++ {
			set.Drop(row)
		}
	}
	return set
}

// eachKept calls yield with each run of rows to copy, and the number of its source, until yield returns false.
func (g *mergeInput) eachKept(yield func(source int, row, n uint64) bool) {
	ok := true
	emit := func(i int, rows uint64) {
		g.kept[i].Runs(0, rows, func(row, n uint64) bool {
			ok = yield(i, row, n)
			return ok
		})
	}
	for i := 0; i < len(g.segments) && ok; i++ {
		emit(i, g.segments[i].Documents())
	}
	for i := 0; i < len(g.memtables) && ok; i++ {
		emit(len(g.segments)+i, uint64(g.memtables[i].Len()))
	}
}

// eachID yields the IDs of the documents in order.
func (g *mergeInput) eachID(yield func(string, error) bool) {
	ids := make([]func(row uint64) (string, error), 0, len(g.kept))
	for _, s := range g.segments {
		ids = append(ids, s.Segment.IDs().Cursor().ID)
	}
	for _, m := range g.memtables {
		ids = append(ids, func(row uint64) (string, error) { return m.ID(int(row)), nil })
	}
	g.eachKept(func(source int, row, n uint64) bool {
		for end := row + n; row < end; row++ {
			if !yield(ids[source](row)) {
				return false
			}
		}
		return true
	})
}

// eachSketch yields the sketches of the documents in order, a thousand at a time. A document without a sketch has the
// zero sketch.
func (g *mergeInput) eachSketch(yield func([]sketch.Sketch) bool) {
	list := make([]sketch.Sketch, 0, 1<<10)
	g.eachKept(func(source int, row, n uint64) bool {
		for end := row + n; row < end; row++ {
			if len(list) == cap(list) {
				if !yield(list) {
					return false
				}
				list = list[:0]
			}
			list = append(list, g.sketch(source, row))
		}
		return true
	})
	if len(list) > 0 {
		yield(list)
	}
}

// sketch returns the sketch of a row of a source.
func (g *mergeInput) sketch(source int, row uint64) (s sketch.Sketch) {
	if source < len(g.segments) {
		if list := g.segments[source].Sketches; list != nil {
			s = list[row]
		}
	} else if p := g.memtables[source-len(g.segments)].Sketch(int(row)); p != nil {
		s = *p
	}
	return s
}

// gatherBytes returns the memory of a merge's input: the rows to copy and their numbers, with at most one gap for each
// deletion and each run of documents that expire. It does not count a few gaps.
func gatherBytes(segments []*version.Segment, now rows.Time) (bytes uint64) {
	const gapBytes, overhead = 16, 16 << 10
	for _, s := range segments {
		if n := s.Numbers.Bytes() + s.Expires.Bytes(); n > overhead {
			bytes += n
		}
		if s.MayHide(now) {
			bytes += segment.SourceBytes(s.Documents()) + gapBytes*s.Tombstones.Len() + s.Expires.Bytes()
		}
	}
	return bytes
}
