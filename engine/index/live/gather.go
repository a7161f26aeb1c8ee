package live

import (
	"iter"

	"ndd/engine/index/segment"
	"ndd/engine/memory"
)

// gathered is what segments or memtables that follow one another have, without what is deleted or
// has expired: the input of the segment that takes their place. It is what building would be given of the same
// documents, so that the segment is the same as a built one. Segments are read when that is written, and nothing is held of
// them but which of their documents are kept; of memtables the fingerprints are.
type gathered struct {
	segments  []*Segment
	memtables []*memtable
	from, to  DocID                  // what they have is between these
	kept      []*segment.RowSet      // of each segment, then of each memtable; nil: all of its rows
	prints    *memory.Buffer[uint64] // of memtables, in order of documents
	numbers   numbers
	expires   expiries
	ids       bool
	lengths   bool           // of texts are kept
	whole     *segment.Input // all of it, where it comes from elsewhere
}

// gather takes segments, or memtables that no longer grow.
func gather(segments []*Segment, memtables []*memtable, c *Config, now moment) (*gathered, error) {
	g := &gathered{segments: segments, memtables: memtables, ids: c.IDs, lengths: c.Lengths}
	if len(segments) > 0 {
		g.from = segments[0].from
	} else {
		g.from = memtables[0].first
	}
	for _, s := range segments {
		g.to = max(g.to, s.end())
		g.keep(&s.numbers, &s.expires, &s.dead, now)
	}
	docs := 0
	for _, m := range memtables {
		docs += m.len()
		g.to = max(g.to, m.end())
	}
	var err error
	if g.prints, err = memory.Make[uint64](docs); err != nil {
		return nil, err
	}
	at := 0
	for _, m := range memtables {
		room := g.prints.Data[at:][:m.len()]
		m.eachPage(0, m.len(), func(row int, prints []uint64) bool {
			copy(room[row:], prints)
			return true
		})
		own, expires := consecutive(m.first, uint64(m.len())), m.expiries()
		for row, n := range g.keep(&own, &expires, &m.dead, now) {
			at += copy(g.prints.Data[at:], room[row:][:n])
		}
	}
	g.prints.Data = g.prints.Data[:at]
	return g, nil
}

// keep finds which rows of a source are kept, and appends their numbers and when they expire. It returns runs of them.
func (g *gathered) keep(numbers *numbers, expires *expiries, dead *tombstones, now moment) iter.Seq2[uint64, uint64] {
	set := hidden(numbers, expires, dead, now)
	g.kept = append(g.kept, set)
	for r := range numbers.runs {
		set.Runs(r.row, r.row+r.n, func(row, n uint64) bool {
			g.numbers.append(r.first+DocID(row-r.row), n)
			expires.between(row, row+n, g.expires.append)
			return true
		})
	}
	return func(yield func(row, n uint64) bool) { set.Runs(0, numbers.n, yield) }
}

// hidden returns the rows of a source that a reader who begins now sees; nil where it sees all.
func hidden(numbers *numbers, expires *expiries, dead *tombstones, now moment) *segment.RowSet {
	if dead.len() == 0 && !expires.any(now) {
		return nil
	}
	set := segment.NewRowSet(numbers.n)
	dead.each(func(doc, _ DocID) {
		if row, ok := numbers.row(doc); ok {
			set.Drop(row)
		}
	})
	for r := range expires.runs {
		for row := r.row; r.at.expired(now) && row < r.row+r.n; row++ {
			set.Drop(row)
		}
	}
	return set
}

// A run is some rows whose documents have consecutive numbers.
type run struct {
	first  DocID
	row, n uint64
}

// runs yields the runs in order.
func (d *numbers) runs(yield func(run) bool) {
	for i, row := range d.rows {
		end := d.n
		if i+1 < len(d.rows) {
			end = d.rows[i+1]
		}
		if !yield(run{d.docs[i], row, end - row}) {
			return
		}
	}
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

// eachKept calls yield with each run of rows that are kept, and the number of its source, until it returns false.
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
		each(len(g.segments)+i, uint64(g.memtables[i].len()))
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
			of = append(of, func(row uint64) (string, error) { return m.id(int(row)), nil })
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

// allLengths yields the lengths of the documents' texts in order, some thousands at a time: 0 where they are not known.
func (g *gathered) allLengths(yield func([]uint32) bool) {
	var of [][]uint32
	for _, s := range g.segments {
		of = append(of, s.Lengths())
	}
	for _, m := range g.memtables {
		of = append(of, m.allLengths())
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

// hand gives the deletions that came while the segment was made, of documents that it has, to it.
// It needs the index's lock.
func (g *gathered) hand(to *Segment) (late []DocID) {
	give := func(doc, clock DocID) {
		if _, ok := to.numbers.row(doc); ok && to.dead.add(doc, clock) {
			late = append(late, doc)
		}
	}
	for _, s := range g.segments {
		s.dead.each(give)
	}
	for _, m := range g.memtables {
		m.dead.each(give)
	}
	return late
}
