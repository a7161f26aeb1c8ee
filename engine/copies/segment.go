package copies

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"slices"

	"ndd/engine/copies/lists"
	"ndd/engine/storage/idlist"
	"ndd/engine/storage/store"
)

// A segmentWriter writes one file of postings.
//
//	names, names.ends   IDs of the documents (package idlist)
//	few                 a bit a document: it has too few signatures of its own method
//	sites               a number a document, where any has a site: see SiteOf
//	manifest            methods and documents, as JSON
//	ccdet..., ...       lists of each method (package lists), and METHOD.rows, the numbers of its documents
type segmentWriter struct {
	*Detector
	file *store.Writer
	ids  *idlist.Writer
}

// segmentHead is the JSON of the section "manifest" of a file of postings.
type segmentHead struct {
	Documents uint64   `json:"documents"`
	Methods   []Method `json:"methods"`
}

// commit writes the rest and gives the file its name.
func (w *segmentWriter) commit(ctx context.Context) error {
	ends, err := w.ids.Close()
	if err != nil {
		return err
	}
	w.file.Section("names.ends")
	w.file.Write(store.Bytes64(ends))
	w.file.Section("few")
	n := w.report.Documents
	w.file.Write(append(w.few, make([]byte, (n+7)/8-len(w.few))...))
	if w.sites != nil {
		w.file.Section("sites")
		w.sites = append(w.sites, make([]uint64, n-len(w.sites))...)
		w.file.Write(store.Bytes64(w.sites))
	}
	head := segmentHead{Documents: uint64(n)}
	slices.SortFunc(w.methods, func(a, b methodIndex) int { return cmp.Compare(order(a.method), order(b.method)) })
	for i := range w.methods {
		m := &w.methods[i]
		head.Methods = append(head.Methods, m.method)
		if err := w.method(ctx, m); err != nil {
			return err
		}
	}
	data, err := json.Marshal(&head)
	if err != nil {
		return err
	}
	w.file.Section("manifest")
	w.file.Write(data)
	return w.file.Commit()
}

func (w *segmentWriter) method(ctx context.Context, m *methodIndex) error {
	w.file.Section(string(m.method) + ".rows")
	rows := []byte{}
	before := uint32(0)
	for _, doc := range m.docs {
		rows = binary.AppendUvarint(rows, uint64(doc-before))
		before = doc
	}
	w.file.Write(rows)
	sets, err := m.builder.Sets(ctx, w.o.Threads)
	if err != nil {
		return err
	}
	o := lists.Options{Threads: w.o.Threads, Room: w.o.Room}
	if err := lists.Write(ctx, w.file, string(m.method), sets, o); err != nil {
		return err
	}
	return m.builder.Close()
}

// A segment is an open file of postings.
type segment struct {
	file    *store.File
	head    segmentHead
	ids     *idlist.List
	few     bitmap // documents with too few signatures of their own method
	sites   []uint64
	deleted bitmap // that the manifest says; not to be found any more
	methods map[Method]*segmentMethod
}

type segmentMethod struct {
	rows  []uint32 // by number in the lists: the document
	lists *lists.Lists
}

// openSegment verifies an open file of postings, which it closes if that fails.
func openSegment(ctx context.Context, f *store.File, threads int) (*segment, error) {
	s := &segment{file: f, methods: map[Method]*segmentMethod{}}
	if err := s.open(ctx, threads); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *segment) open(ctx context.Context, threads int) (err error) {
	defer store.CatchFault(&err)()
	if err := s.file.Verify(ctx, threads, nil); err != nil {
		return err
	}
	section := func(name string) (x store.Section) {
		if err == nil {
			x, err = s.file.Section(name)
		}
		return x
	}
	head, blocks, ends, few := section("manifest"), section("names"), section("names.ends"), section("few")
	if err != nil {
		return err
	}
	if err := head.JSON(&s.head); err != nil {
		return err
	}
	if s.ids, err = idlist.Open(blocks, ends); err != nil {
		return err
	}
	s.few = few.Data
	if n := s.head.Documents; s.ids.Len() != n || n > 1<<32 || uint64(len(s.few)) != (n+7)/8 {
		return few.Corrupt(0, "%d bytes, %d IDs for %d documents", len(s.few), s.ids.Len(), n)
	}
	if err := s.openSites(); err != nil {
		return err
	}
	for _, m := range s.head.Methods {
		if s.methods[m], err = s.openMethod(m); err != nil {
			return err
		}
	}
	return nil
}

func (s *segment) openSites() error {
	for _, x := range s.file.Sections() {
		if x.Name != "sites" {
			continue
		}
		if s.sites = store.Uint64s(x.Data); uint64(len(s.sites)) != s.head.Documents {
			return x.Corrupt(0, "%d sites for %d documents", len(s.sites), s.head.Documents)
		}
	}
	return nil
}

func (s *segment) openMethod(m Method) (*segmentMethod, error) {
	if _, err := ParseMethod(string(m)); err != nil || m == Auto || s.methods[m] != nil {
		return nil, s.file.Corrupt("method %q", m)
	}
	rows, err := s.file.Section(string(m) + ".rows")
	if err != nil {
		return nil, err
	}
	x := new(segmentMethod)
	at := uint64(0)
	for data := rows.Data; len(data) > 0; {
		v, n := binary.Uvarint(data)
		if at += v; n <= 0 || v > s.head.Documents || at >= s.head.Documents || v == 0 && len(x.rows) > 0 {
			return nil, rows.Corrupt(uint64(len(rows.Data)-len(data)), "documents that lie")
		}
		x.rows = append(x.rows, uint32(at))
		data = data[n:]
	}
	if x.lists, err = lists.Open(s.file, string(m)); err != nil {
		return nil, err
	}
	if x.lists.Documents() != len(x.rows) {
		return nil, rows.Corrupt(0, "%d documents, and %d in the lists", len(x.rows), x.lists.Documents())
	}
	return x, nil
}

// hasEnds reports whether a document is compared by CCDet.
func (s *segment) hasEnds(doc uint32) bool {
	m := s.methods[CCDet]
	if m == nil {
		return false
	}
	_, ok := slices.BinarySearch(m.rows, doc)
	return ok
}

// check reads and compares all content of the segment.
func (s *segment) check(ctx context.Context) (err error) {
	defer store.CatchFault(&err)()
	for _, err := range s.ids.All() {
		if err != nil {
			return err
		}
	}
	for _, m := range s.head.Methods {
		if err := s.methods[m].lists.Check(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *segment) close() error {
	if s.ids != nil {
		s.ids.Close()
	}
	return s.file.Close()
}
