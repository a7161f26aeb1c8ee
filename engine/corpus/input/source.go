package input

import (
	"context"
	"errors"
	"io"
	"os"

	"example.org/ndd/engine/storage/object"
)

// Source is an open file, pipe or object. Its errors do not name the file. Reading it ends with the context.
type Source struct {
	Bytes    int64 // size of the file; 0 if unknown
	Modified int64 // nanoseconds since 1970; 0 if unknown
	Seekable bool  // ReadAt can read it

	ctx   context.Context
	meter *Meter
	r     io.ReadCloser
}

// Open opens a file for reading, which a meter counts. stdin is read if the file is standard input.
func (f File) Open(ctx context.Context, stdin io.Reader, meter *Meter) (*Source, error) {
	s := &Source{ctx: ctx, meter: meter}
	// Standard input, pipes and remote files have their own readers.
	switch {
	case f.Path == Stdin && stdin == nil:
		return nil, errors.New("standard input is not available")
	case f.Path == Stdin:
		s.r = Patient(ctx, stdin)
		return s, nil
	case f.Root == "" && ReadOnce(f.Path):
		s.r = OpenPipe(ctx, f.Path)
		return s, nil
	case isHDFS(f.Path):
		in, err := openHDFS(ctx, f)
		if err != nil {
			return nil, err
		}
		s.r, s.Bytes, s.Seekable = in, max(in.bytes, 0), in.bytes >= 0
		return s, nil
	case object.Is(f.Path):
		o, err := object.From(ctx).Open(ctx, f.Path)
		if err != nil {
			return nil, err
		}
		s.r, s.Bytes, s.Modified, s.Seekable = o, max(o.Size, 0), o.ModifiedNano, o.Size >= 0
		return s, nil
	}
	// All other paths are files on disk.
	file, err := os.Open(f.Path)
	if err != nil {
		return nil, bareCause(err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, bareCause(err)
	}
	s.r, s.Bytes, s.Modified, s.Seekable = file, info.Size(), info.ModTime().UnixNano(), true
	return s, nil
}

// Close closes the file. It was open for reading, so nothing can be lost.
func (s *Source) Close() { s.r.Close() }

// Read implements [io.Reader].
func (s *Source) Read(p []byte) (n int, err error) {
	if err = s.ctx.Err(); err == nil {
		n, err = s.r.Read(p)
		s.meter.Bytes.Add(int64(n))
	}
	if err != nil && err != io.EOF {
		err = bareCause(err)
	}
	return n, err
}

// ReadAt implements [io.ReaderAt] for a source that is Seekable.
func (s *Source) ReadAt(p []byte, offset int64) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.r.(io.ReaderAt).ReadAt(p, offset)
	s.meter.Bytes.Add(int64(n))
	return n, err
}

// Unmetered returns the source for a second reading, which no meter counts.
func (s *Source) Unmetered() io.ReaderAt {
	second := *s
	second.meter = &Meter{}
	return &second
}
