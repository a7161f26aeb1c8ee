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
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"

	"ndd/engine/storage/object"
)

const (
	diskBufferBytes = 128 << 10 // one read of a file
	peekBytes       = 8 << 10   // what format detection looks at

	// Larger windows need more memory than a reader should take.
	zstdWindowMaxBytes   = 256 << 20
	xzDictionaryMaxBytes = 256 << 20
)

var (
	gzipMagic = []byte{0x1f, 0x8b, 0x08}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
	xzMagic   = []byte("\xfd7zXZ\x00")
	bzipMagic = []byte("BZh")
)

// open opens the file or standard input and puts a decompressor on it where its first bytes ask for one.
// The function that it returns closes everything it opened.
func (s *stream) open(stdin io.Reader) (closer func(), err error) {
	src, closeSource, err := s.source(stdin)
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

// source opens what lies under the stream's path, and notes its size and time where they are known.
func (s *stream) source(stdin io.Reader) (src io.Reader, closer func(), err error) {
	switch {
	case s.file.Path == Stdin && stdin == nil:
		return nil, nil, errors.New("standard input is not there")
	case s.file.Path == Stdin:
		return Patient(s.ctx, stdin), func() {}, nil
	case !s.file.inFolder() && ReadOnce(s.file.Path):
		pipe := OpenPipe(s.ctx, s.file.Path)
		return pipe, func() { pipe.Close() }, nil
	case object.Is(s.file.Path):
		o, err := object.From(s.ctx).Open(s.ctx, s.file.Path)
		if err != nil {
			return nil, nil, err
		}
		s.size, s.modified = max(o.Size, 0), o.ModifiedNano()
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

// unpack has the stream read src, through the decompressor that its first bytes ask for. The function that it returns ends that.
func (s *stream) unpack(src io.Reader) (closer func(), err error) {
	source := &meteredReader{s: s, r: src}
	disk := bufio.NewReaderSize(source, bufferFor(s.size))
	head, err := disk.Peek(6)
	if err != nil && err != io.EOF {
		return nil, err
	}
	closer = func() {}
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		again, _ := disk.Peek(disk.Buffered())
		raw := &trail{r: source, last: bytes.Clone(again), end: int64(len(again))}
		raw.rewind(0)
		disk.Reset(raw)
		s.members = &members{raw: raw, disk: disk}
		s.wrap(&unpacking{Gzip, s.members, source})
	case bytes.HasPrefix(head, zstdMagic):
		z, err := zstd.NewReader(disk, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(zstdWindowMaxBytes))
		if err != nil {
			return nil, fmt.Errorf("zstd: %w", err)
		}
		s.wrap(&unpacking{Zstd, z, source})
		closer = z.Close
	case bytes.HasPrefix(head, xzMagic):
		x, err := xz.NewReader(disk, xzDictionaryMaxBytes)
		if err != nil {
			return nil, damage{fmt.Errorf("xz: %w", err)}
		}
		s.wrap(&unpacking{Xz, x, source})
	case isBzip(head):
		s.wrap(&unpacking{Bzip2, bzip2.NewReader(disk), source})
	default:
		s.r = disk
		if o, ok := src.(*object.Object); !ok || o.Size >= 0 {
			s.plain, _ = src.(io.ReaderAt)
		}
	}
	return closer, nil
}

// isBzip tells the first bytes of what bzip2 wrote: its signature and a size from 1 to 9.
func isBzip(head []byte) bool {
	return bytes.HasPrefix(head, bzipMagic) && len(head) > 3 && head[3] >= '1' && head[3] <= '9'
}

// bufferFor returns the size of the buffer of a file: less than usual for a small one, as most are.
func bufferFor(size int64) int {
	if size > 0 && size < diskBufferBytes {
		return max(int(size)+1, 512)
	}
	return diskBufferBytes
}

// wrap reads the stream through a decompressor.
func (s *stream) wrap(u *unpacking) {
	s.size, s.packing, s.unpacking = 0, u.packing, u
	s.r = bufio.NewReaderSize(u, diskBufferBytes)
}

// Patient returns a reader of standard input or a pipe that gives up when the context ends: nobody may ever type the rest.
// The read itself cannot be called off; its goroutine ends with it.
func Patient(ctx context.Context, r io.Reader) io.Reader { return &patientReader{ctx: ctx, r: r} }

// OpenPipe is [Patient] for a pipe by its name. It is opened when it is read first, since to open it is to wait for
// somebody who writes to it.
func OpenPipe(ctx context.Context, path string) io.ReadCloser {
	p := &pipe{path: path}
	return struct {
		io.Reader
		io.Closer
	}{Patient(ctx, p), p}
}

type pipe struct {
	path string
	mu   sync.Mutex // a read may go on when nobody waits for it any more
	file *os.File
}

func (p *pipe) Read(to []byte) (n int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil {
		if p.file, err = os.Open(p.path); err != nil {
			return 0, err
		}
	}
	return p.file.Read(to)
}

// Close closes the pipe unless a read goes on.
func (p *pipe) Close() error {
	if !p.mu.TryLock() {
		return nil
	}
	defer p.mu.Unlock()
	if p.file == nil {
		return nil
	}
	return p.file.Close()
}

type patientReader struct {
	ctx context.Context
	r   io.Reader
	buf []byte
}

func (p *patientReader) Read(to []byte) (int, error) {
	to = to[:min(len(to), diskBufferBytes)] // a pipe gives no more at a time
	if len(p.buf) < len(to) {
		p.buf = make([]byte, len(to))
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	go func(buf []byte) {
		n, err := p.r.Read(buf)
		done <- result{n, err}
	}(p.buf[:len(to)])
	select {
	case got := <-done:
		return copy(to, p.buf[:got.n]), got.err
	case <-p.ctx.Done():
		p.buf = nil // the read may still write to it
		return 0, p.ctx.Err()
	}
}

// meteredReader counts bytes, gives up when the context has ended, and names no file twice in its errors.
type meteredReader struct {
	s   *stream
	r   io.Reader
	err error // of reading, but for io.EOF
}

func (m *meteredReader) Read(p []byte) (int, error) {
	if err := m.s.ctx.Err(); err != nil {
		m.err = err
		return 0, err
	}
	n, err := m.r.Read(p)
	m.s.opts.Meter.Bytes.Add(int64(n))
	if err != nil && err != io.EOF {
		err = bareCause(err)
		m.err = err
	}
	return n, err
}
