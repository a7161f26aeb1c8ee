package document

import (
	"bytes"
	"errors"
	"io"

	"ndd/engine/corpus/columns"
)

// A file of lines or CSV records is cut into blocks of whole ones, which several goroutines take
// apart while the goroutine that scans hands on the units of those before, in order:
//
//	file    | line | line | line | line | line, longer than a block | line |
//	blocks  |------ block ----|- block -|--------- block -----------|- ...
//
// The units of a block have line numbers and offsets from its beginning, to which those of the blocks
// before are added when their turn comes. Where blocks end depends on the content alone, so that units
// and skips do not depend on the number of goroutines.
const (
	blockFirst = 32 << 10  // bytes; each block is twice as long as the one before, up to
	blockBytes = 256 << 10 // and what the one before left over
)

// errInOrder says that the next block is to be cut in order.
var errInOrder = errors.New("records are to be cut in order")

// A block is some whole records of a file, or rows of a Parquet file.
type block struct {
	raw   []byte // nil where it is one record that is too long
	from  int64  // in the decompressed file
	size  int64  // bytes of it
	last  bool   // the file ends with it
	units []cutUnit
	lines int // that end in it
	// it does not end where a record does, or has one that is too long: it and the blocks behind it are to
	// be cut in order
	inOrder bool

	rows columns.Range // of a Parquet file, which are the block

	held int64
	done chan struct{} // closed when it has been taken apart; nil if nobody is at it
}

// A cutUnit is a unit of a block, or a *[Skip], or why rows are lost. Line, From, To and at are counted
// from the beginning of the block.
type cutUnit struct {
	Unit
	err error
}

// emitCut yields a unit, or returns its skip.
func (s *stream) emitCut(u *cutUnit) error {
	if skip, ok := u.err.(*Skip); ok {
		skip.Line = u.Line
		return skip
	}
	return s.emit(u.Unit)
}

// cutting reads a stream in blocks.
type cutting struct {
	s    *stream
	cut  func(*block)          // takes a block apart
	read func(*cutting) *block // reads the next block, nil where there is none
	ends func(b []byte) int    // returns where the last record ends that b has whole, or 0
	most int64                 // bytes of a record
	// long makes a block of the record of which rest is the beginning; if nil, it is to be cut in order
	long func(*block) *block

	size   int    // of the next block
	rest   []byte // that has been read and is in no block yet
	upto   int64  // there are blocks up to here
	err    error  // of reading, io.EOF at the end
	blocks []*block
	at     int64 // where the first of them begins
	line   int   // lines before it
}

// cutting returns a cutting of the stream from here on, with some lines before.
func (s *stream) cutting(line int, ends func([]byte) int, cut func(*block)) *cutting {
	return &cutting{s: s, read: (*cutting).fetch, ends: ends, cut: cut, most: s.opts.MaxDocumentBytes, upto: s.at,
		at: s.at, line: line, size: min(blockFirst, s.opts.blockBytes, bufferFor(s.size))}
}

// each calls take with each unit, whose places are those in the file then. Where it returns errInOrder,
// [cutting.remainder] is to be cut in order.
func (c *cutting) each(take func(*cutUnit) error) error {
	defer c.close()
	var b *block
	i := 0
	return c.s.each(func() (err error) {
		for b == nil || i == len(b.units) {
			if b != nil {
				c.at, c.line = b.from+b.size, c.line+b.lines
				c.release()
			}
			if b, err = c.next(); err != nil {
				return err
			}
			i = 0
		}
		u := &b.units[i]
		i++
		u.Line, u.From, u.To, u.at = u.Line+c.line, u.From+b.from, u.To+b.from, u.at+b.from
		return take(u)
	})
}

// next returns the next block, taken apart. At the end of the file the error is io.EOF.
func (c *cutting) next() (*block, error) {
	c.fill()
	if len(c.blocks) == 0 {
		c.s.line, c.s.good = c.line+1, c.at
		return nil, c.err
	}
	b := c.blocks[0]
	if b.done != nil {
		<-b.done
	}
	if b.inOrder {
		return nil, errInOrder
	}
	return b, nil
}

// fill reads blocks as far as there is room, two at most, and has them taken apart.
func (c *cutting) fill() {
	d := c.s.opts.Decoders
	for n := 0; n < 2 && c.err == nil; n++ {
		if len(c.blocks) > 0 && (d == nil || len(c.blocks) >= d.ahead || d.held.Load()+int64(c.size) > d.bytes) {
			return
		}
		b := c.read(c)
		if b == nil {
			return
		}
		c.blocks = append(c.blocks, b)
		c.upto += b.size
		switch {
		case b.inOrder || b.units != nil:
		case d == nil:
			c.cut(b)
		default:
			b.held, b.done = max(b.held, int64(cap(b.raw))), make(chan struct{})
			d.held.Add(b.held)
			go func() {
				defer close(b.done)
				c.cut(b)
			}()
		}
	}
}

// fetch reads the next block of a stream.
func (c *cutting) fetch() *block {
	for {
		raw := make([]byte, len(c.rest), len(c.rest)+max(c.size, len(c.rest)))
		copy(raw, c.rest)
		for try := 0; len(raw) < cap(raw) && c.err == nil; try++ {
			n, err := c.s.r.Read(raw[len(raw):cap(raw)])
			if raw, c.err = raw[:len(raw)+n], err; n > 0 {
				try = 0
			} else if err == nil && try == 100 {
				c.err = io.ErrNoProgress
			}
		}
		c.size = min(max(2*c.size, blockFirst), c.s.opts.blockBytes)
		b := &block{from: c.upto, last: c.err == io.EOF}
		n := len(raw)
		if !b.last {
			n = c.ends(raw)
		}
		b.raw, b.size, c.rest = raw[:n:n], int64(n), raw[n:]
		tooLong := int64(len(raw)) > c.most
		switch {
		case n > 0:
			return b
		case b.last:
			return nil
		case c.long == nil && (c.err != nil || tooLong):
			b.inOrder = true // the rest
			return b
		case c.err != nil:
			return nil
		case tooLong:
			return c.long(b)
		}
	}
}

// remainder returns what the first block begins with, up to the end of the file. The cutting is over.
func (c *cutting) remainder() io.Reader {
	var parts []io.Reader
	for _, b := range c.blocks {
		parts = append(parts, bytes.NewReader(b.raw))
	}
	parts = append(parts, bytes.NewReader(c.rest))
	if c.err != nil {
		return io.MultiReader(append(parts, failing{c.err})...)
	}
	return io.MultiReader(append(parts, c.s.r)...)
}

// failing is a reader that fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// release forgets the first block.
func (c *cutting) release() {
	c.blocks[0].free(c.s.opts.Decoders)
	c.blocks[0] = nil
	c.blocks = c.blocks[1:]
}

// free waits until nobody works on the block, and gives its memory back.
func (b *block) free(d *Decoders) {
	if b.done != nil {
		<-b.done
		d.held.Add(-b.held)
		b.done = nil
	}
}

// close ends the cutting. What it has read can still be had as remainder.
func (c *cutting) close() {
	for _, b := range c.blocks {
		b.free(c.s.opts.Decoders)
	}
}
