package live

import (
	"iter"

	"ndd/engine/index/live/memtable"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/live/version"
	"ndd/engine/index/segment"
	"ndd/engine/memory"
)

// gathered holds the live documents of consecutive segments or memtables: the input of the segment
// that replaces them. It is what building would be given of the same documents, so that the segment
// is the same as a built one. Segments are read when that is written, and nothing is held of them
// but which of their documents are kept; of memtables the fingerprints are.
type gathered struct {
	segments  []*version.Segment
	memtables []*memtable.Table
	from, to  rows.DocID             // what they have is between these
	kept      []*segment.RowSet      // of each segment, then of each memtable; nil: all of its rows
	prints    *memory.Buffer[uint64] // of memtables, in order of documents
	numbers   rows.Numbers
	expires   rows.Expiries
	ids       bool
	lengths   bool           // of texts are kept
	whole     *segment.Input // all of it, where it comes from elsewhere
}

// gather takes segments, or memtables that no longer grow.
func gather(segments []*version.Segment, memtables []*memtable.Table, c *Config, now rows.Time) (*gathered, error) {
	g := &gathered{segments: segments, memtables: memtables, ids: c.IDs, lengths: c.Lengths}
	if len(segments) > 0 {
		g.from = segments[0].From
	} else {
		g.from = memtables[0].First
	}
	for _, s := range segments {
		g.to = max(g.to, s.End())
		g.keep(&s.Numbers, &s.Expires, &s.Dead, now)
	}
	docs := 0
	for _, m := range memtables {
		docs += m.Len()
		g.to = max(g.to, m.End())
	}
	var err error
	if g.prints, err = memory.Make[uint64](docs); err != nil {
		return nil, err
	}
	at := 0
	for _, m := range memtables {
		room := g.prints.Data[at:][:m.Len()]
		m.EachPage(0, m.Len(), func(row int, prints []uint64) bool {
			copy(room[row:], prints)
			return true
		})
		own, expires := rows.NewNumbers(m.First, uint64(m.Len())), m.Expiries()
		for row, n := range g.keep(&own, &expires, &m.Dead, now) {
			at += copy(g.prints.Data[at:], room[row:][:n])
		}
	}
	g.prints.Data = g.prints.Data[:at]
	return g, nil
}

// keep appends the numbers and expiry of the live rows of a source, and returns runs of these rows.
func (g *gathered) keep(numbers *rows.Numbers, expires *rows.Expiries, dead *rows.Tombstones,
	now rows.Time) iter.Seq2[uint64, uint64] {
	set := hidden(numbers, expires, dead, now)
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

// hidden returns the rows of a source that a reader who begins now sees; nil where it sees all.
func hidden(numbers *rows.Numbers, expires *rows.Expiries, dead *rows.Tombstones, now rows.Time) *segment.RowSet {
	if dead.Len() == 0 && !expires.Any(now) {
		return nil
	}
	set := segment.NewRowSet(numbers.N)
	dead.Each(func(doc, _ rows.DocID) {
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

func (g *gathered) free() { g.prints.Free() }

// input returns what a segment is written from.
func (g *gathered) input() segment.Input {
	var in segment.Input
	if g.whole != nil {
		return *g.whole
	}
	if g.prints != nil { // a flush of nothing but deletions has none
		in.Fingerprints = g.prints.Data
	}
	for i, s := range g.segments {
		in.Sources = append(in.Sources, segment.Source{Segment: s.Segment, Rows: g.kept[i]})
	}
	if g.ids {
		in.IDs = g.allIDs()
	}
	if g.lengths {
		in.Lengths = g.allLengths
	}
	return in
}

// eachKept calls yield with each run of rows that are kept, and the number of its source, until it
// returns false.
func (g *gathered) eachKept(yield func(source int, row, n uint64) bool) {
	more := true
	each := func(i int, rows uint64) {
		g.kept[i].Runs(0, rows, func(row, n uint64) bool {
			more = yield(i, row, n)
			return more
		})
	}
	for i := 0; i < len(g.segments) && more; i++ {
		each(i, g.segments[i].Documents())
	}
	for i := 0; i < len(g.memtables) && more; i++ {
		each(len(g.segments)+i, uint64(g.memtables[i].Len()))
	}
}

// allIDs yields the IDs of the documents in order.
func (g *gathered) allIDs() iter.Seq2[string, error] {
	if g.whole != nil {
		return g.whole.IDs
	}
	return func(yield func(string, error) bool) {
		of := make([]func(row uint64) (string, error), 0, len(g.kept))
		for _, s := range g.segments {
			of = append(of, s.Segment.IDs().Cursor().ID)
		}
		for _, m := range g.memtables {
			of = append(of, func(row uint64) (string, error) { return m.ID(int(row)), nil })
		}
		g.eachKept(func(source int, row, n uint64) bool {
			for end := row + n; row < end; row++ {
				if !yield(of[source](row)) {
					return false
				}
			}
			return true
		})
	}
}

// allLengths yields the lengths of the documents' texts in order, some thousands at a time: 0 where
// they are not known.
func (g *gathered) allLengths(yield func([]uint32) bool) {
	var of [][]uint32
	for _, s := range g.segments {
		of = append(of, s.Lengths())
	}
	for _, m := range g.memtables {
		of = append(of, m.Lengths())
	}
	list := make([]uint32, 0, 1<<14)
	more := true
	g.eachKept(func(source int, row, n uint64) bool {
		for n > 0 && more {
			k := min(n, uint64(cap(list)-len(list)))
			to := list[len(list):][:k]
			list = list[:len(list)+int(k)]
			if clear(to); of[source] != nil {
				copy(to, of[source][row:])
			}
			if row, n = row+k, n-k; len(list) == cap(list) {
				more = yield(list)
				list = list[:0]
			}
		}
		return more
	})
	if more && len(list) > 0 {
		yield(list)
	}
}

// hand copies deletions made meanwhile to the new segment, and returns the deleted documents.
// The caller holds writer.mu.
func (g *gathered) hand(to *version.Segment) (late []rows.DocID) {
	give := func(doc, clock rows.DocID) {
		if _, ok := to.Numbers.Row(doc); ok && to.Dead.Add(doc, clock) {
			late = append(late, doc)
		}
	}
	for _, s := range g.segments {
		s.Dead.Each(give)
	}
	for _, m := range g.memtables {
		m.Dead.Each(give)
	}
	return late
}

// gatherBytes returns how much memory is held of segments while they are merged: which of their
// documents are kept, and the numbers of these, which have a gap at most for each deletion and for
// each run of documents that expire. A few gaps are not counted.
func gatherBytes(segments []*version.Segment, now rows.Time) (bytes uint64) {
	const gapBytes, few = 16, 16 << 10
	for _, s := range segments {
		if n := s.Numbers.Bytes() + s.Expires.Bytes(); n > few {
			bytes += n
		}
		if s.MayHide(now) {
			bytes += segment.SourceBytes(s.Documents()) + gapBytes*s.Dead.Len() + s.Expires.Bytes()
		}
	}
	return bytes
}
