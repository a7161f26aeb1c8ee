package segment

import "errors"

// A Source is a segment whose documents go into another one: [Input.Sources].
type Source struct {
	Segment *Segment
	Rows    *RowSet // of the documents that do; nil: all of them
}

// Len returns how many documents go into the other segment.
func (s *Source) Len() uint64 {
	if s.Rows == nil {
		return s.Segment.Documents()
	}
	return s.Rows.Len()
}

// SourceBytes returns the memory that a source of n documents takes while it is merged, where not
// all of them are kept: a bit for each that is, one for each fingerprint that some of these have,
// and the ranks of those that are kept.
func SourceBytes(docs uint64) uint64 { return docs/4 + docs/64 + 64 }

// merging reads sources as the input of a sort, from their tables, whatever designs they have. It
// keeps nothing in memory but bits:
//
//	table 0 of each source, walked ---> fingerprints ------------------------> keys of a table
//	                               `--> fingerprints, each with its places --> sorted --> rows
//
// A place is where an ordinal stands among those of all sources. So documents that have one
// fingerprint come in the order of their rows, and the row of a place is looked up when they are
// sorted: the ordinals of a source that has the same table 0 are read in order.
type merging struct {
	sources []*reading
	places  uint64
	keys    int // fingerprints of sources with documents that are kept
}

// A reading is a source that is being read.
type reading struct {
	*Segment
	rows  rowRanks // that are kept; without a set all are
	live  []uint64 // a bit for each rank: has documents that are kept; nil: all have
	place uint64   // of its first document
	row   uint64   // that its first document gets
}

// newMerging returns a reader of the sources. The error is [ErrNoDocs], or that of a source that is
// not sound.
func newMerging(sources []Source) (*merging, error) {
	m := new(merging)
	row := uint64(0)
	for i := range sources {
		s := &sources[i]
		if !s.Segment.KeepsDocs() {
			return nil, ErrNoDocs
		}
		r := &reading{Segment: s.Segment, place: m.places, row: row}
		keys := int(s.Segment.Fingerprints())
		if s.Rows != nil && s.Rows.Len() < s.Segment.Documents() {
			r.rows = rank(s.Rows)
			var err error
			if keys, err = r.findLive(); err != nil {
				return nil, err
			}
		}
		m.sources = append(m.sources, r)
		m.keys += keys
		m.places += s.Segment.Documents()
		row += s.Len()
	}
	return m, nil
}

// findLive finds which fingerprints have documents that are kept, and returns how many.
func (r *reading) findLive() (n int, err error) {
	r.live = make([]uint64, (r.meta.Fingerprints+63)/64)
	err = r.eachRange(func(rank, from, to uint64) error {
		for i := from; i < to; i++ {
			doc, err := r.Segment.row(i)
			if err != nil {
				return err
			}
			if r.rows.Has(doc) {
				r.live[rank/64] |= 1 << (rank % 64)
				n++
				break
			}
		}
		return nil
	})
	return n, err
}

// read calls f for each source with the range from/of to to/of of its documents that is the given
// part.
func (m *merging) read(part, parts int, f func(r *reading, from, to, of uint64) error) error {
	begin, end := m.places*uint64(part)/uint64(parts), m.places*uint64(part+1)/uint64(parts)
	for _, r := range m.sources {
		n := r.meta.Documents
		from, to := max(begin, r.place), min(end, r.place+n)
		if from >= to {
			continue
		}
		if err := f(r, from-r.place, to-r.place, n); err != nil {
			return err
		}
	}
	return nil
}

// walk calls f with fingerprints of a part of table 0, and the rank of the first.
func (r *reading) walk(from, to, of uint64, f func(rank uint64, prints []uint64) error) error {
	var failed error
	err := r.Segment.walk(0, from, to, of, func(rank uint64, prints []uint64) bool {
		failed = f(rank, prints)
		return failed == nil
	})
	return errors.Join(failed, err)
}

// mergedKeys is the fingerprints of all sources, as an input whose rows are of no matter.
type mergedKeys struct{ *merging }

func (m mergedKeys) Len() int { return m.keys }

func (m mergedKeys) Read(part, parts int, f func(prints []uint64, row int) error) error {
	return m.read(part, parts, func(r *reading, from, to, of uint64) error {
		return r.walk(from, to, of, func(rank uint64, prints []uint64) error {
			if r.live != nil {
				prints = r.onlyLive(rank, prints)
			}
			return f(prints, 0)
		})
	})
}

// onlyLive keeps the fingerprints with live documents; prints[0] has the given rank.
func (r *reading) onlyLive(rank uint64, prints []uint64) []uint64 {
	n := 0
	for i, p := range prints {
		prints[n] = p
		at := rank + uint64(i)
		n += int(r.live[at/64] >> (at % 64) & 1)
	}
	return prints[:n]
}

// mergedDocs is the fingerprints of all documents of all sources, in order of their places.
type mergedDocs struct{ *merging }

func (m mergedDocs) Len() int { return int(m.places) }

func (m mergedDocs) Read(part, parts int, f func(prints []uint64, place int) error) error {
	return m.read(part, parts, func(r *reading, from, to, of uint64) error { return r.walkDocs(from, to, of, f) })
}

// ReadWithin reads only fingerprints from low to high of sources whose first table has that mask.
func (m mergedDocs) ReadWithin(mask, low, high uint64, f func(prints []uint64, place int) error) error {
	for _, r := range m.sources {
		from, to, of := uint64(0), uint64(1), uint64(1)
		if r.perms[0].Mask() == mask {
			from, to, of = r.tables[0].PartWith(low, high)
		}
		if err := r.walkDocs(from, to, of, f); err != nil {
			return err
		}
	}
	return nil
}

// walkDocs calls f with the fingerprints of documents in a part of table 0, and the place of the
// first.
func (r *reading) walkDocs(from, to, of uint64, f func(prints []uint64, place int) error) error {
	if r.docs.firsts == nil {
		return r.walk(from, to, of, func(rank uint64, prints []uint64) error { return f(prints, int(r.place+rank)) })
	}
	repeat := repeater{r: r, f: f}
	if err := r.walk(from, to, of, repeat.each); err != nil || repeat.cursor.list == nil {
		return err
	}
	return repeat.cursor.ends(repeat.rank, r.meta.Fingerprints)
}

// A repeater repeats fingerprints as often as they have documents.
type repeater struct {
	r      *reading
	f      func(prints []uint64, place int) error
	cursor docCursor // of the next fingerprint; without a list before the first one
	rank   uint64    // of the next fingerprint
	buffer [1024]uint64
}

// each handles the next fingerprints; the first has the given rank.
func (e *repeater) each(rank uint64, prints []uint64) error {
	c := &e.cursor
	if c.list == nil {
		*c = e.r.docs.cursor(rank)
	}
	out, place := e.buffer[:0], e.r.place+c.at
	for i, p := range prints {
		r, err := c.next(rank + uint64(i))
		if err != nil {
			return err
		}
		for ; r.from < r.to; r.from++ {
			if len(out) == cap(out) {
				if err := e.f(out, int(place)); err != nil {
					return err
				}
				place += uint64(len(out))
				out = out[:0]
			}
			out = append(out, p)
		}
	}
	e.rank = rank + uint64(len(prints))
	return e.f(out, int(place))
}

// miss returns the error of sources that lack documents.
func (m *merging) miss(docs int) error {
	return m.sources[0].docs.corrupt(0, "of this segment, and those that it is merged with, %d documents are missing",
		docs)
}

// toRows puts the rows of the new segment in the place of places, moves those that are kept to the front, with their
// keys, and returns how many they are. There may be at most most.
func (m *merging) toRows(keys, places []uint64, most int) (n int, err error) {
	for j, place := range places {
		i := 0
		for i+1 < len(m.sources) && m.sources[i+1].place <= place {
			i++
		}
		r := m.sources[i]
		at := place - r.place
		doc, err := r.Segment.row(at)
		if err != nil {
			return 0, err
		}
		if r.live != nil {
			if !r.rows.Has(doc) {
				continue
			}
			doc = r.rows.of(doc)
		}
		if n == most {
			return 0, r.docs.corrupt(at,
				"of this segment, or another that it is merged with, there are more documents than it says")
		}
		keys[n], places[n] = keys[j], r.row+doc
		n++
	}
	return n, nil
}
