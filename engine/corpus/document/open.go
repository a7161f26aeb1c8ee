package document

import (
	"context"
	"errors"
	"io"
	"os"

	"ndd/engine/corpus/unpack"
	"ndd/engine/storage/object"
)

// open opens the file or standard input and puts a decompressor on it where its first bytes ask for
// one. The function that it returns closes everything it opened.
func (s *stream) open(stdin io.Reader) (closer func(), err error) {
	src, closeSource, err := s.openSource(stdin)
	if err != nil {
		return nil, err
	}
	s.r, err = unpack.NewReader(&meteredReader{s: s, r: src},
		unpack.Options{Name: s.file.Path, Bytes: s.size, Decoders: s.opts.Decoders})
	if err != nil {
		closeSource()
		return nil, err
	}
	if s.r.Packing != unpack.None {
		s.size = 0
	} else if o, ok := src.(*object.Object); !ok || o.Size >= 0 {
		s.plain, _ = src.(io.ReaderAt)
	}
	return func() { s.r.Close(); closeSource() }, nil
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

const pipeBytes = 128 << 10 // one read of a pipe

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
				_, err = io.CopyBuffer(w, struct{ io.Reader }{in}, make([]byte, pipeBytes))
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
	s *stream
	r io.Reader
}

func (m *meteredReader) Read(p []byte) (n int, err error) {
	if err = m.s.ctx.Err(); err == nil {
		n, err = m.r.Read(p)
		m.s.opts.Meter.Bytes.Add(int64(n))
	}
	if err != nil && err != io.EOF {
		err = bareCause(err)
	}
	return n, err
}
