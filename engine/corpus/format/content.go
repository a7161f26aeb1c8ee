package format

import (
	"context"
	"errors"
	"io"

	"ndd/engine/corpus/input"
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
}

// Open opens a file. The error names it.
func Open(ctx context.Context, f input.File, opts Options) (*Content, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	opts.Meter.Files.Add(1)
	s := &stream{ctx: ctx, file: f, opts: opts}
	if err := s.open(nil); err != nil {
		return nil, f.Named(err)
	}
	format, err := s.detect()
	if _, skipped := err.(*input.Skip); err != nil && !skipped && !errors.Is(err, unpack.ErrDamaged) {
		s.close()
		return nil, f.Named(err)
	}
	c := &Content{Reader: s.r, Packing: s.r.Packing, Rows: formats[format].rows, List: format == JSON, Members: format == WARC, s: s,
		format: format, err: err}
	if format == Parquet && s.table() != nil {
		c.Columns, c.Size = s.source.Unmetered(), s.source.Bytes
	}
	return c, nil
}

// Units yields the units as [Units] does. Nothing may have been read of the content before. While a
// unit is yielded, Read returns the content up to its end, at least, and afterwards all of it; what a
// [input.Skip] with ResumedAt leaves out is not part of it. What Read has not returned yet is held in memory.
func (c *Content) Units(yield func(Unit, error) bool) {
	s := c.s
	s.yield, c.Reader = yield, s.r.Copy()
	if err := s.end(s.unitsOf(c.format, c.err)); err != nil && !errors.Is(err, errStop) {
		yield(Unit{}, err)
	}
}

// CopyEnding returns the ending of the name of a copy of a file, as [unpack.Packing.CopyEnding] does.
func CopyEnding(ctx context.Context, f input.File) (ending string, err error) {
	file, err := f.Raw(ctx)
	if err != nil {
		return "", err
	}
	defer file.Close()
	head := make([]byte, unpack.HeadBytes)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return "", f.Named(err)
	}
	return unpack.PackingOf(head[:n]).CopyEnding(), nil
}

// Close closes the file.
func (c *Content) Close() { c.s.close() }
