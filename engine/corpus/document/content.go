package document

import (
	"context"
	"errors"
	"io"
)

// Content is a file's content, decompressed, as the offsets of its units count it.
type Content struct {
	io.Reader
	Packing Packing
	Rows    bool // its documents are parts of it: lines, records, JSON objects
	List    bool // it is JSON: between its documents there may be commas
	Members bool // its records are compressed each by itself, if they are compressed: it is WARC

	Columns io.ReaderAt // of a Parquet file, whose documents are rows; else nil
	Size    int64       // of the file, where Columns is set
	closer  func()
}

// A Gap is a part of a gzip file that is left out, as a [Skip] reports it: from byte At of the
// content on, the content is that of the file from byte ResumedAt on, where a member begins.
type Gap struct{ At, ResumedAt int64 }

// Open opens the file. Its content is without the gaps, in order. The error names it.
func (f File) Open(ctx context.Context, opts Options, gaps []Gap) (*Content, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &stream{ctx: ctx, file: f, opts: opts}
	closer, err := s.open(nil)
	if err != nil {
		return nil, bare(f.Path, err)
	}
	r := io.Reader(s.r)
	if s.members != nil && len(gaps) > 0 {
		g := &gapped{s, gaps, 0}
		if err := g.jump(); err != nil {
			closer()
			return nil, bare(f.Path, err)
		}
		r = g
	}
	format, err := s.detect()
	if _, skipped := err.(*Skip); err != nil && !skipped {
		closer()
		return nil, bare(f.Path, err)
	}
	c := &Content{Reader: r, Rows: formats[format].rows, List: format == JSON, Members: format == WARC, closer: closer}
	if s.unpacking != nil {
		c.Packing = s.unpacking.packing
	}
	if format == Parquet && s.plain != nil {
		c.Columns, c.Size = &meteredReaderAt{s, s.plain}, s.size
	}
	return c, nil
}

// CopyPacking returns how a copy of the file is compressed: as the file is, or by zstd, with the
// name's ending to match, where nothing writes the file's compression. The ending is "" where the
// name stays. It looks at the first bytes.
func (f File) CopyPacking(ctx context.Context) (ending string, err error) {
	file, err := f.raw(ctx)
	if err != nil {
		return "", err
	}
	defer file.Close()
	head := make([]byte, 6)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return "", bare(f.Path, err)
	}
	switch packingOf(head[:n]) {
	case Xz, Bzip2:
		return ".zst", nil
	}
	return "", nil
}

// Close closes the file.
func (c *Content) Close() { c.closer() }

// gapped reads a stream without gaps.
type gapped struct {
	s    *stream
	gaps []Gap // ahead
	at   int64
}

func (g *gapped) Read(p []byte) (int, error) {
	if err := g.jump(); err != nil {
		return 0, err
	}
	if len(g.gaps) > 0 {
		p = p[:min(int64(len(p)), g.gaps[0].At-g.at)]
	}
	n, err := g.s.r.Read(p)
	g.at += int64(n)
	return n, err
}

// jump passes over a gap that begins here.
func (g *gapped) jump() error {
	for len(g.gaps) > 0 && g.at == g.gaps[0].At {
		if err := g.s.members.jump(g.gaps[0]); err != nil {
			return err
		}
		g.s.r.Reset(g.s.unpacking)
		g.gaps = g.gaps[1:]
	}
	return nil
}
