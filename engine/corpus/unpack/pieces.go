package unpack

import (
	"cmp"
	"slices"
	"sync"

	"github.com/klauspost/compress/gzip"

	"example.org/ndd/engine/parallel"
)

// A gzip file that has many members is cut into pieces of whole members. Several goroutines decompress them while the
// content before them is read:
//
//	file    | member | member | member | member | member, too long | member |
//	pieces  |------ piece ----|--- piece -------|     in place     |- piece |
//
// The length of a member is not stored. So a piece ends where a header seems to begin, and its decompression must end
// there, too. A piece that does not, or that is damaged, is read again in place. So content and errors are the same as
// with one goroutine. By chance, a header seems to begin once in 2^40 bytes.
const (
	pieceBytes      = 256 << 10 // bytes of the file in a piece, unless one member is longer
	pieceMax        = 3 << 20   // maximum bytes of the file in a piece
	pieceContentMax = 16 << 20
	pieceMembers    = 1000
)

// Decoders decompress and decode parts of files ahead of their reader. They are safe for concurrent use, and all
// files of a run share them.
type Decoders struct {
	Room       parallel.Limit // bytes of all pieces, and of other data that is decoded ahead
	Ahead      int            // maximum number of pieces of a file
	PieceBytes int            // bytes of the file in a piece, unless one member is longer
	pieces     sync.Pool      // unused values of type *piece
}

// NewDecoders returns decoders that use up to threads goroutines for a file. They use at most maxBytes of memory for
// all files, unless the next piece of a file needs more.
func NewDecoders(threads int, maxBytes int64) *Decoders {
	d := &Decoders{Ahead: threads + 1, PieceBytes: pieceBytes}
	d.Room.Max = maxBytes
	d.pieces.New = func() any { return new(piece) }
	return d
}

// A piece is some whole members.
type piece struct {
	offset  int64 // offset in the file
	raw     []byte
	content []byte
	starts  []memberStart // starts of its members, in raw and content
	gzip    gzip.Reader
	sound   bool
}

// A memberStart has the offsets of a member in the file and in the content.
type memberStart struct{ raw, out int64 }

// memberStarts are the last starts that a reader has reached. When there are many, it forgets the earlier half.
type memberStarts struct {
	starts []memberStart
	out    int64 // bytes of content so far
}

// begin adds the start of one member in the file, or the starts of the members of a piece.
func (m *memberStarts) begin(raw int64, ofPiece ...memberStart) {
	if len(m.starts) >= startsMax-pieceMembers {
		m.starts = append(m.starts[:0], m.starts[len(m.starts)-startsMax/2:]...)
	}
	for _, s := range ofPiece {
		m.starts = append(m.starts, memberStart{raw + s.raw, m.out + s.out})
	}
	if ofPiece == nil {
		m.starts = append(m.starts, memberStart{raw, m.out})
	}
}

// find returns the index of the first start at a byte of the content, or else after it.
func (m *memberStarts) find(offset int64) (i int, exact bool) {
	return slices.BinarySearchFunc(m.starts, offset, func(s memberStart, offset int64) int { return cmp.Compare(s.out, offset) })
}

// read copies content to p, up to the next start, and returns the rest of the content.
func (m *memberStarts) read(p, content []byte) (n int, rest []byte) {
	if i, _ := m.find(m.out + 1); i < len(m.starts) {
		p = p[:min(int64(len(p)), m.starts[i].out-m.out)]
	}
	n = copy(p, content)
	m.out += int64(n)
	return n, content[n:]
}

// A pieceReader decompresses the pieces of a file ahead of its reader.
type pieceReader struct {
	d   *Decoders // nil: everything is read in place
	raw *trail

	pieces  parallel.Queue[*piece] // if isTaken, next has returned the first one
	isTaken bool                   // next has returned the first one of pieces
	end     int64                  // end of the part of the file that is read in place
}

// next returns the next piece, which is valid until the next call. If it returns nil, the next member at least must be
// read from the file in place.
func (a *pieceReader) next() *piece {
	if a.d == nil {
		return nil
	}
	if a.isTaken {
		a.release()
	}
	if a.raw.offset >= a.end {
		a.fill()
	}
	if a.pieces.Len() == 0 {
		return nil
	}
	p := a.pieces.First()
	if a.isTaken = p.sound; a.isTaken {
		return p
	}
	a.end = p.offset + int64(len(p.raw))
	a.raw.rewind(p.offset)
	a.drop()
	return nil
}

// fill cuts the file into pieces while there is memory for them, and starts their decompression.
func (a *pieceReader) fill() {
	a.pieces.Limit, a.pieces.Max = &a.d.Room, a.d.Ahead
	for a.pieces.Len() < a.d.Ahead {
		b, n := []byte(nil), 0
		for size := 2 * a.d.PieceBytes; n == 0 && size <= 2*max(pieceMax, a.d.PieceBytes); size *= 4 {
			ended := false
			b, ended = a.raw.peek(min(size, pieceMax))
			if n = findMembers(b, a.d.PieceBytes, ended); ended {
				break
			}
		}
		content := min(n*gzipRatio, pieceContentMax) // an estimate
		if n == 0 || !a.pieces.Fits(int64(n+content)) {
			return
		}
		p := a.d.pieces.Get().(*piece)
		p.offset, p.raw, p.content, p.starts = a.raw.offset, append(p.raw[:0], b[:n]...), p.content[:0], p.starts[:0]
		p.sound = false
		if cap(p.content) < content/4 {
			p.content = make([]byte, 0, content/4)
		}
		a.raw.offset += int64(n)
		a.pieces.Add(p, int64(n+content), func() int64 {
			p.decode()
			return int64(len(p.raw) + cap(p.content))
		})
	}
}

// drop forgets all pieces.
func (a *pieceReader) drop() {
	for a.pieces.Len() > 0 {
		a.release()
	}
}

// release gives the first piece back. The file is remembered from the next piece on.
func (a *pieceReader) release() {
	p := a.pieces.Remove()
	a.isTaken, a.raw.keep = false, a.raw.offset
	if a.pieces.Len() > 0 {
		a.raw.keep = p.offset + int64(len(p.raw))
	}
	a.d.pieces.Put(p)
}
