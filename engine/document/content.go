package document

import (
	"context"
	"io"
)

// Packing is how a file is compressed.
type Packing string

// The ways of compression that are seen through.
const (
	Unpacked Packing = ""
	Gzip     Packing = "gzip"
	Zstd     Packing = "zstd"
)

// Content is a file's content, decompressed, as the offsets of its units count it.
type Content struct {
	io.Reader
	Packing Packing
	Rows    bool // its documents are lines or records: it is JSONL, CSV or WARC
	Members bool // its records are compressed each by itself, if they are compressed: it is WARC
	closer  func()
}

// Open opens the file. The error names it.
func (f File) Open(ctx context.Context, opts Options) (*Content, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &stream{ctx: ctx, file: f, opts: opts}
	closer, err := s.open(nil)
	if err != nil {
		return nil, bare(f.Path, err)
	}
	format, err := s.detect()
	if _, skipped := err.(*Skip); err != nil && !skipped {
		closer()
		return nil, bare(f.Path, err)
	}
	return &Content{s.r, s.packing, format == JSONL || format == CSV || format == WARC, format == WARC, closer}, nil
}

// Close closes the file.
func (c *Content) Close() { c.closer() }
