package live

import (
	"encoding/json"
	"iter"
	"slices"

	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
)

// documents is the content of the second file of a segment. The first one depends only on the documents, wherever they
// came from. This file has the rest: document numbers, deletions of earlier documents during the same
// time, and an index of the IDs:
//
//	documents      JSON: identity of the segment's file, rows, whether there is an index of IDs
//	numbers.rows   first row of each run of consecutive numbers, 8 bytes each
//	numbers.docs   its document
//	expiry.rows    first row of each run of documents that expire together; only if some expire
//	expiry.times   their time of expiry, in seconds since 1970; 0 is never
//	tombstones     deleted documents of earlier segments, ascending
//	ids            slots of the hash table ([rows.IDIndex]); only with IDs
//
// A segment that building wrote has no such file. Its numbers are consecutive and follow those of the previous segment,
// and it has no deletions.
type documents struct {
	file       *store.File
	numbers    rows.Numbers
	expires    rows.Expiries
	tombstones []rows.DocID
	ids        rows.IDIndex
}

type documentsHead struct {
	Segment string `json:"segment"`
	Rows    uint64 `json:"rows"`
	IDs     bool   `json:"ids"`
	Expires bool   `json:"expires,omitempty"`
}

// writeDocuments writes the file for the segment with that identity, and returns its entry for the manifest. ids is nil
// if the documents have no IDs.
func writeDocuments(path string, generation uint64, o store.Options, segment string, d documents, key *rows.IDKey,
	ids iter.Seq2[string, error]) (file ManifestFile, err error) {
	head, err := json.Marshal(documentsHead{segment, d.numbers.N, ids != nil, d.expires.First != 0})
	if err != nil {
		return file, err
	}
	return writeFile(path, store.KindDocuments, generation, o, func(w *store.Writer) error {
		// Write the description, then the columns.
		store.WriteSection(w, "documents", head) // Commit reports errors of these writes
		store.WriteSection(w, "numbers.rows", store.Bytes64(d.numbers.Rows))
		store.WriteSection(w, "numbers.docs", store.Bytes64(memory.Cast[uint64](d.numbers.Values)))
		if d.expires.First != 0 {
			store.WriteSection(w, "expiry.rows", store.Bytes64(d.expires.Rows))
			store.WriteSection(w, "expiry.times", store.Bytes64(memory.Cast[uint64](d.expires.Values)))
		}
		store.WriteSection(w, "tombstones", store.Bytes64(memory.Cast[uint64](d.tombstones)))
		if ids == nil {
			return nil
		}
		// Make the index of IDs in memory, and write it.
		index, err := rows.IndexIDs(key, d.numbers.N, ids)
		if err != nil {
			return err
		}
		defer index.Free()
		store.WriteSection(w, "ids", store.Bytes64(index.Slots))
		return nil
	})
}

// openDocuments opens the file with the documents of a segment.
func openDocuments(d *disk.Disk, dir string, m *Manifest, i int) (docs *documents, err error) {
	g := &m.Segments[i]
	_, err = g.DocsFile.open(dir, store.KindDocuments, m.Generation, onDisk(d), func(f *store.File) (err error) {
		docs, err = parseDocuments(f, g)
		return err
	})
	return docs, err
}

// parseDocuments reads the file with the documents of a segment.
func parseDocuments(f *store.File, g *ManifestSegment) (_ *documents, err error) {
	defer store.EndFaults(store.BeginFaults(), &err)
	// Read the description, and check that it belongs to the segment.
	s, err := f.Section("documents")
	if err != nil {
		return nil, err
	}
	var head documentsHead
	if err := s.JSON(&head); err != nil {
		return nil, err
	}
	if head.Segment != g.ID || head.Rows != g.Documents {
		return nil, s.Corrupt(0, "%d rows of segment %s, but the manifest has %d rows of segment %s", head.Rows, head.Segment,
			g.Documents, g.ID)
	}
	// Copy the columns to the heap.
	d := &documents{file: f}
	var lists [5][]uint64
	for i, name := range []string{"numbers.rows", "numbers.docs", "tombstones", "expiry.rows", "expiry.times"} {
		if i > 2 && !head.Expires {
			break
		}
		section, err := f.Section(name)
		if err != nil {
			return nil, err
		}
		if len(section.Data)%8 != 0 {
			return nil, section.Corrupt(0, "%d bytes of 8-byte numbers", len(section.Data))
		}
		lists[i] = slices.Clone(store.Uint64s(section.Data))
	}
	// Check them against the number of rows.
	var ok bool
	if d.numbers, ok = rows.ReadNumbers(lists[0], memory.Cast[rows.DocID](lists[1]), head.Rows); !ok {
		return nil, s.Corrupt(0, "the document numbers do not ascend, or are not for %d rows", head.Rows)
	}
	d.tombstones = memory.Cast[rows.DocID](lists[2])
	if head.Expires {
		if d.expires, ok = rows.ReadExpiries(lists[3], memory.Cast[rows.Time](lists[4]), head.Rows); !ok {
			return nil, s.Corrupt(0, "the times of expiry are not for %d rows", head.Rows)
		}
	}
	// The index of IDs stays in the file.
	if !head.IDs {
		return d, nil
	}
	section, err := f.Section("ids")
	if err != nil {
		return nil, err
	}
	if uint64(len(section.Data)) != rows.IDIndexBytes(head.Rows) {
		return nil, section.Corrupt(0, "%d bytes of an index of %d IDs", len(section.Data), head.Rows)
	}
	d.ids = rows.NewIDIndex(store.Uint64s(section.Data), head.Rows)
	return d, nil
}

// number numbers the documents of a segment: consecutively from next on, unless d lists their numbers.
func number(s *version.Segment, next rows.DocID, d *documents) {
	if d == nil {
		s.Numbers, s.FirstDoc = rows.NewNumbers(next, s.Documents()), next
		return
	}
	d.attach(s)
	s.FirstDoc = max(next, d.numbers.First())
}

// attach sets the fields of a segment that the file contains.
func (d *documents) attach(s *version.Segment) {
	s.DocsFile, s.Numbers, s.Expires, s.Older, s.IDIndex = d.file, d.numbers, d.expires, d.tombstones, d.ids
}
