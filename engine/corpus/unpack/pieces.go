package unpack

import (
	"cmp"
	"slices"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"example.org/ndd/engine/parallel"
)

// A compressed file that has many members (gzip) or frames (zstd) is cut into pieces of whole members or frames.
// Several goroutines decompress them while the content before them is read:
//
//	file    | member | member | member | member | member, too long | member |
//	pieces  |------ piece ----|--- piece -------|     in place     |- piece |
//
// A frame's length is in the headers of its blocks. A gzip member's is nowhere, so a piece ends where
// a header seems to begin, which its decompression confirms: it has to end there. A piece that turns
// out otherwise, or is damaged, is read again in place, so that content and errors are the same as with one
// goroutine. By chance a header seems to begin once in 2^40 bytes.
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
	zstd       *zstd.Decoder
	pieces     sync.Pool // unused values of type *piece
}

// NewDecoders returns decoders that use up to threads goroutines for a file and most bytes of memory
// for all files, unless a file's next piece needs more.
func NewDecoders(threads int, most int64) *Decoders {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(threads), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(pieceContentMax))
	if err != nil {
		panic(err) // these options are valid
	}
	d := &Decoders{Ahead: threads + 1, PieceBytes: pieceBytes, zstd: z}
	d.Room.Max = most
	d.pieces.New = func() any { return new(piece) }
	return d
}

// A piece is some whole members or frames.
type piece struct {
	at      int64 // in the file
	raw     []byte
	content []byte
	starts  []memberStart // starts of its members or frames, in raw and content
	gzip    gzip.Reader
	sound   bool
}

// memberStart is where a member or frame begins: in the file, and in the content.
type memberStart struct{ raw, out int64 }

// memberStarts are the last starts that a reader has come to. The first one of all is in it until there are many.
type memberStarts struct {
	starts []memberStart
	out    int64 // bytes of content so far
}

// begin adds starts: one in the file, or those of a piece.
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
func (m *memberStarts) find(at int64) (i int, exact bool) {
	return slices.BinarySearchFunc(m.starts, at, func(s memberStart, at int64) int { return cmp.Compare(s.out, at) })
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

// ahead decompresses the pieces of a file.
type ahead struct {
	d      *Decoders // nil: everything is read in place
	raw    *trail
	find   func(b []byte, most int, ended bool) (n, content int) // a piece that b begins with; 0: none is known
	decode func(*Decoders, *piece)

	pieces parallel.Queue[*piece] // the first one is the piece that next has returned, if taken is set
	taken  bool                   // next has returned the first piece
	until  int64                  // the offset in the file up to which it is read in place
}

// next returns the next piece, which is valid until the next call, or nil: then the rest, at
// least a member of it, is to be read from the file in place.
func (a *ahead) next() *piece {
	if a.d == nil {
		return nil
	}
	if a.taken {
		a.release()
	}
	if a.raw.at >= a.until {
		a.fill()
	}
	if a.pieces.Len() == 0 {
		return nil
	}
	p := a.pieces.First()
	if a.taken = p.sound; a.taken {
		return p
	}
	a.until = p.at + int64(len(p.raw))
	a.raw.rewind(p.at)
	a.drop()
	return nil
}

// fill cuts the file into pieces as far as there is room, and has them decompressed.
func (a *ahead) fill() {
	a.pieces.Limit, a.pieces.Max = &a.d.Room, a.d.Ahead
	for a.pieces.Len() < a.d.Ahead {
		b, n, content := []byte(nil), 0, 0
		for size := 2 * a.d.PieceBytes; n == 0 && size <= 2*max(pieceMax, a.d.PieceBytes); size *= 4 {
			ended := false
			b, ended = a.raw.peek(min(size, pieceMax))
			n, content = a.find(b, a.d.PieceBytes, ended)
			if ended || content > pieceContentMax {
				break
			}
		}
		if n == 0 || content > pieceContentMax || !a.pieces.Fits(int64(n+content)) {
			return
		}
		p := a.d.pieces.Get().(*piece)
		p.at, p.raw, p.content, p.starts = a.raw.at, append(p.raw[:0], b[:n]...), p.content[:0], p.starts[:0]
		p.sound = false
		if cap(p.content) < content/4 {
			p.content = make([]byte, 0, content/4)
		}
		a.raw.at += int64(n)
		a.pieces.Add(p, int64(n+content), func() int64 {
			a.decode(a.d, p)
			return int64(len(p.raw) + cap(p.content))
		})
	}
}

// drop forgets all pieces.
func (a *ahead) drop() {
	for a.pieces.Len() > 0 {
		a.release()
	}
}

// release gives the first piece back. The next one begins where it ends.
func (a *ahead) release() {
	p := a.pieces.Remove()
	a.taken, a.raw.keep = false, a.raw.at
	if a.pieces.Len() > 0 {
		a.raw.keep = p.at + int64(len(p.raw))
	}
	a.d.pieces.Put(p)
}
