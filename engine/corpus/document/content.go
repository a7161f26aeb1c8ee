package document

import (
	"context"
	"errors"
	"io"

	"ndd/engine/corpus/unpack"
)

// Content is a file's content, decompressed, as the offsets of its units count it. It belongs to one
// goroutine.
type Content struct {
	io.Reader
	Packing unpack.Packing
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
	if _, skipped := err.(*Skip); err != nil && !skipped && !errors.Is(err, unpack.ErrDamaged) {
		closer()
		return nil, bare(f.Path, err)
	}
	c := &Content{Reader: s.r, Packing: s.r.Packing, Rows: formats[format].rows, List: format == JSON, Members: format == WARC, s: s,
		format: format, err: err, closer: closer}
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
	s.yield, c.Reader = yield, s.r.Copy()
	if err := s.end(s.unitsOf(c.format, c.err)); err != nil && !errors.Is(err, errStop) {
		yield(Unit{}, err)
	}
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
	head := make([]byte, unpack.HeadBytes)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return "", bare(f.Path, err)
	}
	return unpack.PackingOf(head[:n]).CopyEnding(), nil
}

// Close closes the file.
func (c *Content) Close() { c.closer() }
