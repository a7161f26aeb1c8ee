package passages

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
	"unsafe"

	"example.org/ndd/engine/storage/spill"
	"example.org/ndd/engine/storage/store"
)

// A spool keeps documents that were read in temporary files: their names
// (heads), their texts if atoms are bytes, otherwise where each atom begins, and for each document
// where these begin. The text of words is their hashes, of 8 bytes each, and its bytes are atoms.
//
//	head    ID and source, each behind its length; number of the line; bytes and characters of the
//	        text; hash of the text; the first of its points, and their number if atoms are bytes
//
// If atoms are bytes of a plain text, the points are its jumps, two for each: where it is in the plain text and where the
// original text before it ends; where the original text after it begins, in bytes and in characters.
type spool struct {
	unit   Unit
	heads  spill.Column[uint8]
	texts  spill.Column[uint8]
	points spill.Column[point]
	docs   spill.Column[entry]

	atoms, textBytes uint64 // so far
	files            []file
	one              []byte // the head at work
}

// A point is a place in a document's text, in bytes and in characters.
type point [2]uint64

// An entry says where a document's head and its first atom are.
type entry [2]uint64

// A file says which row is the first of a file.
type file struct {
	source string
	row    int
}

// atomsMax is how many atoms there may be, so that the place of one and its distances fit a word.
const atomsMax = 1 << 40

func newSpool(o *Options) *spool {
	const held = 1 << 18
	return &spool{unit: o.Unit, heads: spill.NewColumn[uint8](o.Disk, o.Dir, "heads", held),
		texts:  spill.NewColumn[uint8](o.Disk, o.Dir, "texts", held),
		points: spill.NewColumn[point](o.Disk, o.Dir, "points", held),
		docs:   spill.NewColumn[entry](o.Disk, o.Dir, "documents", held)}
}

func (s *spool) add(p *prepared) error {
	if len(s.files) == 0 || s.files[len(s.files)-1].source != p.of.Source {
		s.files = append(s.files, file{p.of.Source, s.docs.Len()})
	}
	err := s.docs.Append(entry{uint64(s.heads.Len()), s.atoms})
	s.one = appendHead(s.one[:0], p, s.points.Len())
	err = errors.Join(err, s.heads.AppendAll(s.one), s.texts.AppendAll(unsafe.Slice(unsafe.StringData(p.text), len(p.text))), s.points.AppendAll(p.points))
	s.textBytes += uint64(p.of.TextBytes)
	if s.atoms += uint64(p.atoms); s.atoms > atomsMax && err == nil {
		err = fmt.Errorf("more than %d %ss: take fewer documents at a time", uint64(atomsMax), s.unit.Kind)
	}
	return err
}

// end makes the documents ready to be read.
func (s *spool) end() error {
	return errors.Join(s.heads.End(), s.texts.End(), s.points.End(), s.docs.End())
}

// row returns the row of the document that an atom is in. Documents without atoms have none.
func (s *spool) row(atom uint64) int {
	return sort.Search(len(s.docs.All), func(i int) bool { return s.docs.All[i][1] > atom }) - 1
}

// behind returns the atom behind the last one of a row.
func (s *spool) behind(row int) uint64 {
	if row+1 < len(s.docs.All) {
		return s.docs.All[row+1][1]
	}
	return s.atoms
}

func appendHead(dst []byte, p *prepared, points int) []byte {
	for _, name := range []string{p.of.ID, p.of.Source} {
		dst = store.AppendText(dst, name)
	}
	for _, n := range []int{p.of.Line, p.of.TextBytes, p.chars} {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	dst = binary.LittleEndian.AppendUint64(dst, p.of.Hash[0])
	return binary.AppendUvarint(binary.AppendUvarint(dst, uint64(points)), uint64(len(p.points)))
}

// A head is a document's.
type head struct {
	Document
	hash  uint64
	chars int
	atom  uint64 // the first, of all
	atoms int
	jumps []point // from the plain text to the original, if atoms are bytes
}

func (s *spool) at(row int) (h head) {
	b := store.Fields(s.heads.All[s.docs.All[row][0]:])
	h.Row, h.ID, h.Source = row, asString(b.Text()), asString(b.Text())
	h.Line, h.TextBytes, h.chars, h.hash = int(b.Uvarint()), int(b.Uvarint()), int(b.Uvarint()), b.Word()
	if first, n := b.Uvarint(), b.Uvarint(); s.unit.Kind == Bytes {
		h.jumps = s.points.All[first : first+n]
	}
	h.atom = s.docs.All[row][1]
	h.atoms = int(s.behind(row) - h.atom)
	return h
}

// original returns the place in the original text of one in a document's plain text: where the text after it begins, or
// where the text before it ends.
func (h *head) original(plain string, at int, end bool) point {
	n := sort.Search(len(h.jumps)/2, func(i int) bool { return h.jumps[2*i][0] >= uint64(at) })
	if n < len(h.jumps)/2 && h.jumps[2*n][0] == uint64(at) && (!end || h.jumps[2*n][1] == h.jumps[2*n+1][0]) {
		for n++; n < len(h.jumps)/2 && !end && h.jumps[2*n][0] == uint64(at); n++ {
		}
		return h.jumps[2*n-1]
	}
	from, text := 0, point{}
	if n > 0 {
		from, text = int(h.jumps[2*n-2][0]), h.jumps[2*n-1]
	}
	return point{text[0] + uint64(at-from), text[1] + uint64(countChars(plain[from:at]))}
}

// point returns where an atom of a document begins, or where the last one ends. It is for units.
func (s *spool) point(h *head, atom int) point {
	width := s.unit.width()
	if atom == h.atoms/width {
		return point{uint64(h.TextBytes), uint64(h.chars)}
	}
	return s.points.All[h.atom/uint64(width)+uint64(atom)]
}
