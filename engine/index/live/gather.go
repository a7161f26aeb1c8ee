package live

import (
	"iter"
	"slices"

	"ndd/engine/index/segment"
	"ndd/engine/memory"
)

// gathered is what segments and memtables that follow one another have, without what is deleted or
// has expired: the input of the segment that takes their place. It is what building would be given of the same
// documents, so that the segment is the same as a built one.
type gathered struct {
	segments  []*Segment
	memtables []*memtable
	from, to  DocID                  // what they have is between these
	now       moment                 // what has expired by then is left out
	dropped   []map[DocID]DocID      // of each segment, then of each memtable: what was deleted
	prints    *memory.Buffer[uint64] // in order of documents
	numbers   numbers
	expires   expiries
	ids       bool
	lengths   [][]uint32     // of texts, in order of documents; nil when they are not kept
	whole     *segment.Input // all of it, where it comes from elsewhere
}

// gather reads segments and the memtables behind them, which no longer grow.
func gather(segments []*Segment, memtables []*memtable, c *Config, now moment) (*gathered, error) {
	g := &gathered{segments: segments, memtables: memtables, ids: c.IDs, now: now}
	docs := uint64(0)
	for _, s := range segments {
		docs += s.Documents()
		g.to = max(g.to, s.end())
		g.dropped = append(g.dropped, s.dead.all())
	}
	for _, m := range memtables {
		docs += uint64(m.len())
		g.to = max(g.to, m.end())
		g.dropped = append(g.dropped, m.dead.all())
	}
	if len(segments) > 0 {
		g.from = segments[0].from
	} else {
		g.from = memtables[0].first
	}
	var err error
	if g.prints, err = memory.Make[uint64](int(docs)); err != nil {
		return nil, err
	}
	for i, s := range segments {
		room := g.prints.Data[g.numbers.n:][:s.Documents()]
		if err := s.Rows(room); err != nil {
			g.free()
			return nil, err
		}
		if c.Lengths {
			g.keepLengths(s.Lengths(), s.Documents(), &s.numbers, &s.expires, g.dropped[i])
		}
		g.keep(room, &s.numbers, &s.expires, g.dropped[i])
	}
	for i, m := range memtables {
		room := g.prints.Data[g.numbers.n:][:m.len()]
		m.eachPage(0, m.len(), func(row int, prints []uint64) bool {
			copy(room[row:], prints)
			return true
		})
		own := consecutive(m.first, uint64(m.len()))
		expires := m.expiries()
		if c.Lengths {
			g.keepLengths(m.allLengths(), uint64(m.len()), &own, &expires, g.dropped[len(segments)+i])
		}
		g.keep(room, &own, &expires, g.dropped[len(segments)+i])
	}
	return g, nil
}

// keep numbers the rows of a source whose fingerprints are in room, and closes the gaps of those that
// are dropped.
func (g *gathered) keep(room []uint64, numbers *numbers, expires *expiries, dropped map[DocID]DocID) {
	kept := 0
	for r := range numbers.runs {
		if len(dropped) == 0 && expires.first == 0 {
			g.numbers.append(r.first, r.n)
			g.expires.append(0, r.n)
			continue
		}
		for i := range r.n {
			if !g.drops(dropped, expires, r.row+i, r.first+DocID(i)) {
				room[kept] = room[r.row+i]
				kept++
				g.numbers.append(r.first+DocID(i), 1)
				g.expires.append(expires.of(r.row+i), 1)
			}
		}
	}
}

// drops reports whether the document of a source's row is left out.
func (g *gathered) drops(dropped map[DocID]DocID, expires *expiries, row uint64, doc DocID) bool {
	if expires.of(row).expired(g.now) {
		return true
	}
	_, dead := dropped[doc]
	return dead
}

// keepLengths appends the lengths of a source's rows, of which there are n, without those that are dropped. They are
// copied where some are dropped, and else used where they are; nil stands for lengths that are not known.
func (g *gathered) keepLengths(lengths []uint32, n uint64, numbers *numbers, expires *expiries, dropped map[DocID]DocID) {
	if lengths == nil {
		lengths = make([]uint32, n)
	}
	lengths = lengths[:n]
	if len(dropped) > 0 || expires.first != 0 {
		kept := make([]uint32, 0, n)
		for r := range numbers.runs {
			for i := range r.n {
				if !g.drops(dropped, expires, r.row+i, r.first+DocID(i)) {
					kept = append(kept, lengths[r.row+i])
				}
			}
		}
		lengths = kept
	}
	g.lengths = append(g.lengths, lengths)
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
		in.Fingerprints = g.prints.Data[:g.numbers.n]
	}
	if g.ids {
		in.IDs = g.allIDs()
	}
	if g.lengths != nil {
		in.Lengths = slices.Values(g.lengths)
	}
	return in
}

// allIDs yields the IDs of the documents in order.
func (g *gathered) allIDs() iter.Seq2[string, error] {
	if g.whole != nil {
		return g.whole.IDs
	}
	return func(yield func(string, error) bool) {
		for i, s := range g.segments {
			c := s.Segment.IDs().Cursor()
			for r := range s.numbers.runs {
				for j := range r.n {
					if !g.drops(g.dropped[i], &s.expires, r.row+j, r.first+DocID(j)) && !yield(c.ID(r.row+j)) {
						return
					}
				}
			}
		}
		for i, m := range g.memtables {
			dropped := g.dropped[len(g.segments)+i]
			expires := m.expiries()
			for j := range m.len() {
				if !g.drops(dropped, &expires, uint64(j), m.first+DocID(j)) && !yield(m.id(j), nil) {
					return
				}
			}
		}
	}
}

// hand gives the deletions that came while the segment was made, of documents that it has, to it.
// It needs the index's lock.
func (g *gathered) hand(to *Segment) (late []DocID) {
	give := func(t *tombstones) {
		for doc, clock := range t.all() {
			if _, ok := to.numbers.row(doc); ok && to.dead.add(doc, clock) {
				late = append(late, doc)
			}
		}
	}
	for _, s := range g.segments {
		give(&s.dead)
	}
	for _, m := range g.memtables {
		give(&m.dead)
	}
	return late
}
