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
//	        hash of the text
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
	s.head = appendHead(s.head[:0], p)
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

func appendHead(dst []byte, p *pendingDocument) []byte {
	for _, name := range []string{p.record.ID, p.record.Source} {
		dst = store.AppendText(dst, name)
	}
	for _, n := range []int{p.record.Line, p.record.TextBytes, p.chars} {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	return binary.LittleEndian.AppendUint64(dst, p.record.Hash[0])
}

// A head describes a document: its names, hash, length and atoms.
type head struct {
	Document
	hash  uint64
	chars int
	atom  uint64 // number of its first atom in the spool
	atoms int
}

func (s *spool) readHead(row int) (h head) {
	b := store.Fields(s.heads.All[s.docs.All[row][0]:])
	h.Row, h.ID, h.Source = row, asString(b.Text()), asString(b.Text())
	h.Line, h.TextBytes, h.chars, h.hash = int(b.Uvarint()), int(b.Uvarint()), int(b.Uvarint()), b.Word()
	h.atom = s.docs.All[row][1]
	h.atoms = int(s.rowEnd(row) - h.atom)
	return h
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
