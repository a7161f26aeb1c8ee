package unpack

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

const bufferBytes = 128 << 10 // one read of a file

// Options describe a file.
type Options struct {
	Name     string    // the name of the file, for the command in a message
	Bytes    int64     // size of the file, a hint for buffers; 0 if unknown
	Decoders *Decoders // decompress ahead; nil reads everything in place
}

// Reader reads the content of a file and counts its bytes.
type Reader struct {
	Packing Packing

	buffer  *bufio.Reader // buffers source
	source  io.Reader     // the content
	offset  int64         // the offset of the next byte
	decoder *decoder      // nil if the file is not compressed
	starts  *memberStarts // starts of members in a gzip file, else empty
	copied  *tee          // nil if there is no copy
	closer  func()
}

// NewReader returns a reader of the content of src, which is decompressed if its first bytes show a compression.
func NewReader(src io.Reader, o Options) (*Reader, error) {
	// Recognise the compression by the first bytes.
	file := &source{r: src}
	disk := bufio.NewReaderSize(file, bufferFor(o.Bytes))
	head, err := disk.Peek(HeadBytes)
	if err != nil && err != io.EOF {
		return nil, err
	}
	r := &Reader{Packing: PackingOf(head), buffer: disk, source: file, starts: new(memberStarts), closer: func() {}}
	if r.Packing == None {
		return r, nil
	}
	// Open the decompressor.
	d := &decoder{packing: r.Packing, name: o.Name, file: file}
	switch r.Packing {
	case Gzip:
		d.raw = newTrail(disk, file, bufferFor(o.Bytes))
		disk.Reset(d.raw)
		d.members = newMembers(o.Decoders, d.raw, disk)
		d.r, r.starts, r.closer = d.members, &d.members.memberStarts, d.members.drop
	case Zstd:
		d.raw = newTrail(disk, file, bufferFor(o.Bytes))
		z, err := newZstd(d.raw)
		if err != nil {
			return nil, err
		}
		d.r, r.closer = z, z.Close
	case Xz:
		if d.r, err = xz.NewReader(&xzSource{r: disk}); err != nil {
			return nil, d.explain(err)
		}
	case Bzip2:
		d.r = bzip2.NewReader(disk)
	}
	r.decoder, r.source, r.buffer = d, d, bufio.NewReaderSize(d, bufferBytes)
	return r, nil
}

// bufferFor returns the size of the buffer of a file. Most files are small and need little.
func bufferFor(size int64) int {
	if size > 0 && size < bufferBytes {
		return max(int(size)+1, 512)
	}
	return bufferBytes
}

// Read implements [io.Reader].
func (r *Reader) Read(p []byte) (int, error) {
	n, err := r.buffer.Read(p)
	r.offset += int64(n)
	return n, err
}

// ReadSlice reads up to a byte, as [bufio.Reader.ReadSlice] does.
func (r *Reader) ReadSlice(delim byte) ([]byte, error) {
	b, err := r.buffer.ReadSlice(delim)
	r.offset += int64(len(b))
	return b, err
}

// Peek returns the next n bytes without reading them.
func (r *Reader) Peek(n int) ([]byte, error) { return r.buffer.Peek(n) }

// Buffered returns the number of bytes that Peek returns without reading the file.
func (r *Reader) Buffered() int { return r.buffer.Buffered() }

// Discard reads n bytes and drops them.
func (r *Reader) Discard(n int) (int, error) {
	n, err := r.buffer.Discard(n)
	r.offset += int64(n)
	return n, err
}

// Offset returns the number of bytes of the content that have been read.
func (r *Reader) Offset() int64 { return r.offset }

// Unread puts the bytes back that were read last, or others in their place. The reader keeps them.
func (r *Reader) Unread(b []byte) {
	r.offset -= int64(len(b))
	buffered, _ := r.Peek(r.Buffered())
	r.buffer.Reset(io.MultiReader(bytes.NewReader(append(b, buffered...)), r.source))
}

// Copy returns a second reader of the same content, to be read after this one. Nothing may have been read before.
// The bytes that the copy has not returned yet are held in memory. [Reader.Resume] changes the copy, too.
func (r *Reader) Copy() io.Reader {
	r.copied = &tee{source: r.buffer}
	r.source = r.copied.keeping()
	r.buffer = bufio.NewReaderSize(r.source, r.buffer.Size())
	return r.copied
}

// Member returns the offset in the file of the gzip member whose content begins at an offset. It knows the last
// thousands that have been read.
func (r *Reader) Member(offset int64) (raw int64, ok bool) {
	if r == nil {
		return 0, false
	}
	i, ok := r.starts.find(offset)
	if ok {
		raw = r.starts.starts[i].raw
	}
	return raw, ok
}

// NextMember returns the offset of the content of the first known member after an offset. It returns a number
// beyond all content if none is known. A Read that reaches a new member returns only the bytes before it.
func (r *Reader) NextMember(offset int64) int64 {
	if r == nil {
		return math.MaxInt64
	}
	if i, _ := r.starts.find(offset + 1); i < len(r.starts.starts) {
		return r.starts.starts[i].out
	}
	return math.MaxInt64
}

// DamagedFrom returns the offset of the content of the damaged member of a gzip file, or a number beyond all content.
func (r *Reader) DamagedFrom() int64 {
	if r.Packing != Gzip {
		return math.MaxInt64
	}
	return r.decoder.members.brokenFrom()
}

// Resume continues at a sound member of a damaged gzip file: the first one after an offset of the content whose own
// content begins with a prefix. The content of that member then begins at the offset. Resume returns the offset of the
// member in the file. The error is io.EOF if there is no such member.
func (r *Reader) Resume(offset int64, prefix string) (member int64, err error) {
	if member, err = r.decoder.members.resume(offset, prefix); err != nil {
		return 0, err
	}
	if r.copied != nil {
		r.copied.forget(offset, r.decoder)
	}
	r.buffer.Reset(r.source)
	r.offset = offset
	return member, nil
}

// Close ends the decompression. It does not close the file.
func (r *Reader) Close() { r.closer() }

// A decoder reads from a decompressor. Its errors name the compression and a likely cause.
type decoder struct {
	packing Packing
	name    string // the name of the file
	r       io.Reader
	err     error    // the last error of r
	file    *source  // the compressed file
	raw     *trail   // the part of the file that is remembered, or nil
	members *members // the members of a gzip file, else nil
}

func (d *decoder) Read(p []byte) (n int, err error) {
	if d.err == nil || d.members != nil { // a decoder of xz would continue after an error; members resume
		n, d.err = d.r.Read(p)
	}
	return n, d.explain(d.err)
}

func (d *decoder) explain(err error) error {
	reached := d.raw == nil || d.raw.offset == d.raw.end
	if err == nil || err == io.EOF || d.file.err != nil && reached {
		return err // not the content's fault
	}
	reason, command := strings.TrimPrefix(err.Error(), string(d.packing)+": "), ""
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		reason = "unexpected EOF: is the file cut short?"
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, zstd.ErrMagicMismatch), reason == "invalid header magic bytes":
		reason = "something else follows the compressed data"
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, zstd.ErrCRCMismatch):
		reason = "checksum mismatch"
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		reason, command = fmt.Sprintf("its window is larger than %d MiB", zstdWindowMaxBytes>>20), "zstd -d --long=31 -c"
	case errors.Is(err, zstd.ErrUnknownDictionary):
		reason, command = "it was compressed with a dictionary", "zstd -d -D DICTIONARY -c"
	case errors.Is(err, errXzDictionary), reason == "unsupported filter count":
		command = "xz -d -c"
	}
	if command != "" {
		reason += fmt.Sprintf("; this reads it: %s %s | ndd ... -", command, d.name)
	}
	return Damage(fmt.Errorf("%s: %s", d.packing, reason))
}

// source is a file. It remembers the error of reading it, unless that is io.EOF.
type source struct {
	r   io.Reader
	err error
}

func (s *source) Read(p []byte) (n int, err error) {
	if n, err = s.r.Read(p); err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}
