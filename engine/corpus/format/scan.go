package format

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/text"
	"example.org/ndd/engine/corpus/unpack"
)

// Read yields the documents of the inputs in order: inputs as given, folders sorted by path. If an input is -, it reads
// stdin, which may be nil otherwise. It yields a *[input.Skip] as an error at its place and continues. With
// Options.Strict, a skip that loses data ends the reading. Any other error ends it, too, and names the file and place.
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
			if err != nil && !opts.isPassable(err) {
				return
			}
		}
	}
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
				if !yield(u, err) || err != nil && !opts.isPassable(err) {
					return
				}
			}
		}
	}
}

// Units finds the units of one file; see [Scan].
func Units(ctx context.Context, f input.File, opts Options, stdin io.Reader) iter.Seq2[Unit, error] {
	return func(yield func(Unit, error) bool) {
		c, err := open(ctx, f, opts, stdin)
		switch {
		case c == nil:
			yield(Unit{}, err)
		case err != nil:
			yield(Unit{}, c.problem(Unit{}, err))
		default:
			defer c.Close()
			c.units(yield)
		}
	}
}

// Open opens a file. The error names it.
func Open(ctx context.Context, f input.File, opts Options) (*Content, error) {
	c, err := open(ctx, f, opts, nil)
	if err != nil {
		return nil, f.Named(err)
	}
	if c.err != nil && !isSkip(c.err) && !errors.Is(c.err, unpack.ErrDamaged) {
		c.Close()
		return nil, f.Named(c.err)
	}
	c.Reader, c.Packing = c.r, c.r.Packing
	c.Rows, c.List, c.Members = c.format.hasParts(), c.format == JSON, c.format == WARC
	if c.format == Parquet && c.table() != nil {
		c.Columns, c.Size = c.source.Unmetered(), c.source.Bytes // Units counts the bytes
	}
	return c, nil
}

// Units yields the units of the file as [Units] does. It must be the first read of the content. While a unit is
// yielded, Read returns the content at least up to the end of the unit; afterwards it returns all of the content. The
// part that an [input.Skip] with ResumedAt leaves out is not included. Content that Read has not returned yet is held
// in memory.
func (c *Content) Units(yield func(Unit, error) bool) {
	c.Reader = c.r.Copy()
	c.units(yield)
}

// HeadOf reads the beginning of a file. It returns the error that [Units] yields before the first unit, if any.
func HeadOf(ctx context.Context, f input.File, opts Options) (h Head, err error) {
	opts.Meter, opts.Chosen, opts.Strict = nil, nil, false
	c, err := open(ctx, f, opts, nil)
	if err != nil {
		return h, f.Named(err)
	}
	defer c.Close()
	skips := 0
	for u, err := range c.units {
		if err != nil && !isSkip(err) {
			return c.head, err
		}
		if skips++; err == nil || skips == heldMax {
			if u.format == JSONL {
				jsonMembers(u.raw, func(name, _ []byte) { c.head.Names = append(c.head.Names, string(name)) })
			}
			break
		}
	}
	return c.head, nil
}

// open opens a file or standard input and finds its format. Without an error Close must be called. The content is nil
// if the options are invalid.
func open(ctx context.Context, f input.File, opts Options, stdin io.Reader) (c *Content, err error) {
	if opts, err = opts.withDefaults(); err != nil {
		return nil, err
	}
	c = &Content{ctx: ctx, file: f, opts: opts}
	if c.source, err = f.Open(ctx, stdin, opts.Meter); err != nil {
		return c, err
	}
	if c.r, err = unpack.NewReader(c.source,
		unpack.Options{Name: f.Path, Bytes: c.source.Bytes, Decoders: opts.Decoders}); err != nil {
		c.source.Close()
		return c, err
	}
	c.format, c.err = c.detect()
	return c, nil
}

// isPassable reports whether an error is a skip that does not end the reading.
func (o *Options) isPassable(err error) bool {
	skip, ok := errors.AsType[*input.Skip](err)
	return ok && !(o.Strict && skip.Reason.LosesData())
}

// units yields the units of the content, and errors as callers get them. The last error ends it.
func (c *Content) units(yield func(Unit, error) bool) {
	for u, err := range c.cut {
		if err == nil {
			err = c.ctx.Err()
		}
		if err != nil {
			u, err = Unit{}, c.problem(u, err)
		} else {
			u.Source = c.file.Path
		}
		if !yield(u, err) || err != nil && !c.opts.isPassable(err) {
			return
		}
	}
}

// cuts are the functions that cut a content into units. Each unit can be extracted without the others. An error comes
// with a unit that has only its place, Line and From. An error that is not a skip is the last result.
var cuts = map[Format]func(*Content) iter.Seq2[Unit, error]{
	Text: wholeUnits, HTML: wholeUnits, CSV: tableRecords, Parquet: parquetRows,
	Lines: func(c *Content) iter.Seq2[Unit, error] { return each((&lineReader{c: c, format: Text}).next) },
	JSONL: func(c *Content) iter.Seq2[Unit, error] {
		return objectChoice(c).units(each((&lineReader{c: c, format: JSONL}).next))
	},
	JSON: func(c *Content) iter.Seq2[Unit, error] {
		return objectChoice(c).units(each((&jsonSplitter{c: c}).next))
	},
	WARC: func(c *Content) iter.Seq2[Unit, error] { return each((&warcReader{c: c}).next) },
}

// cut yields the units of the content as its format finds them.
func (c *Content) cut(yield func(Unit, error) bool) {
	w := warcReader{c: c}
	if errors.Is(c.err, unpack.ErrDamaged) { // at the beginning: the next record of an archive shows the format
		if c.err = w.resume(c.err); isSkip(c.err) {
			if !yield(Unit{}, c.err) {
				return
			}
			c.format, c.err = c.detect()
		}
	}
	head, _ := c.r.Peek(2)
	switch {
	case c.err != nil:
		yield(Unit{Line: w.line, From: w.complete}, c.err)
	case c.format.hasParts() && text.IsUTF16(head):
		yield(Unit{}, &input.Skip{Reason: input.Unreadable, Err: fmt.Errorf("it is in UTF-16, in which %s is not read; "+
			"convert it first: iconv -f UTF-16 -t UTF-8 %s", c.format, c.file.Path)})
	default:
		c.head.Format = c.format
		cuts[c.format](c)(yield)
	}
}

// wholeUnits yields the file as one unit.
func wholeUnits(c *Content) iter.Seq2[Unit, error] {
	return func(yield func(Unit, error) bool) {
		u, err := c.wholeUnit()
		yield(u, err)
	}
}

func (c *Content) wholeUnit() (u Unit, err error) {
	limit, size := c.opts.MaxDocumentBytes, c.source.Bytes
	if c.r.Packing != unpack.None {
		size = 0
	}
	if size > limit {
		return u, c.tooLarge(0)
	}
	// Allocate one byte more than the stated size, so that the end is found without growing the buffer. Do not trust
	// stated sizes above 1 MiB.
	var buf bytes.Buffer
	buf.Grow(int(min(size, 1<<20)) + bytes.MinRead)
	n, err := io.Copy(&buf, io.LimitReader(c.r, limit+1))
	if err != nil {
		return u, fmt.Errorf("after %d bytes: %w", n, err)
	}
	if n > limit {
		return u, c.tooLarge(0)
	}
	return Unit{format: c.format, raw: buf.Bytes(), modified: c.source.Modified}, nil
}
