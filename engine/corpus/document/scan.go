package document

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
)

// Unit is one document as it lies in its file. It owns its bytes.
type Unit struct {
	Source string
	Line   int // from 1, or the number of a WARC record; 0 if the unit is the whole file

	// From and To bound the line with its end, the record with the blank lines before it, or the WARC record with
	// those behind it, as bytes of the decompressed file; both are 0 if the unit is the whole file.
	From, To int64

	format   Format  // Text, HTML, JSONL, httpResponse; CSV has been taken apart already
	raw      []byte  // the whole file, the line, the text field of a record, or the block of a WARC record
	id       string  // of a record; "" if it has none
	value    Value   // of a record
	fields   *Fields // of a JSON object
	modified int64   // of a whole file

	contentType string // of a WARC record's block
}

// Scan finds the units of the inputs, in the order of [Read], without extracting their text. It yields skips
// and errors as Read does.
func Scan(ctx context.Context, inputs []string, opts Options, stdin io.Reader) iter.Seq2[Unit, error] {
	return func(yield func(Unit, error) bool) {
		opts, err := opts.withDefaults()
		if err != nil {
			yield(Unit{}, err)
			return
		}
		for f, err := range Files(ctx, inputs) {
			if err == nil {
				err = scanFile(ctx, f, opts, stdin, yield)
			} else if passable(err, opts.Strict) {
				if yield(Unit{}, err) {
					continue
				}
				return
			}
			if errors.Is(err, errStop) {
				return
			}
			if err != nil {
				yield(Unit{}, err)
				return
			}
		}
	}
}

// Scan finds the units of one file; see [Scan].
func (f File) Scan(ctx context.Context, opts Options, stdin io.Reader) iter.Seq2[Unit, error] {
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

// errStop says that the consumer wants no more.
var errStop = errors.New("stop")

// scanFile yields the units of one file. An error ends everything.
func scanFile(ctx context.Context, f File, opts Options, stdin io.Reader, yield func(Unit, error) bool) error {
	opts.Meter.Files.Add(1)
	s := &stream{ctx: ctx, file: f, opts: opts, yield: yield}
	closer, err := s.open(stdin)
	if err == nil {
		err = s.units()
		closer()
	}
	switch {
	case err == nil || errors.Is(err, errStop) || ctx.Err() != nil:
		return err
	case errors.As(err, new(*Skip)):
		return s.skip(err.(*Skip))
	case f.inFolder(), errors.Is(err, ErrDamaged):
		return s.skip(&Skip{Source: f.Path, Line: s.line, At: s.good, Reason: Unreadable, Err: err})
	}
	return fmt.Errorf("%s: %w", place(f.Path, s.line), err)
}

// stream is one open file on its way to units.
type stream struct {
	ctx    context.Context
	file   File
	opts   Options
	yield  func(Unit, error) bool
	r      *bufio.Reader // decompressed
	size   int64         // of the file on disk, a hint; 0 if unknown or compressed
	line   int           // the last one read, for errors
	at     int64         // bytes of r that have been taken as lines
	good   int64         // of them, those of whole lines and records
	handed int64         // of them, those up to the end of the last WARC record that was handed on

	format Format  // once it is known
	fields *Fields // of JSON objects, from the first one on
	lines  []byte  // the block that lines are copied to

	packing   Packing
	unpacking *unpacking  // nil where it is not compressed
	members   *members    // of gzip
	plain     io.ReaderAt // the file, where it is not compressed and can be read at any place; else nil
	modified  int64       // of the file, nanoseconds since 1970; 0 if unknown
}

// units hands the stream to the reader of its format. Each reader is one file of this package.
func (s *stream) units() error {
	format, err := s.detect()
	if errors.Is(err, ErrDamaged) { // from the beginning: an archive's next record says what it is
		if err = s.resume(err); errors.As(err, new(*Skip)) {
			if err = s.skip(err.(*Skip)); err == nil {
				format, err = s.detect()
			}
		}
	}
	if err != nil {
		return err
	}
	s.format = format
	switch format {
	case Text, HTML:
		return s.whole(format)
	case JSONL, Lines:
		return s.jsonLines()
	case JSON:
		return s.jsonValues()
	case CSV:
		return s.records()
	case Parquet:
		return s.parquetRows()
	case WARC:
		return s.warcRecords()
	}
	panic("document: no reader for format " + string(format))
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

// skip yields a skip, or returns it where it is an end.
func (s *stream) skip(skip *Skip) error {
	if s.opts.Strict && skip.Reason.LosesData() {
		return skip
	}
	if !s.yield(Unit{}, skip) {
		return errStop
	}
	return nil
}

// Size returns the number of bytes that the unit holds.
func (u Unit) Size() int { return len(u.raw) }
