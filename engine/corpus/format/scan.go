package format

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"ndd/engine/corpus/input"
	"ndd/engine/corpus/text"
	"ndd/engine/corpus/unpack"
)

// Unit is one document as it lies in its file. Nobody writes to its bytes, which those of lines near it
// may share; see [Unit.Alone].
type Unit struct {
	Source string
	Line   int // from 1, or the number of a WARC record; 0 if the unit is the whole file

	// From and To bound the line with its end, the record with the blank lines before it, or the
	// WARC record with those behind it, as bytes of the decompressed file; both are 0 if the unit
	// is the whole file.
	From, To int64

	format   Format   // Text, HTML, JSONL, httpResponse; CSV has been taken apart already
	raw      []byte   // the whole file, the line, the text field of a record, or the block of a WARC record
	at       int64    // where raw begins, of the decompressed file, unless it is a copy or of a WARC record
	id       string   // of a record; "" if it has none
	values   []Value  // of a record
	fields   *Fields  // of a JSON object
	columns  []string // of a record that is taken apart
	modified int64    // of a whole file

	contentType string // of a WARC record's block
}

// FieldNames returns the names of the first fields of a line or record, nil of others.
func (u *Unit) FieldNames() []string {
	if u.format == JSONL {
		return fieldNames(u.raw)
	}
	return u.columns
}

// Scan finds the units of the inputs, in the order of [Read], without extracting their text. It
// yields skips and errors as Read does.
func Scan(ctx context.Context, inputs []string, opts Options, stdin io.Reader) iter.Seq2[Unit, error] {
	return func(yield func(Unit, error) bool) {
		for f, err := range opts.Share.List(ctx, inputs) {
			units := Units(ctx, f, opts, stdin)
			if err != nil {
				units = func(yield func(Unit, error) bool) { yield(Unit{}, err) }
			}
			for u, err := range units {
				if !yield(u, err) || err != nil && !passable(err, opts.Strict) {
					return
				}
			}
		}
	}
}

// Units finds the units of one file; see [Scan].
func Units(ctx context.Context, f input.File, opts Options, stdin io.Reader) iter.Seq2[Unit, error] {
	return func(yield func(Unit, error) bool) {
		opts, err := opts.withDefaults()
		if err == nil {
			err = scanFile(ctx, f, opts, stdin, yield)
		}
		if err != nil && !errors.Is(err, errStop) {
			yield(Unit{}, err)
		}
	}
}

// Read yields the documents of the inputs in order: inputs as given, folders sorted by path. stdin
// is read where an input is -, and may be nil otherwise. A *[input.Skip] is yielded as an error in its
// place, unless Options.Strict has made an end of it; after any other error, which names file and
// place, nothing follows.
//
//	for doc, err := range format.Read(ctx, inputs, format.Options{}, os.Stdin) {
//		if skip, ok := errors.AsType[*input.Skip](err); ok {
//			tally.Add(skip)
//			continue
//		}
//		if err != nil {
//			return err
//		}
//		use(doc)
//	}
func Read(ctx context.Context, inputs []string, opts Options, stdin io.Reader) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		extractor := NewExtractor(ctx, opts)
		for unit, err := range Scan(ctx, inputs, opts, stdin) {
			var doc Document
			if err == nil {
				doc, err = extractor.Extract(unit)
			}
			if !yield(doc, err) {
				return
			}
			if err != nil && !passable(err, opts.Strict) {
				return
			}
		}
	}
}

// passable reports whether an error is a skip that does not end the reading.
func passable(err error, strict bool) bool {
	skip, ok := errors.AsType[*input.Skip](err)
	return ok && !(strict && skip.Reason.LosesData())
}

// errStop is returned when the consumer stops.
var errStop = errors.New("stop")

// scanFile yields the units of one file. An error ends everything.
func scanFile(ctx context.Context, f input.File, opts Options, stdin io.Reader, yield func(Unit, error) bool) error {
	opts.Meter.Files.Add(1)
	defer opts.Meter.Begin(f)()
	s := &stream{ctx: ctx, file: f, opts: opts, yield: yield}
	err := s.open(stdin)
	if err == nil {
		err = s.units()
		s.close()
	}
	return s.end(err)
}

// end returns the error that ends everything, nil where that of reading the file does not.
func (s *stream) end(err error) error {
	if err != nil && !errors.Is(err, errStop) && s.ctx.Err() == nil {
		err = cmp.Or(s.decide(), err)
	}
	switch {
	case err == nil || errors.Is(err, errStop) || s.ctx.Err() != nil:
		return err
	case errors.As(err, new(*input.Skip)):
		return s.skip(err.(*input.Skip))
	case s.inFolder(), errors.Is(err, unpack.ErrDamaged):
		return s.skip(&input.Skip{Line: s.line, At: s.good, Reason: input.Unreadable, Err: err})
	}
	return fmt.Errorf("%s: %w", input.Place(s.file.Path, s.line), err)
}

// stream is one open file on its way to units.
type stream struct {
	ctx    context.Context
	file   input.File
	opts   Options
	yield  func(Unit, error) bool
	r      *unpack.Reader
	source *input.Source
	line   int   // the last one read, for errors
	good   int64 // bytes of r that were whole lines and records

	head    Head    // as far as it is known
	objects objects // of JSON

}

// open opens the file or standard input, and puts a decompressor on it if its first bytes ask for one.
func (s *stream) open(stdin io.Reader) (err error) {
	if s.source, err = s.file.Open(s.ctx, stdin, s.opts.Meter); err != nil {
		return err
	}
	s.r, err = unpack.NewReader(s.source, unpack.Options{Name: s.file.Path, Bytes: s.source.Bytes, Decoders: s.opts.Decoders})
	if err != nil {
		s.source.Close()
	}
	return err
}

// close closes what open has opened.
func (s *stream) close() {
	s.r.Close()
	s.source.Close()
}

// table returns the file for reading at any place, nil where it is compressed or cannot be read so.
func (s *stream) table() io.ReaderAt {
	if s.r.Packing != unpack.None || !s.source.Seekable {
		return nil
	}
	return s.source
}

func (s *stream) inFolder() bool { return s.file.Root != "" }

// units cuts the stream into units, as its format does.
func (s *stream) units() error { return s.unitsOf(s.detect()) }

// unitsOf cuts a stream of which the format is known, or why it is not.
func (s *stream) unitsOf(format Format, err error) error {
	if errors.Is(err, unpack.ErrDamaged) { // from the beginning: an archive's next record says what it is
		if err = s.warc().resume(err); errors.As(err, new(*input.Skip)) {
			if err = s.skip(err.(*input.Skip)); err == nil {
				format, err = s.detect()
			}
		}
	}
	if err != nil {
		return err
	}
	if head, _ := s.r.Peek(2); formats[format].rows && text.IsUTF16(head) {
		return &input.Skip{Reason: input.Unreadable, Err: fmt.Errorf("it is in UTF-16, in which %s is not read; convert it first: "+
			"iconv -f UTF-16 -t UTF-8 %s", format, s.file.Path)}
	}
	s.head.Format = format
	return formats[format].cut(s)
}

// byteOrderMark passes over a byte order mark.
func (s *stream) byteOrderMark() error {
	if mark, err := s.r.Peek(len(text.ByteOrderMark)); err != nil || string(mark) != text.ByteOrderMark {
		return nil // an error comes again
	}
	_, err := s.r.Discard(len(text.ByteOrderMark))
	return err
}

// emit yields a unit.
func (s *stream) emit(u Unit) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	u.Source = s.file.Path
	if !s.yield(u, nil) {
		return errStop
	}
	return nil
}

// each calls next, which yields a unit or returns a skip, until it returns io.EOF. A skip of the
// whole file ends it.
func (s *stream) each(next func() error) error {
	for {
		err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if skip, ok := errors.AsType[*input.Skip](err); ok && skip.Reason != input.NoFields {
			err = s.skip(skip)
		}
		if err != nil {
			return err
		}
	}
}

// skip yields a skip of this file, or returns it where Options.Strict has made an end of it.
func (s *stream) skip(skip *input.Skip) error {
	skip.Source = s.file.Path
	if s.opts.Strict && skip.Reason.LosesData() {
		return skip
	}
	if len(s.objects.held) > 0 {
		s.objects.held = append(s.objects.held, heldRecord{skip: skip})
		return nil
	}
	return s.yieldSkip(skip)
}

func (s *stream) yieldSkip(skip *input.Skip) error {
	if !s.yield(Unit{}, skip) {
		return errStop
	}
	return nil
}

// Size returns the number of bytes that the unit holds.
func (u Unit) Size() int { return len(u.raw) }

// Alone returns the unit without the lines that share its memory.
func (u Unit) Alone() Unit {
	if u.Line > 0 && (u.format == JSONL || u.format == Text) {
		u.raw = bytes.Clone(u.raw)
	}
	return u
}

// whole reads the file as one unit.
func (s *stream) whole() error {
	most := s.opts.MaxDocumentBytes
	size := s.source.Bytes
	if s.r.Packing != unpack.None {
		size = 0
	}
	if size > most {
		return s.tooLarge(0)
	}
	// One byte more than the file is said to have, so that its end is seen without growing; what a
	// file claims to be is trusted only as far as 1 MiB.
	var buf bytes.Buffer
	buf.Grow(int(min(size, 1<<20)) + bytes.MinRead)
	n, err := io.Copy(&buf, io.LimitReader(s.r, most+1))
	if err != nil {
		return fmt.Errorf("after %d bytes: %w", n, err)
	}
	if n > most {
		return s.tooLarge(0)
	}
	return s.emit(Unit{format: s.head.Format, raw: buf.Bytes(), modified: s.source.Modified})
}

// tooLarge returns the skip of a document beyond the limit.
func (s *stream) tooLarge(line int) *input.Skip {
	return &input.Skip{Line: line, Reason: input.TooLarge, Err: fmt.Errorf("more than %d bytes", s.opts.MaxDocumentBytes)}
}
