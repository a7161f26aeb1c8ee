package segment

import (
	"path/filepath"
	"testing"

	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/oracle/hostile"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/storage/store"
)

func goldenSections(t testing.TB, layout string) []store.Section {
	t.Helper()
	return hostile.Sections(t, filepath.Join("..", "..", "..", "testdata", "golden", "v1", layout, "00000001.segment"),
		store.KindSegment)
}

var layouts = []string{"planar", "huffman"}

// exercise opens a segment of these sections and calls all its methods. Any error must have a position, and allocations
// are bounded by the size of the input.
func exercise(t testing.TB, list []store.Section) {
	t.Helper()
	f := hostile.File(t, store.KindSegment, list)
	hostile.Allocates(t, hostile.Limit(f.Bytes()), func() {
		s, err := Open(f)
		hostile.Expect(t, "open", err)
		if err != nil {
			return
		}
		defer s.Close()
		hostile.Expect(t, "check", s.Check())
		err = Write(t.Context(), nowhere{}, Input{Sources: []Source{{Segment: s}}},
			Options{Design: *s.Design(), Threads: 1, Table: table.Options{Layout: s.Layout()}})
		hostile.Expect(t, "merge", err)
		exerciseSome(t, s)
		exerciseParts(t, s)
		var c Scratch
		for _, q := range []uint64{0, ^uint64(0), 0x243f6a8885a308d3, 0x9e3779b97f4a7c15} {
			matches, err := s.Search(nil, []uint64{q}, s.Design().K, &c)
			hostile.Expect(t, "search", err)
			for _, m := range matches[:min(len(matches), 10)] {
				var pos [1]Range
				if err = s.Locate(pos[:], []uint64{m.Fingerprint}, &c); err == nil {
					_, err = s.AppendDocs(nil, pos[0], 1000) // errors of the file cannot occur
				}
				hostile.Expect(t, "docs", err)
			}
		}
		if n := s.IDs(); n != nil {
			_, err = n.Cursor().ID(n.Len() / 2)
			hostile.Expect(t, "name", err)
		}
	})
}

// exerciseSome merges all documents but the first two.
func exerciseSome(t testing.TB, s *Segment) {
	if s.Documents() < 3 {
		return
	}
	some := NewRowSet(s.Documents())
	some.Drop(0)
	some.Drop(1)
	hostile.Expect(t, "merge of some", Write(t.Context(), nowhere{}, Input{Sources: []Source{{Segment: s, Rows: some}}},
		Options{Design: *s.Design(), Threads: 1, Table: table.Options{Layout: s.Layout()}}))
}

// exerciseParts reads the documents in three parts, as threads of a merge do. Without an error, the parts have every
// document once.
func exerciseParts(t testing.TB, s *Segment) {
	m, err := newMergeSources([]Source{{Segment: s}})
	hostile.Expect(t, "parts", err)
	next := 0
	for part := 0; part < 3 && err == nil; part++ {
		err = mergedDocs{m}.Read(part, 3, func(fingerprints []uint64, place int) error {
			if place != next {
				t.Errorf("part %d: place %d follows place %d", part, place, next)
			}
			next += len(fingerprints)
			return nil
		})
		hostile.Expect(t, "parts", err)
	}
	if err == nil && uint64(next) != s.Documents() {
		t.Errorf("%d of %d documents in three parts", next, s.Documents())
	}
}

// TestHostile makes random changes, and sets every number of every small section to extreme values.
func TestHostile(t *testing.T) {
	for _, layout := range layouts {
		exerciseAll(t, goldenSections(t, layout), 5)
	}
}

// exerciseAll exercises the sections unchanged, and after random and extreme changes: one in five of the changes, or
// all in the long form.
func exerciseAll(t *testing.T, list []store.Section, seed uint64) {
	exercise(t, list)
	const changes = 1500
	n := 0
	hostile.Each(list, changes, seed, func(changed []store.Section) {
		if n++; long.Form() || n%5 == 0 {
			exercise(t, changed)
		}
	})
}

// FuzzSegment changes segments and repairs their checksums.
func FuzzSegment(f *testing.F) {
	f.Add(false, uint16(0), uint16(0), uint16(0), []byte{1}, uint8(0))
	f.Add(true, uint16(7), uint16(3), uint16(8), []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, uint8(1))
	sections := [][]store.Section{goldenSections(f, layouts[0]), goldenSections(f, layouts[1])}
	f.Fuzz(func(t *testing.T, huffman bool, section, length, offset uint16, bytes []byte, order uint8) {
		list := sections[0]
		if huffman {
			list = sections[1]
		}
		c := hostile.Change{Section: section, Length: length, Offset: offset, Bytes: bytes, Order: order}
		exercise(t, c.Apply(list))
	})
}
