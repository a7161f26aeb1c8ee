package ndf

import (
	"path/filepath"
	"testing"

	"example.org/ndd/engine/oracle/hostile"
	"example.org/ndd/engine/storage/store"
)

func goldenSections(t testing.TB) []store.Section {
	t.Helper()
	return hostile.Sections(t, filepath.Join("..", "..", "..", "testdata", "golden", "v1", "pages.ndf"),
		store.KindFingerprints)
}

// namesRoom is the additional memory for reading the names of a list: a block of 256 of the longest names, and its
// copies while it grows. A frame of a few bytes may validly unpack to that.
const namesRoom = 32 << 20

// exercise opens a file of these sections and reads all of it. Any error must have a position, and the number of
// results must be the one in the file's header.
func exercise(t testing.TB, list []store.Section) {
	t.Helper()
	container := hostile.File(t, store.KindFingerprints, list)
	limit := hostile.Limit(container.Bytes())
	var f *File
	var err error
	hostile.Allocates(t, limit, func() { f, err = fromStore(container) })
	if err != nil {
		hostile.Expect(t, "open", err)
		return
	}
	defer f.Close()
	if err := f.Recipe().Validate(); err != nil {
		t.Errorf("the recipe was not checked: %v", err)
	}
	fingerprints, lengths := uint64(0), uint64(0)
	hostile.Allocates(t, limit, func() {
		for c := range f.Chunks {
			fingerprints += uint64(len(c))
		}
		for c := range f.TextBytes {
			lengths += uint64(len(c))
		}
		if n := uint64(len(f.Fingerprints())); n != fingerprints {
			t.Errorf("%d fingerprints in chunks, %d in all", fingerprints, n)
		}
	})
	if fingerprints != f.Len() || lengths != f.Len() {
		t.Errorf("%d documents, %d fingerprints, %d lengths", f.Len(), fingerprints, lengths)
	}
	hostile.Allocates(t, limit+uint64(len(list)*namesRoom), func() { exerciseNames(t, f) })
	exercisePlaces(t, f)
}

func exerciseNames(t testing.TB, f *File) {
	look, row := f.Lookup(), uint64(0)
	var failed error
	for name, err := range f.IDs {
		if failed = err; err != nil {
			break
		}
		if row%61 == 0 {
			if again, err := look.ID(row); err != nil || again != name {
				t.Errorf("row %d is %q, and looked up %q, %v", row, name, again, err)
			}
		}
		row++
	}
	if failed == nil && row != f.Len() {
		t.Errorf("%d names of %d documents", row, f.Len())
	}
	if f.Len() > 0 {
		_, err := look.ID(f.Len() - 1)
		hostile.Expect(t, "a name", err)
	}
	hostile.Expect(t, "names", failed)
	for _, err := range f.Unmarked {
		hostile.Expect(t, "unmarked names", err)
	}
}

// TestHostile changes files with places and without. It makes random changes, and writes extreme numbers to every
// position of every small section.
func TestHostile(t *testing.T) {
	places := hostile.Sections(t, share(t, placed(9), 0, 1).Path(), store.KindFingerprints)
	for _, list := range [][]store.Section{goldenSections(t), places} {
		exercise(t, list)
		hostile.Each(list, 2000, 7, func(changed []store.Section) { exercise(t, changed) })
	}
}

// FuzzFile is the reader against a writer who repairs every checksum.
func FuzzFile(f *testing.F) {
	f.Add(uint16(0), uint16(0), uint16(1), []byte(`"version": 1`), uint8(0))
	f.Add(uint16(1), uint16(8), uint16(0), []byte{1}, uint8(2))
	f.Add(uint16(4), uint16(0), uint16(0), []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, uint8(3))
	list := goldenSections(f)
	f.Fuzz(func(t *testing.T, section, length, offset uint16, bytes []byte, order uint8) {
		c := hostile.Change{Section: section, Length: length, Offset: offset, Bytes: bytes, Order: order}
		exercise(t, c.Apply(list))
	})
}
