package unpack

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

const (
	zstdWindowMaxBytes = 256 << 20 // larger windows need more memory than a reader should take
	dictionaryMax      = 16 << 20
	blockMax           = 128 << 10 // content of a block
)

// findFrames returns the length of the zstd frames at the beginning of b: as many as fit in maxBytes, or one. It also
// returns an estimate of the length of their content.
func findFrames(b []byte, maxBytes int, _ bool) (n, content int) {
	for frames := 0; n < maxBytes && frames < pieceMembers; frames++ {
		size, more := frame(b[n:])
		if size == 0 && n == 0 {
			return 0, more
		}
		if size == 0 || n > 0 && n+size > maxBytes || content+more > pieceContentMax {
			break
		}
		n, content = n+size, content+more
	}
	return n, content
}

// frame returns the length of the zstd frame at the beginning of b, or 0 if b does not have all of the frame. It also
// returns the maximum length of its content, by the headers of its blocks in b.
func frame(b []byte) (n, content int) {
	// Read the header. A skippable frame says its length.
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
	// Add up the blocks.
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
	// A checksum may follow.
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
	for raw := p.raw; len(raw) > 0; {
		n, _ := frame(raw)
		p.starts = append(p.starts, memberStart{int64(len(p.raw) - len(raw)), int64(len(p.content))})
		content, err := d.zstd.DecodeAll(raw[:n], p.content)
		if p.content, raw = content, raw[n:]; err != nil || n == 0 {
			return
		}
	}
	p.sound = true
}

// frames decompress a zstd file.
type frames struct {
	pieceReader
	memberStarts
	options []zstd.DOption
	z       *zstd.Decoder // decodes the rest of the file in place; nil while pieces are read
	content []byte        // the rest of the current piece
}

func (f *frames) Read(p []byte) (n int, err error) {
	for f.z == nil && len(f.content) == 0 && len(p) > 0 {
		if next := f.next(); next != nil {
			f.begin(next.offset, next.starts...)
			f.content = next.content
			continue
		}
		f.begin(f.raw.offset)
		if f.z, err = zstd.NewReader(f.raw, f.options...); err != nil {
			return 0, err
		}
	}
	if len(f.content) > 0 {
		n, f.content = f.memberStarts.read(p, f.content)
		return n, nil
	}
	return f.z.Read(p)
}

// newFrames returns the frames of a file. The frames of a WARC file may share a dictionary, which is in a first frame
// without content. All frames of such a file are read in place.
func newFrames(d *Decoders, raw *trail) (*frames, error) {
	const header = 8
	f := &frames{pieceReader: pieceReader{d: d, raw: raw, find: findFrames, decode: decodeFrames}}
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
			return nil, Damage(fmt.Errorf("zstd: the dictionary: %w", err))
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
