package format

import (
	"context"
	"errors"
	"fmt"
	"io"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/text"
	"example.org/ndd/engine/corpus/unpack"
)

// Content is the decompressed content of an open file. Offsets of units count its bytes. It belongs to one goroutine.
type Content struct {
	io.Reader
	Packing unpack.Packing
	Rows    bool // its documents are parts of it: lines, records, JSON objects
	List    bool // it is JSON: between its documents there may be commas
	Members bool // it is WARC: if it is compressed, each record is compressed separately

	Columns io.ReaderAt // the Parquet file, whose documents are rows; nil for other formats
	Size    int64       // size of the file if Columns is set

	ctx    context.Context
	file   input.File
	opts   Options // options with defaults
	source *input.Source
	r      *unpack.Reader
	format Format
	err    error // why the format is unknown
	head   Head  // head of the units that were read
}

// Close closes the file.
func (c *Content) Close() {
	c.r.Close()
	c.source.Close()
}

// Raw returns the compressed bytes of a file, for copying gzip members unchanged. It returns nil if the file is
// not compressed or cannot be read at offsets.
func (c *Content) Raw() io.ReaderAt {
	if c.source == nil || c.r.Packing == unpack.None || !c.source.Seekable {
		return nil
	}
	return c.source.Unmetered()
}

// Member is [unpack.Reader.Member].
func (c *Content) Member(offset int64) (raw int64, ok bool) { return c.r.Member(offset) }

// NextMember is [unpack.Reader.NextMember].
func (c *Content) NextMember(offset int64) int64 { return c.r.NextMember(offset) }

// table returns the bytes of the file on disk. It returns nil if the file is compressed or cannot be read at offsets.
func (c *Content) table() io.ReaderAt {
	if c.r.Packing != unpack.None || !c.source.Seekable {
		return nil
	}
	return c.source
}

// inFolder reports whether the user named a folder, and not the file.
func (c *Content) inFolder() bool { return c.file.Root != "" }

// skipMark passes over a byte order mark.
func (c *Content) skipMark() {
	if mark, err := c.r.Peek(len(text.ByteOrderMark)); err == nil && string(mark) == text.ByteOrderMark {
		c.r.Discard(len(mark))
	}
}

// chosen reports the fields to the caller if the options do not name them.
func (c *Content) chosen(f Fields) {
	o := &c.opts
	if o.Chosen != nil &&
		(o.TextField == "" && f.Text != TextFields[0] || o.IDField == "" && f.ID != "" && f.ID != IDFields[0]) {
		o.Chosen(c.file.Path, f)
	}
}

// bzip2BlockBytes is more than a block of bzip2 decompresses to, unless it is very repetitive.
const bzip2BlockBytes = 1 << 20

// noFields returns the error of a file whose records have no text. In a folder it is a skip of the whole file.
// Damaged content, such as a block of bzip2 with a wrong checksum, may look like any record; then the error is the
// damage.
func (c *Content) noFields(err error) error {
	if c.r.Packing != unpack.None {
		if _, failed := io.CopyN(io.Discard, c.r, bzip2BlockBytes); errors.Is(failed, unpack.ErrDamaged) {
			return failed
		}
	}
	if c.inFolder() {
		return &input.Skip{Reason: input.NoFields, Err: err}
	}
	return err
}

// tooLarge returns the skip of a document beyond the limit.
func (c *Content) tooLarge(line int) *input.Skip {
	err := fmt.Errorf("more than %d bytes", c.opts.MaxDocumentBytes)
	if c.opts.ShortOfMemory {
		err = fmt.Errorf("%w, the limit in this memory: more memory allows longer documents", err)
	}
	return &input.Skip{Line: line, Reason: input.TooLarge, Err: err}
}

// problem returns the error for callers of a unit at a place. A file in a folder that cannot be read is a skip. Damaged
// content is a skip, too, because one torn archive must not undo hours of reading other files.
func (c *Content) problem(place Unit, err error) error {
	skip, isSkip := errors.AsType[*input.Skip](err)
	switch {
	case isSkip:
	case c.ctx.Err() != nil:
		return err
	case c.inFolder(), errors.Is(err, unpack.ErrDamaged):
		skip = &input.Skip{Line: place.Line, Offset: place.From, Reason: input.Unreadable, Err: err}
	default:
		return fmt.Errorf("%s: %w", input.Place(c.file.Path, place.Line), err)
	}
	skip.Source = c.file.Path
	return skip
}
