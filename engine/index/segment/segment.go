package segment

import (
	"sync/atomic"

	"ndd/asm"
	"ndd/engine/index/idlist"
	"ndd/engine/index/table"
	"ndd/engine/storage/store"
	"ndd/permute"
)

// A Segment is an open segment.
type Segment struct {
	head   store.Section
	meta   meta
	tables []table.Table
	every  []int // their numbers
	perms  []permute.Permutation
	plans  []atomic.Pointer[searchPlan] // by distance k
	docs   docList
	ids    *idlist.List // nil when documents have none
}

// Open opens the segment that [Write] wrote. The source must stay open.
func Open(source store.Source) (*Segment, error) {
	head, err := source.Section("segment")
	if err != nil {
		return nil, err
	}
	s := &Segment{head: head}
	if err := head.JSON(&s.meta); err != nil {
		return nil, err
	}
	m := &s.meta
	if err := m.Design.Validate(); err != nil {
		return nil, head.Corrupt(0, "%v", err)
	}
	if m.Documents < m.Fingerprints || m.Documents > 1<<56 || m.Fingerprints == 0 && m.Documents > 0 {
		return nil, head.Corrupt(0, "%d documents of %d fingerprints", m.Documents, m.Fingerprints)
	}
	if m.Layout != table.LayoutPlanar && m.Layout != table.LayoutHuffman {
		return nil, head.Corrupt(0, "unknown layout %q", m.Layout)
	}
	for i, t := range m.Design.Tables {
		tab, err := table.Open(source, TablePrefix(i), m.Layout)
		if err != nil {
			return nil, err
		}
		if tab.Len() != m.Fingerprints {
			return nil, head.Corrupt(0, "table %d has %d keys of %d", i, tab.Len(), m.Fingerprints)
		}
		s.tables = append(s.tables, tab)
		s.every = append(s.every, i)
		s.perms = append(s.perms, permute.New(t.Mask))
	}
	s.plans = make([]atomic.Pointer[searchPlan], m.Design.K+1)
	if s.docs, err = openDocs(source, m.Documents, m.Fingerprints); err != nil {
		return nil, err
	}
	if m.Named {
		if s.ids, err = openIDs(source, m.Documents); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func openIDs(source store.Source, docs uint64) (*idlist.List, error) {
	blocks, err := source.Section("names")
	if err != nil {
		return nil, err
	}
	ends, err := source.Section("names.ends")
	if err != nil {
		return nil, err
	}
	n, err := idlist.Open(blocks, ends)
	if err != nil {
		return nil, err
	}
	if n.Len() != docs {
		n.Close()
		return nil, ends.Corrupt(0, "%d IDs for %d documents", n.Len(), docs)
	}
	return n, nil
}

// Design is the segment's.
func (s *Segment) Design() *permute.Design { return &s.meta.Design }

// Layout is that of all its tables.
func (s *Segment) Layout() table.Layout { return s.meta.Layout }

// Fingerprints is the number of distinct ones.
func (s *Segment) Fingerprints() uint64 { return s.meta.Fingerprints }

// Documents is the number of documents.
func (s *Segment) Documents() uint64 { return s.meta.Documents }

// Tables are the segment's, in the order of its design.
func (s *Segment) Tables() []table.Table { return s.tables }

// IDs returns the documents' IDs by row, nil when they have none.
func (s *Segment) IDs() *idlist.List { return s.ids }

// Close frees what is not the source's.
func (s *Segment) Close() {
	if s.ids != nil {
		s.ids.Close()
	}
}

// Walk calls yield with all distinct fingerprints, in the order of table 0,
// some hundreds at a time.
func (s *Segment) Walk(yield func(fingerprints []uint64) bool) (err error) {
	defer store.CatchFault(&err)()
	mask := s.perms[0].Mask()
	var out []uint64
	return s.tables[0].Walk(func(keys []uint64) bool {
		out = append(out[:0], keys...)
		asm.Unpermute(out, out, mask)
		return yield(out)
	})
}

// Check reads everything and holds it against itself: each table ascends, all
// tables hold the same fingerprints, and every document belongs to one. It
// finds what checksums cannot: a file that was written wrong.
func (s *Segment) Check() (err error) {
	defer store.CatchFault(&err)()
	var sum0 uint64
	for i, t := range s.tables {
		sum := uint64(0)
		mask := s.perms[i].Mask()
		var out []uint64
		err := t.Walk(func(keys []uint64) bool {
			out = append(out[:0], keys...)
			asm.Unpermute(out, out, mask)
			for _, f := range out {
				sum += mix(f)
			}
			return true
		})
		if err != nil {
			return err
		}
		if i == 0 {
			sum0 = sum
		}
		if sum != sum0 {
			return s.head.Corrupt(0, "tables 0 and %d hold different fingerprints", i)
		}
	}
	seen := make([]uint64, (s.meta.Documents+63)/64)
	end := uint64(0)
	for rank := range s.meta.Fingerprints {
		from, to, ok := s.docs.of(rank)
		if !ok || from != end {
			return s.docs.corrupt(end, "the documents of fingerprint %d do not follow those of the one before", rank)
		}
		end = to
		for i := from; i < to; i++ {
			doc := s.docs.ordinals.At(i)
			if doc >= s.meta.Documents || seen[doc/64]>>(doc%64)&1 != 0 {
				return s.docs.corrupt(i, "document %d is out of range or has two fingerprints", doc)
			}
			seen[doc/64] |= 1 << (doc % 64)
		}
	}
	if end != s.meta.Documents {
		return s.docs.corrupt(end, "%d documents of %d belong to a fingerprint", end, s.meta.Documents)
	}
	return nil
}

// mix is splitmix64's finaliser: a sum of it tells sets apart.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Rows fills rows, which must be as many as there are documents, with their
// fingerprints.
func (s *Segment) Rows(rows []uint64) (err error) {
	defer store.CatchFault(&err)()
	rows = rows[:s.meta.Documents]
	rank := uint64(0)
	var bad error
	err = s.Walk(func(fingerprints []uint64) bool {
		for _, f := range fingerprints {
			from, to, ok := s.docs.of(rank)
			if !ok {
				bad = s.docs.corrupt(0, "no documents of the fingerprint of rank %d", rank)
				return false
			}
			rank++
			for i := from; i < to; i++ {
				doc := s.docs.ordinals.At(i)
				if doc >= s.meta.Documents {
					bad = s.docs.corrupt(i, "document %d of %d", doc, s.meta.Documents)
					return false
				}
				rows[doc] = f
			}
		}
		return true
	})
	if err == nil {
		err = bad
	}
	return err
}
