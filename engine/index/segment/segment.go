package segment

import (
	"sync/atomic"

	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/storage/idlist"
	"example.org/ndd/engine/storage/store"
	"example.org/ndd/permute"
)

// A Segment is an open segment. It may be used from many goroutines, each with its own [Scratch].
type Segment struct {
	head    store.Section
	meta    meta
	tables  []table.Table
	numbers []int // numbers of all tables
	perms   []permute.Permutation
	plans   []atomic.Pointer[searchPlan] // plan for each distance k
	docs    docList
	ids     *idlist.List // nil when documents have none

	readAhead func() (end func()) // read-ahead of the source; nil if it has none
}

// Open opens a segment that [Write] wrote. The source must stay open until [Segment.Close]. Errors
// wrap [store.ErrCorrupt].
func Open(source store.Source) (*Segment, error) {
	head, err := source.Section("segment")
	if err != nil {
		return nil, err
	}
	s := &Segment{head: head}
	if f, ok := source.(interface{ ReadAhead() (end func()) }); ok {
		s.readAhead = f.ReadAhead
	}
	// Read the description and check it.
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
	// Open the tables.
	for i, t := range m.Design.Tables {
		tab, err := table.Open(source, TablePrefix(i), m.Layout)
		if err != nil {
			return nil, err
		}
		if tab.Len() != m.Fingerprints {
			return nil, head.Corrupt(0, "table %d has %d keys of %d", i, tab.Len(), m.Fingerprints)
		}
		s.tables = append(s.tables, tab)
		s.numbers = append(s.numbers, i)
		s.perms = append(s.perms, permute.New(t.Mask))
	}
	s.plans = make([]atomic.Pointer[searchPlan], m.Design.K+1)
	// Open the documents and their IDs.
	if m.NoDocs {
		if m.Named {
			return nil, head.Corrupt(0, "IDs, but no documents")
		}
		return s, nil
	}
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

// openIDs opens the list of the IDs of docs documents.
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

// Design returns the design of the tables.
func (s *Segment) Design() *permute.Design { return &s.meta.Design }

// Layout returns the layout of all tables.
func (s *Segment) Layout() table.Layout { return s.meta.Layout }

// Fingerprints returns the number of distinct fingerprints.
func (s *Segment) Fingerprints() uint64 { return s.meta.Fingerprints }

// Documents returns the number of documents. The segment stores them only if [Segment.KeepsDocs] is true.
func (s *Segment) Documents() uint64 { return s.meta.Documents }

// KeepsDocs reports whether the segment knows which documents have a fingerprint.
func (s *Segment) KeepsDocs() bool { return !s.meta.NoDocs }

// Tables returns the tables, in the order of the design.
func (s *Segment) Tables() []table.Table { return s.tables }

// IDs returns the documents' IDs by row, nil when they have none.
func (s *Segment) IDs() *idlist.List { return s.ids }

// inOrder tells the system that much of a table will be read in order until end is called.
func (s *Segment) inOrder() (end func()) {
	if s.readAhead == nil {
		return func() {}
	}
	return s.readAhead()
}

// Close frees the memory of the segment, except the source. The segment must not be used afterwards.
func (s *Segment) Close() {
	if s.ids != nil {
		s.ids.Close()
	}
}
