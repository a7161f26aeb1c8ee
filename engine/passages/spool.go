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

// A spool keeps documents in temporary files: their names (heads), their texts for strings, the points where atoms
// begin for all kinds except bytes, and the beginning of each document in these files. For words, the text consists
// of their hashes, 8 bytes each, and the atoms are its bytes.
//
//	head    ID and source, each after its length; line number; bytes and characters of the text;
//	        hash of the text; index and number of its points
//
// For bytes of a plain text, the points are its jumps, two points each. The first point has the offset of the jump in
// the plain text, and the offset in the original text where the text before the jump ends. The second point is where
// the original text after the jump begins, in bytes and in characters.
type spool struct {
	unit   Unit
	heads  spill.Column[uint8]
	texts  spill.Column[uint8]
	points spill.Column[point]
	docs   spill.Column[entry]

	atoms, textBytes uint64 // totals of the documents added so far
	files            []file
	head             []byte // buffer for one head
}

// A point is a place in a document's text, in bytes and in characters.
type point [2]uint64

// An entry has the offset of a document's head and the number of its first atom.
type entry [2]uint64

// A file has the name of a file and the row of its first document.
type file struct {
	source string
	row    int
}

// atomsMax is the maximum number of atoms. A position and the two distances of a mark must fit a word.
const atomsMax = 1 << 40

func newSpool(o *Options) *spool {
	const bufferBytes = 1 << 18
	return &spool{unit: o.Unit, heads: spill.NewColumn[uint8](o.Disk, "", "heads", bufferBytes),
		texts:  spill.NewColumn[uint8](o.Disk, "", "texts", bufferBytes),
		points: spill.NewColumn[point](o.Disk, "", "points", bufferBytes),
		docs:   spill.NewColumn[entry](o.Disk, "", "documents", bufferBytes)}
}

func (s *spool) add(p *pendingDocument) error {
	if len(s.files) == 0 || s.files[len(s.files)-1].source != p.record.Source {
		s.files = append(s.files, file{p.record.Source, s.docs.Len()})
	}
	err := s.docs.Append(entry{uint64(s.heads.Len()), s.atoms})
	s.head = appendHead(s.head[:0], p, s.points.Len())
	err = errors.Join(err, s.heads.AppendAll(s.head), s.texts.AppendAll(unsafe.Slice(unsafe.StringData(p.text), len(p.text))), s.points.AppendAll(p.points))
	s.textBytes += uint64(p.record.TextBytes)
	if s.atoms += uint64(p.atoms); s.atoms > atomsMax && err == nil {
		err = fmt.Errorf("more than %d %ss: take fewer documents at a time", uint64(atomsMax), s.unit.Kind)
	}
	return err
}

// end ends writing, so that the documents can be read.
func (s *spool) end() error {
	return errors.Join(s.heads.End(), s.texts.End(), s.points.End(), s.docs.End())
}

// row returns the row of the document that contains an atom. It never returns a document without atoms.
func (s *spool) row(atom uint64) int {
	return sort.Search(len(s.docs.All), func(i int) bool { return s.docs.All[i][1] > atom }) - 1
}

// rowEnd returns the number of the first atom after a row.
func (s *spool) rowEnd(row int) uint64 {
	if row+1 < len(s.docs.All) {
		return s.docs.All[row+1][1]
	}
	return s.atoms
}

func appendHead(dst []byte, p *pendingDocument, points int) []byte {
	for _, name := range []string{p.record.ID, p.record.Source} {
		dst = store.AppendText(dst, name)
	}
	for _, n := range []int{p.record.Line, p.record.TextBytes, p.chars} {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	dst = binary.LittleEndian.AppendUint64(dst, p.record.Hash[0])
	return binary.AppendUvarint(binary.AppendUvarint(dst, uint64(points)), uint64(len(p.points)))
}

// A head describes a document: its names, hash, length and atoms.
type head struct {
	Document
	hash  uint64
	chars int
	atom  uint64 // number of its first atom in the spool
	atoms int
	jumps []point // jumps from the plain text to the original, if atoms are bytes
}

func (s *spool) readHead(row int) (h head) {
	b := store.Fields(s.heads.All[s.docs.All[row][0]:])
	h.Row, h.ID, h.Source = row, asString(b.Text()), asString(b.Text())
	h.Line, h.TextBytes, h.chars, h.hash = int(b.Uvarint()), int(b.Uvarint()), int(b.Uvarint()), b.Word()
	if first, n := b.Uvarint(), b.Uvarint(); s.unit.Kind == Bytes {
		h.jumps = s.points.All[first : first+n]
	}
	h.atom = s.docs.All[row][1]
	h.atoms = int(s.rowEnd(row) - h.atom)
	return h
}

// original returns the point in the original text for an offset in the plain text of a document. At a jump it
// returns the end of the text before the jump if end is true, and otherwise the beginning of the text after it.
func (h *head) original(plain string, offset int, end bool) point {
	n := sort.Search(len(h.jumps)/2, func(i int) bool { return h.jumps[2*i][0] >= uint64(offset) })
	if n < len(h.jumps)/2 && h.jumps[2*n][0] == uint64(offset) && (!end || h.jumps[2*n][1] == h.jumps[2*n+1][0]) {
		for n++; n < len(h.jumps)/2 && !end && h.jumps[2*n][0] == uint64(offset); n++ {
		}
		return h.jumps[2*n-1]
	}
	from, text := 0, point{}
	if n > 0 {
		from, text = int(h.jumps[2*n-2][0]), h.jumps[2*n-1]
	}
	return point{text[0] + uint64(offset-from), text[1] + uint64(countChars(plain[from:offset]))}
}

// point returns the beginning of an atom of a document, or the end of the last atom. It is for all kinds except
// bytes.
func (s *spool) point(h *head, atom int) point {
	width := s.unit.width()
	if atom == h.atoms/width {
		return point{uint64(h.TextBytes), uint64(h.chars)}
	}
	return s.points.All[h.atom/uint64(width)+uint64(atom)]
}
