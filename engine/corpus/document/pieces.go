package document

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"ndd/engine/parallel"
)

// A compressed file that has many members (gzip) or frames (zstd) is cut into pieces of whole ones,
// which several goroutines decompress while the content before them is read:
//
//	file    | member | member | member | member | member, too long | member |
//	pieces  |------ piece ----|--- piece -------|     in place     |- piece |
//
// A frame's length is in the headers of its blocks. A gzip member's is nowhere, so a piece ends where
// a header seems to begin, which its decompression confirms: it has to end there. A piece that turns
// out otherwise, or is damaged, is read again in place, so that content and errors are those of one
// goroutine. By chance a header seems to begin once in 2^40 bytes.
const (
	pieceBytes      = 256 << 10 // of the file, unless one member is longer
	pieceMax        = 3 << 20   // of the file
	pieceContentMax = 16 << 20
	pieceMembers    = 1000
	gzipRatio       = 16 // most bytes of content for each of the file
	memberMin       = 20 // bytes
	blockMax        = 128 << 10
	dictionaryMax   = 16 << 20
)

// Decoders decompress and cut parts of files beside their reading. It is safe for concurrent use: all files
// of a run share one.
type Decoders struct {
	ahead      int           // most pieces of a file
	room       parallel.Room // bytes of all pieces
	pieceBytes int
	zstd       *zstd.Decoder
	pieces     sync.Pool // of *piece
}

// NewDecoders returns decoders that use up to threads goroutines for a file and most bytes of memory
// for all files, unless a file's next piece needs more.
func NewDecoders(threads int, most int64) *Decoders {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(threads), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(pieceContentMax))
	if err != nil {
		panic(err) // these options are valid
	}
	d := &Decoders{ahead: threads + 1, pieceBytes: pieceBytes, zstd: z}
	d.room.Max = most
	d.pieces.New = func() any { return new(piece) }
	return d
}

// A piece is some whole members or frames.
type piece struct {
	at      int64 // in the file
	raw     []byte
	content []byte
	starts  []memberStart // of gzip, in raw and content
	gzip    gzip.Reader
	sound   bool
}

// ahead decompresses the pieces of a file.
type ahead struct {
	d      *Decoders // nil: everything is read in place
	raw    *trail
	find   func(b []byte, most int, ended bool) (n, content int) // a piece that b begins with; 0: none is known
	decode func(*Decoders, *piece)

	pieces parallel.Queue[*piece] // the first one is the one that was returned last, if it has been
	taken  bool                   // it has
	until  int64                  // up to here the file is read in place
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
	a.pieces.Room, a.pieces.Max = &a.d.room, a.d.ahead
	for a.pieces.Len() < a.d.ahead {
		b, n, content := []byte(nil), 0, 0
		for size := 2 * a.d.pieceBytes; n == 0 && size <= 2*max(pieceMax, a.d.pieceBytes); size *= 4 {
			ended := false
			b, ended = a.raw.peek(min(size, pieceMax))
			n, content = a.find(b, a.d.pieceBytes, ended)
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

// findMembers returns the length of the gzip members that b seems to begin with: as many as most
// bytes have, or one.
func findMembers(b []byte, most int, ended bool) (n, content int) {
	for at := memberMin; at < len(b); {
		i := bytes.Index(b[at:], gzipMagic)
		if i < 0 {
			break
		}
		if at += i; at > most && n > 0 {
			break
		}
		if isMember(b[at:]) {
			n = at
		}
		if n >= most {
			break
		}
		at++
	}
	if ended && (len(b) <= most || n == 0) {
		n = len(b)
	}
	return n, min(n*gzipRatio, pieceContentMax)
}

// isMember reports whether a gzip member seems to begin: with flags, hints and a system that
// compressors write.
func isMember(b []byte) bool {
	if len(b) < 10 {
		return false
	}
	flags, hint, system := b[3], b[8], b[9]
	return (flags == 0 || flags == 4 || flags == 8) && (hint == 0 || hint == 2 || hint == 4) &&
		(system < 14 || system == 255)
}

// decodeMembers decompresses gzip members.
func decodeMembers(_ *Decoders, p *piece) {
	in := bytes.NewReader(p.raw)
	for in.Len() > 0 {
		p.starts = append(p.starts, memberStart{int64(len(p.raw) - in.Len()), int64(len(p.content))})
		if err := p.gzip.Reset(in); err != nil || len(p.starts) > pieceMembers {
			return
		}
		p.gzip.Multistream(false)
		for {
			if len(p.content) == cap(p.content) {
				p.content = append(p.content, 0)[:len(p.content)]
			}
			n, err := p.gzip.Read(p.content[len(p.content):cap(p.content)])
			p.content = p.content[:len(p.content)+n]
			if err == io.EOF {
				break
			}
			if err != nil || len(p.content) > max(len(p.raw)*gzipRatio, blockMax) {
				return
			}
		}
	}
	p.sound = true
}

// findFrames returns the length of the zstd frames that b begins with: as many as most bytes have, or
// one; and about how long their content is.
func findFrames(b []byte, most int, _ bool) (n, content int) {
	for n < most {
		size, more := frame(b[n:])
		if size == 0 && n == 0 {
			return 0, more
		}
		if size == 0 || n > 0 && n+size > most || content+more > pieceContentMax {
			break
		}
		n, content = n+size, content+more
	}
	return n, content
}

// frame returns the length of the zstd frame that b begins with, 0 where it does not hold all of it,
// and the most bytes of its content, as far as it can be seen.
func frame(b []byte) (n, content int) {
	var h zstd.Header
	if err := h.Decode(b); err != nil {
		return 0, 0
	}
	n = h.HeaderSize
	if h.Skippable {
		if n += int(h.SkippableSize); n > len(b) {
			return 0, 0
		}
		return n, 0
	}
	for last := false; !last; {
		if n+3 > len(b) {
			return 0, content
		}
		block := binary.LittleEndian.Uint32(append(append(make([]byte, 0, 4), b[n:n+3]...), 0))
		last = block&1 != 0
		size := int(block >> 3)
		switch n += 3; block >> 1 & 3 {
		case 0:
			n, content = n+size, content+size
		case 1:
			n, content = n+1, content+size
		case 2:
			n, content = n+size, content+blockMax
		default:
			return 0, 0
		}
	}
	if h.HasCheckSum {
		n += 4
	}
	if n > len(b) {
		return 0, content
	}
	return n, content
}

// decodeFrames decompresses zstd frames.
func decodeFrames(d *Decoders, p *piece) {
	content, err := d.zstd.DecodeAll(p.raw, p.content)
	p.content, p.sound = content, err == nil
}

// frames decompress a zstd file.
type frames struct {
	ahead
	options []zstd.DOption
	z       *zstd.Decoder // of what is read in place: all the rest; nil before that
	content []byte        // of the piece that is read
}

func (f *frames) Read(p []byte) (int, error) {
	for f.z == nil && len(f.content) == 0 && len(p) > 0 {
		if next := f.next(); next != nil {
			f.content = next.content
			continue
		}
		z, err := zstd.NewReader(f.raw, f.options...)
		if err != nil {
			return 0, err
		}
		f.z = z
	}
	if len(f.content) > 0 {
		n := copy(p, f.content)
		f.content = f.content[n:]
		return n, nil
	}
	return f.z.Read(p)
}

// newFrames returns the frames of a file. Those of archives of WARC may share a dictionary, often compressed by itself,
// in a frame without content that comes first. Then all are read in place.
func newFrames(d *Decoders, raw *trail) (*frames, error) {
	const header = 8
	f := &frames{ahead: ahead{d: d, raw: raw, find: findFrames, decode: decodeFrames}}
	f.options = []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(zstdWindowMaxBytes)}
	head, _ := raw.peek(header)
	if len(head) < header || string(head[:4]) != "\x5d\x2a\x4d\x18" {
		return f, nil
	}
	size := binary.LittleEndian.Uint32(head[4:])
	if size > dictionaryMax {
		return f, nil // it is something else
	}
	head, _ = raw.peek(header + int(size))
	dictionary := head[header:]
	if PackingOf(dictionary) == Zstd {
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(dictionaryMax))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		if dictionary, err = z.DecodeAll(dictionary, nil); err != nil {
			return nil, damage{fmt.Errorf("zstd: the dictionary: %w", err)}
		}
	}
	if bytes.HasPrefix(dictionary, []byte("\x37\xa4\x30\xec")) {
		f.d, f.options = nil, append(f.options, zstd.WithDecoderDicts(bytes.Clone(dictionary)))
	}
	return f, nil
}

// close ends the reading.
func (f *frames) close() {
	f.drop()
	if f.z != nil {
		f.z.Close()
	}
}
