package rewrite

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"iter"
	"math"
	"slices"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/unpack"
	"example.org/ndd/engine/parallel"
)

// pack writes the parts of a content that fill copies, with the compression of the content. In WARC each record is a
// member; in other formats each block is one. If fields is not nil, pack adds the fields at the cuts.
func (p *packer) pack(ctx context.Context, w io.Writer, content *format.Content, fields *fieldText,
	fill func(*contentCopy) error) error {
	packing := content.Packing
	produce := func(ctx context.Context, yield func(*block) bool) error {
		c := contentCopy{ctx: ctx, p: p, in: content, records: content.Members && packing != unpack.None,
			file: content.Raw(), jsonList: jsonList{list: content.List}, fields: fields, yield: yield}
		return c.all(fill)
	}
	work := func(ctx context.Context, blocks iter.Seq[*block]) error {
		for b := range blocks {
			if packing == unpack.None {
				continue
			}
			if err := p.compress(b, packing); err != nil {
				return err
			}
		}
		return nil
	}
	var member io.WriteCloser // a member of several blocks
	emit := func(b *block) (err error) {
		if b.part && member == nil {
			if member, err = stream(w, packing); err != nil {
				return err
			}
		}
		switch {
		case b.part:
			_, err = member.Write(b.in)
		case packing == unpack.None:
			_, err = w.Write(b.in)
		default:
			_, err = w.Write(b.out)
		}
		if err == nil && b.last {
			err, member = member.Close(), nil
		}
		p.free <- b
		return err
	}
	return parallel.Ordered(ctx, parallel.Options{Workers: p.threads, Window: 2 * p.threads}, produce, work, emit)
}

// A contentCopy reads a content into blocks.
type contentCopy struct {
	ctx       context.Context
	p         *packer
	in        *format.Content
	file      io.ReaderAt // the file, if its members can be copied unchanged
	inputRead int64       // number of bytes of in that were read
	records   bool        // each record is a member
	starts    []int64
	fields    *fieldText // nil: none
	yield     func(*block) bool

	b         *block
	begun     bool   // a member has bytes and no end
	from      int64  // offset of the member in the content
	same      bool   // the member has all bytes of the content after from, and no others
	hasMember bool   // a member has ended
	long      bool   // the member is longer than a block
	tail      []byte // rest of a record, for the next block
	jsonList
}

// A jsonList is the state of copying a JSON list.
type jsonList struct {
	list    bool         // the content is a list
	stays   bool         // a value was copied
	dropped bool         // the last value was not copied
	gap     bytes.Buffer // bytes between the last value that was copied and the next one
}

// all yields the blocks with the content that fill copies.
func (c *contentCopy) all(fill func(*contentCopy) error) (err error) {
	if c.b, err = c.p.take(c.ctx); err != nil {
		return err
	}
	if err := fill(c); err != nil {
		return err
	}
	c.begun = c.begun || !c.hasMember // an empty file is a member
	if c.end(); !c.yield(c.b) {
		return context.Cause(c.ctx)
	}
	return nil
}

// follow copies up to an offset, without the cuts in e.
func (c *contentCopy) follow(e *edits, to int64) error {
	c.starts = append(c.starts, e.starts...)
	for _, cut := range e.cuts {
		var err error
		if c.fields != nil {
			err = c.note(cut)
		} else if err = c.copy(cut.from); err == nil {
			err = c.discard(cut.to)
		}
		if err != nil {
			return err
		}
	}
	e.starts, e.cuts = e.starts[:0], e.cuts[:0]
	return c.copy(to)
}

// value copies up to the end of a value of a JSON list, or leaves the value out. Then it also leaves out the
// bytes between it and the next value, so that commas remain only between values.
func (c *contentCopy) value(e *edits, from, to int64, stays bool) error {
	if !stays && !c.dropped {
		c.dropped = true
		c.gap.Reset()
		if _, err := io.CopyN(&c.gap, c.in, from-c.inputRead); err != nil {
			return err
		}
		c.inputRead = from
	}
	if !stays {
		return c.discard(to)
	}
	if c.dropped {
		if err := cmp.Or(c.put(c.gap.Bytes()), c.discard(from)); err != nil {
			return err
		}
	}
	c.stays, c.dropped = true, false
	return c.follow(e, to)
}

// last copies the bytes after the last unit.
func (c *contentCopy) last(e *edits) error {
	if c.dropped && !c.stays { // the beginning of the list
		if err := c.put(c.gap.Bytes()); err != nil {
			return err
		}
	}
	return c.follow(e, e.end)
}

// discard skips the bytes before an offset.
func (c *contentCopy) discard(to int64) error {
	if _, ends := c.in.Member(c.inputRead); ends {
		c.end()
	}
	_, err := io.CopyN(io.Discard, c.in, to-c.inputRead) // Discard of a reader takes an int, which may be too small
	c.inputRead, c.same = to, false
	return err
}

// copy copies up to an offset, or the end of the file.
func (c *contentCopy) copy(to int64) error {
	for c.inputRead < to {
		// If records are members, a member of the copy ends where a record begins.
		next := to
		for len(c.starts) > 0 && c.starts[0] <= c.inputRead {
			if c.records && c.starts[0] == c.inputRead {
				c.end()
			}
			c.starts = c.starts[1:]
		}
		// Hand a full block to the compressors.
		if err := c.beginMember(); err != nil {
			return err
		}
		if len(c.b.in) >= c.b.limit || c.b.last {
			if err := c.hand(); err != nil {
				return err
			}
		}
		// Read at most up to the next record, or the next member of the file.
		if c.records && len(c.starts) > 0 {
			next = min(next, c.starts[0])
		} else if !c.records {
			next = min(next, c.in.NextMember(c.inputRead))
		}
		// Read into the block, and remember where a member of the copy begins in the file.
		from := len(c.b.in)
		n, err := c.in.Read(c.b.in[from:][:min(int64(c.b.limit-from), next-c.inputRead)])
		if n > 0 && !c.begun {
			c.begun, c.from, c.same = true, c.inputRead, true
		}
		c.b.in = c.b.in[:from+n]
		c.inputRead += int64(n)
		// The end of the file is an error unless the copy shall reach it.
		switch {
		case err == io.EOF && to == math.MaxInt64:
			return nil
		case err == io.EOF && c.inputRead < to:
			return io.ErrUnexpectedEOF
		case err != nil && err != io.EOF:
			return err
		}
	}
	return nil
}

// end ends a member.
func (c *contentCopy) end() {
	if !c.begun {
		return
	}
	c.begun, c.hasMember = false, true
	if c.long {
		c.b.last, c.long = true, false
		return
	}
	m := member{end: len(c.b.in)}
	from, begins := c.in.Member(c.from)
	if to, ends := c.in.Member(c.inputRead); begins && ends && c.same && c.file != nil {
		m.source, c.b.file = &format.Range{From: from, To: to}, c.file
	}
	if n := len(c.b.members); n > 0 && m.source != nil && c.b.members[n-1].source != nil && c.b.members[n-1].source.To == from {
		m.source.From, c.b.members = c.b.members[n-1].source.From, c.b.members[:n-1] // read both together
	}
	c.b.members = append(c.b.members, m)
}

// beginMember begins a member if the file has one here. In WARC only records are members.
func (c *contentCopy) beginMember() error {
	if _, begins := c.in.Member(c.inputRead); !begins || c.records {
		return nil
	}
	c.end()
	if len(c.b.in) > c.p.blockBytes/8 {
		if err := c.hand(); err != nil {
			return err
		}
	}
	c.b.limit = len(c.b.in) + c.p.blockBytes
	return nil
}

// hand yields a full block and takes the next one.
func (c *contentCopy) hand() (err error) {
	b := c.b
	switch n := len(b.members); {
	case b.last:
	case !c.records:
		c.end()
	case n > 0:
		c.tail = append(c.tail[:0], b.in[b.members[n-1].end:]...)
		b.in = b.in[:b.members[n-1].end]
	default:
		b.part, c.long = true, true
	}
	if !c.yield(b) {
		return context.Cause(c.ctx)
	}
	if c.b, err = c.p.take(c.ctx); err != nil {
		return err
	}
	c.b.part = c.long
	c.b.in = append(c.b.in, c.tail...)
	c.tail = c.tail[:0]
	return nil
}

// note copies up to the place for the fields of a document, and adds the fields. In CSV the offset is after the end of
// the line, but the fields are added before it.
func (c *contentCopy) note(edit cut) error {
	text, err := c.fields.format(edit.note)
	if err != nil || !c.fields.csv {
		if err == nil {
			err = c.copy(edit.from)
		}
		if err == nil {
			err = c.put(text)
		}
		return err
	}
	if err := c.copy(edit.from - 2); err != nil {
		return err
	}
	tail := make([]byte, edit.from-c.inputRead)
	if _, err := io.ReadFull(c.in, tail); err != nil {
		return err
	}
	c.inputRead = edit.from
	record := bytes.TrimSuffix(bytes.TrimSuffix(tail, []byte("\n")), []byte("\r"))
	return c.put(slices.Concat(record, text, tail[len(record):]))
}

// put adds bytes that are not part of the content to the blocks.
func (c *contentCopy) put(b []byte) error {
	for len(b) > 0 {
		if len(c.b.in) >= c.b.limit {
			if err := c.hand(); err != nil {
				return err
			}
		}
		n := min(len(b), c.b.limit-len(c.b.in))
		c.b.in, b = append(c.b.in, b[:n]...), b[n:]
		c.begun, c.same = true, false
	}
	return nil
}
