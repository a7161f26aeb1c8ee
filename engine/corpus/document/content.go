package document

import (
	"bufio"
	"context"
	"errors"
	"io"
)

// Content is a file's content, decompressed, as the offsets of its units count it. It belongs to one
// goroutine.
type Content struct {
	io.Reader
	Packing Packing
	Rows    bool // its documents are parts of it: lines, records, JSON objects
	List    bool // it is JSON: between its documents there may be commas
	Members bool // its records are compressed each by itself, if they are compressed: it is WARC

	Columns io.ReaderAt // of a Parquet file, whose documents are rows; else nil
	Size    int64       // of the file, where Columns is set
	s       *stream
	format  Format
	err     error // of finding out that
	closer  func()
}

// Open opens the file. The error names it.
func (f File) Open(ctx context.Context, opts Options) (*Content, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	opts.Meter.Files.Add(1)
	s := &stream{ctx: ctx, file: f, opts: opts}
	closer, err := s.open(nil)
	if err != nil {
		return nil, bare(f.Path, err)
	}
	format, err := s.detect()
	if _, skipped := err.(*Skip); err != nil && !skipped && !errors.Is(err, ErrDamaged) {
		closer()
		return nil, bare(f.Path, err)
	}
	c := &Content{Reader: s.r, Rows: formats[format].rows, List: format == JSON, Members: format == WARC, s: s,
		format: format, err: err, closer: closer}
	if s.unpacking != nil {
		c.Packing = s.unpacking.packing
	}
	if format == Parquet && s.plain != nil {
		quiet := &stream{ctx: ctx, opts: Options{Meter: &Meter{}}} // Units counts what it reads
		c.Columns, c.Size = &meteredReaderAt{quiet, s.plain}, s.size
	}
	return c, nil
}

// Units yields the units as [File.Scan] does. Nothing may have been read of the content before. While a
// unit is yielded, Read returns the content up to its end, at least, and afterwards all of it; what a
// [Skip] with ResumedAt leaves out is not part of it. What Read has not returned yet is held in memory.
func (c *Content) Units(yield func(Unit, error) bool) {
	s := c.s
	s.yield, s.copied = yield, &tee{from: s.r}
	c.Reader, s.source = s.copied, s.copied.keeping()
	s.r = bufio.NewReaderSize(s.source, s.r.Size())
	if err := s.end(s.unitsOf(c.format, c.err)); err != nil && !errors.Is(err, errStop) {
		yield(Unit{}, err)
	}
}

// A tee keeps what one reader has read for another one, which reads it behind that.
type tee struct {
	from io.Reader
	held []byte // from next on
	next int
	end  int64 // of held, in the content
}

// keeping returns the reader that is ahead.
func (t *tee) keeping() io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		n, err := t.from.Read(p)
		if t.next > len(t.held)/2 {
			t.held, t.next = append(t.held[:0], t.held[t.next:]...), 0
		}
		t.held = append(t.held, p[:n]...)
		t.end += int64(n)
		return n, err
	})
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// Read is of the reader behind.
func (t *tee) Read(p []byte) (int, error) {
	if t.next == len(t.held) {
		return t.from.Read(p)
	}
	n := copy(p, t.held[t.next:])
	t.next += n
	return n, nil
}

// forget drops the bytes held from byte at of the content on; the content goes on with those of from.
func (t *tee) forget(at int64, from io.Reader) {
	t.held = t.held[:max(len(t.held)-int(t.end-at), t.next)]
	t.from, t.end = from, at
}

// CopyPacking returns how a copy of the file is compressed: as the file is, or by zstd, with the
// name's ending to match, where nothing writes the file's compression. The ending is "" where the
// name stays. It looks at the first bytes.
func (f File) CopyPacking(ctx context.Context) (ending string, err error) {
	file, err := f.Raw(ctx)
	if err != nil {
		return "", err
	}
	defer file.Close()
	head := make([]byte, 6)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return "", bare(f.Path, err)
	}
	return PackingOf(head[:n]).CopyEnding(), nil
}

// CopyEnding returns the ending of the name of a copy of a file that is compressed so, "" where the name
// stays.
func (p Packing) CopyEnding() string {
	if p == Xz || p == Bzip2 {
		return ".zst"
	}
	return ""
}

// Close closes the file.
func (c *Content) Close() { c.closer() }
