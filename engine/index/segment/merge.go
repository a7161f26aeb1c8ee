package segment

import "errors"

// A Source is a segment whose documents are copied into another one: see [Input.Sources].
type Source struct {
	Segment *Segment
	Rows    *RowSet // documents to copy; nil means all
}

// Len returns the number of documents to copy.
func (s *Source) Len() uint64 {
	if s.Rows == nil {
		return s.Segment.Documents()
	}
	return s.Rows.Len()
}

// SourceBytes returns the memory for merging a source of n documents of which only some are copied: one bit per
// document, one bit per fingerprint, and the ranks of the rows.
func SourceBytes(docs uint64) uint64 { return docs/4 + docs/64 + 64 }

// mergeSources reads segments as the input of a sort, whatever designs they have. It needs only some bits in memory:
//
//	table 0 of each source, walked ---> fingerprints ------------------------> keys of a table
//	                               `--> fingerprints with their positions  --> sorted --> rows
//
// A position is an index in the concatenated lists of ordinals of all sources. So documents with the same fingerprint
// keep the order of their rows. The row of a position is looked up after sorting: if a source has the same table 0, its
// ordinals are then read in order.
type mergeSources struct {
	sources   []*sourceReader
	positions uint64
	keys      int // number of fingerprints with documents to copy
}

// A sourceReader reads one source.
type sourceReader struct {
	*Segment
	rows     rowRanks // rows to copy; without a set, all rows
	live     *RowSet  // ranks of the fingerprints with documents to copy; nil means all
	position uint64   // position of its first document
	row      uint64   // row of its first document in the new segment
}

// newMergeSources returns a reader of the sources. It returns [ErrNoDocs], or the error of a corrupt source.
func newMergeSources(sources []Source) (*mergeSources, error) {
	m := new(mergeSources)
	row := uint64(0)
	for i := range sources {
		s := &sources[i]
		if !s.Segment.KeepsDocs() {
			return nil, ErrNoDocs
		}
		r := &sourceReader{Segment: s.Segment, position: m.positions, row: row}
		keys := s.Segment.Fingerprints()
		if s.Rows != nil && s.Rows.Len() < s.Segment.Documents() {
			r.rows = rank(s.Rows)
			if err := r.findLive(); err != nil {
				return nil, err
			}
			keys = r.live.Len()
		}
		m.sources = append(m.sources, r)
		m.keys += int(keys)
		m.positions += s.Segment.Documents()
		row += s.Len()
	}
	return m, nil
}

// findLive finds the fingerprints with documents to copy.
func (r *sourceReader) findLive() error {
	r.live = NewRowSet(r.meta.Fingerprints)
	return r.docs.eachRange(func(rank uint64, docs Range) error {
		for i := docs.start; i < docs.end; i++ {
			if doc, err := r.docs.row(i); err != nil || r.rows.Has(doc) {
				return err
			}
		}
		r.live.Drop(rank)
		return nil
	})
}

// read calls f for the positions of each source that belong to the given part of all positions: it has the
// documents from start/total to end/total of the source.
func (m *mergeSources) read(part, parts int, f func(r *sourceReader, start, end, total uint64) error) error {
	begin, end := m.positions*uint64(part)/uint64(parts), m.positions*uint64(part+1)/uint64(parts)
	for _, r := range m.sources {
		n := r.meta.Documents
		start, stop := max(begin, r.position), min(end, r.position+n)
		if start >= stop {
			continue
		}
		if err := f(r, start-r.position, stop-r.position, n); err != nil {
			return err
		}
	}
	return nil
}

// walk calls f with the fingerprints of a part of table 0 and the rank of the first one.
func (r *sourceReader) walk(start, end, total uint64, f func(rank uint64, fingerprints []uint64) error) error {
	var failed error
	err := r.Segment.walk(0, start, end, total, func(rank uint64, fingerprints []uint64) bool {
		failed = f(rank, fingerprints)
		return failed == nil
	})
	return errors.Join(failed, err)
}

// mergedKeys is an input of the fingerprints of all sources. It has no rows.
type mergedKeys struct{ *mergeSources }

func (m mergedKeys) Len() int { return m.keys }

func (m mergedKeys) Read(part, parts int, f func(fingerprints []uint64, row int) error) error {
	return m.read(part, parts, func(r *sourceReader, start, end, total uint64) error {
		return r.walk(start, end, total, func(rank uint64, fingerprints []uint64) error {
			if r.live != nil {
				fingerprints = r.onlyLive(rank, fingerprints)
			}
			return f(fingerprints, 0)
		})
	})
}

// onlyLive keeps the fingerprints that have documents to copy. The first one has the given rank.
func (r *sourceReader) onlyLive(rank uint64, fingerprints []uint64) []uint64 {
	n := 0
	for i, p := range fingerprints {
		fingerprints[n] = p
		if r.live.Has(rank + uint64(i)) {
			n++
		}
	}
	return fingerprints[:n]
}

// mergedDocs is an input of the fingerprints of all documents of all sources, in the order of their positions.
type mergedDocs struct{ *mergeSources }

func (m mergedDocs) Len() int { return int(m.positions) }

func (m mergedDocs) Read(part, parts int, f func(fingerprints []uint64, row int) error) error {
	return m.read(part, parts, func(r *sourceReader, start, end, total uint64) error { return r.walkDocs(start, end, total, f) })
}

// ReadWithin omits fingerprints that are not from low to high, if the first table of their source has that mask.
func (m mergedDocs) ReadWithin(mask, low, high uint64, f func(fingerprints []uint64, row int) error) error {
	for _, r := range m.sources {
		start, end, total := uint64(0), uint64(1), uint64(1)
		if r.perms[0].Mask() == mask {
			start, end, total = r.tables[0].PartWith(low, high)
		}
		if err := r.walkDocs(start, end, total, f); err != nil {
			return err
		}
	}
	return nil
}

// walkDocs calls f with the fingerprint of each document in a part of table 0, and the position of the first one.
func (r *sourceReader) walkDocs(start, end, total uint64, f func(fingerprints []uint64, row int) error) error {
	if r.docs.firsts == nil {
		return r.walk(start, end, total, func(rank uint64, fingerprints []uint64) error {
			return f(fingerprints, int(r.position+rank))
		})
	}
	repeat := repeater{r: r, f: f}
	if err := r.walk(start, end, total, repeat.each); err != nil || repeat.cursor.list == nil {
		return err
	}
	return repeat.cursor.ends(repeat.rank)
}

// A repeater repeats each fingerprint once per document.
type repeater struct {
	r      *sourceReader
	f      func(fingerprints []uint64, position int) error
	cursor docCursor // position at the next fingerprint; its list is nil before the first one
	rank   uint64    // rank of the next fingerprint
	buffer [1024]uint64
}

// each passes on the next fingerprints. The first one has the given rank.
func (e *repeater) each(rank uint64, fingerprints []uint64) error {
	c := &e.cursor
	if c.list == nil {
		*c = e.r.docs.cursor(rank)
	}
	out, row := e.buffer[:0], e.r.position+c.ordinal
	for i, p := range fingerprints {
		r, err := c.next(rank + uint64(i))
		if err != nil {
			return err
		}
		for ; r.start < r.end; r.start++ {
			if len(out) == cap(out) {
				if err := e.f(out, int(row)); err != nil {
					return err
				}
				row += uint64(len(out))
				out = out[:0]
			}
			out = append(out, p)
		}
	}
	e.rank = rank + uint64(len(fingerprints))
	return e.f(out, int(row))
}

// toRows replaces positions by rows of the new segment. It moves the documents to copy to the front, with their keys,
// and returns their number, which may be at most limit.
func (m *mergeSources) toRows(keys, positions []uint64, limit int) (n int, err error) {
	for j, position := range positions {
		i := 0
		for i+1 < len(m.sources) && m.sources[i+1].position <= position {
			i++
		}
		r := m.sources[i]
		row := position - r.position
		doc, err := r.docs.row(row)
		if err != nil {
			return 0, err
		}
		if r.live != nil {
			if !r.rows.Has(doc) {
				continue
			}
			doc = r.rows.rankOf(doc)
		}
		if n == limit {
			return 0, r.docs.corrupt(row,
				"of this segment, or another that it is merged with, there are more documents than it says")
		}
		keys[n], positions[n] = keys[j], r.row+doc
		n++
	}
	return n, nil
}
