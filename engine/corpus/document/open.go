package document

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"ndd/engine/storage/object"
)

const (
	diskBufferBytes = 128 << 10 // one read of a file

	// Larger windows need more memory than a reader should take.
	zstdWindowMaxBytes   = 256 << 20
	xzDictionaryMaxBytes = 64 << 20 // of xz -9; the library allocates it for each block
)

// Packing is how a file is compressed.
type Packing string

// The ways of compression that are seen through.
const (
	Unpacked Packing = ""
	Gzip     Packing = "gzip"
	Zstd     Packing = "zstd"
	Xz       Packing = "xz"
	Bzip2    Packing = "bzip2"
)

var gzipMagic = []byte{0x1f, 0x8b, 0x08}

// PackingOf returns the compression of a file that begins with head.
func PackingOf(head []byte) Packing {
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		return Gzip
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}), isSkippable(head):
		return Zstd
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		return Xz
	case len(head) > 3 && string(head[:3]) == "BZh" && head[3] >= '1' && head[3] <= '9':
		return Bzip2
	}
	return Unpacked
}

// isSkippable reports whether head begins a frame of zstd without content.
func isSkippable(head []byte) bool {
	return len(head) > 3 && head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18"
}

// open opens the file or standard input and puts a decompressor on it where its first bytes ask for
// one. The function that it returns closes everything it opened.
func (s *stream) open(stdin io.Reader) (closer func(), err error) {
	src, closeSource, err := s.openSource(stdin)
	if err != nil {
		return nil, err
	}
	closePacking, err := s.unpack(src)
	if err != nil {
		closeSource()
		return nil, err
	}
	return func() { closePacking(); closeSource() }, nil
}

// openSource opens the file, pipe or object of the stream, and notes its size and time if they are
// known.
func (s *stream) openSource(stdin io.Reader) (src io.Reader, closer func(), err error) {
	switch {
	case s.file.Path == Stdin && stdin == nil:
		return nil, nil, errors.New("standard input is not there")
	case s.file.Path == Stdin:
		pipe := &patientReader{ctx: s.ctx, open: func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil }}
		return pipe, func() { pipe.Close() }, nil
	case !s.file.inFolder() && ReadOnce(s.file.Path):
		pipe := OpenPipe(s.ctx, s.file.Path)
		return pipe, func() { pipe.Close() }, nil
	case object.Is(s.file.Path):
		o, err := object.From(s.ctx).Open(s.ctx, s.file.Path)
		if err != nil {
			return nil, nil, err
		}
		s.size, s.modified = max(o.Size, 0), o.ModifiedNano
		return o, func() { o.Close() }, nil
	}
	f, err := os.Open(s.file.Path)
	if err != nil {
		return nil, nil, bareCause(err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, nil, bareCause(err)
	}
	s.size, s.modified = info.Size(), info.ModTime().UnixNano()
	return f, func() { f.Close() }, nil // opened for reading: nothing can be lost
}

// unpack has the stream read src, through the decompressor that its first bytes ask for. The
// function that it returns ends that.
func (s *stream) unpack(src io.Reader) (closer func(), err error) {
	source := &meteredReader{s: s, r: src}
	disk := bufio.NewReaderSize(source, bufferFor(s.size))
	head, err := disk.Peek(6)
	if err != nil && err != io.EOF {
		return nil, err
	}
	closer = func() {}
	u := &unpacking{packing: PackingOf(head), source: source}
	switch u.packing {
	case Unpacked:
		s.r, s.source = disk, source
		if o, ok := src.(*object.Object); !ok || o.Size >= 0 {
			s.plain, _ = src.(io.ReaderAt)
		}
		return closer, nil
	case Gzip:
		u.raw = newTrail(disk, source, bufferFor(s.size))
		disk.Reset(u.raw)
		u.members = &members{disk: disk,
			ahead: ahead{d: s.opts.Decoders, raw: u.raw, find: findMembers, decode: decodeMembers}}
		u.r, closer = u.members, u.members.drop
	case Zstd:
		u.raw = newTrail(disk, source, bufferFor(s.size))
		f, err := newFrames(s.opts.Decoders, u.raw)
		if err != nil {
			return nil, err
		}
		u.r, closer = f, f.close
	case Xz:
		if u.r, err = xz.NewReader(&xzSource{r: disk}); err != nil {
			return nil, u.explain(err)
		}
	case Bzip2:
		u.r = bzip2.NewReader(disk)
	}
	s.size, s.unpacking, s.source = 0, u, u
	s.r = bufio.NewReaderSize(u, diskBufferBytes)
	return closer, nil
}

// unpacking reads from a decompressor. Its errors name it, and what may have happened to
// the file.
type unpacking struct {
	packing Packing
	r       io.Reader
	err     error          // of r
	source  *meteredReader // what the decompressor reads
	raw     *trail         // by which it does, or nil
	members *members       // of gzip, else nil
}

func (u *unpacking) Read(p []byte) (n int, err error) {
	if u.err == nil || u.members != nil { // a decoder of xz goes on after an error; members resume
		n, u.err = u.r.Read(p)
	}
	return n, u.explain(u.err)
}

func (u *unpacking) explain(err error) error {
	reached := u.raw == nil || u.raw.at == u.raw.end
	if err == nil || err == io.EOF || u.source.err != nil && reached {
		return err // not the content's fault
	}
	why, command := strings.TrimPrefix(err.Error(), string(u.packing)+": "), ""
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		why = "unexpected EOF: is the file cut short?"
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, zstd.ErrMagicMismatch), why == "invalid header magic bytes":
		why = "something else follows the compressed data"
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, zstd.ErrCRCMismatch):
		why = "checksum mismatch"
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		why, command = fmt.Sprintf("its window is larger than %d MiB", zstdWindowMaxBytes>>20), "zstd -d --long=31 -c"
	case errors.Is(err, zstd.ErrUnknownDictionary):
		why, command = "it was compressed with a dictionary", "zstd -d -D DICTIONARY -c"
	case errors.Is(err, errXzDictionary), why == "unsupported filter count":
		command = "xz -d -c"
	}
	if command != "" {
		why += fmt.Sprintf("; this reads it: %s %s | ndd ... -", command, u.source.s.file.Path)
	}
	return damage{fmt.Errorf("%s: %s", u.packing, why)}
}

// bufferFor returns the size of the buffer of a file: less than usual for a small one, as most are.
func bufferFor(size int64) int {
	if size > 0 && size < diskBufferBytes {
		return max(int(size)+1, 512)
	}
	return diskBufferBytes
}

// Patient returns a reader of standard input or a pipe that gives up when the context ends: nobody
// may ever type the rest. The read itself cannot be called off; its goroutine ends with it.
func Patient(ctx context.Context, r io.Reader) io.Reader {
	return &patientReader{ctx: ctx, open: func() (io.ReadCloser, error) { return io.NopCloser(r), nil }}
}

// OpenPipe is [Patient] for a pipe by its name. It is opened when it is read first, since to open
// it is to wait for somebody who writes to it.
func OpenPipe(ctx context.Context, path string) io.ReadCloser {
	return &patientReader{ctx: ctx, open: func() (io.ReadCloser, error) { return os.Open(path) }}
}

type patientReader struct {
	ctx  context.Context
	open func() (io.ReadCloser, error)
	from *io.PipeReader // nil before the first read
}

func (p *patientReader) Read(to []byte) (int, error) {
	if p.from == nil {
		var w *io.PipeWriter
		p.from, w = io.Pipe()
		stop := context.AfterFunc(p.ctx, func() { w.CloseWithError(p.ctx.Err()) })
		go func() {
			defer stop()
			in, err := p.open()
			if err == nil {
				defer in.Close()
				_, err = io.CopyBuffer(w, struct{ io.Reader }{in}, make([]byte, diskBufferBytes))
			}
			w.CloseWithError(err)
		}()
	}
	return p.from.Read(to)
}

// Close ends the reading.
func (p *patientReader) Close() error {
	if p.from == nil {
		return nil
	}
	return p.from.Close()
}

// meteredReader counts bytes, gives up when the context has ended, and names no file twice in its
// errors.
type meteredReader struct {
	s   *stream
	r   io.Reader
	err error // of reading, but for io.EOF
}

func (m *meteredReader) Read(p []byte) (n int, err error) {
	if err = m.s.ctx.Err(); err == nil {
		n, err = m.r.Read(p)
		m.s.opts.Meter.Bytes.Add(int64(n))
	}
	if err != nil && err != io.EOF {
		err = bareCause(err)
		m.err = err
	}
	return n, err
}
