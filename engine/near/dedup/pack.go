package dedup

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"iter"
	"math"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"ndd/engine/corpus/document"
	"ndd/engine/parallel"
)

// A copy is compressed in blocks, by several goroutines at a time:
//
//	content | record record rec|ord record ...        the cuts are left out
//	blocks  | 2 MiB            | 2 MiB      |         as long as the last record allows, of WARC
//	file    | frame            | frame      |         zstd; of gzip a member; of WARC one for each record
//
// The bytes written depend on the content alone, and not on the number of goroutines. A smaller
// block makes more of the file: JSONL in blocks of 2 MiB takes 0.3 % more than in one zstd frame.
const blockBytes = 2 << 20

// packers compress the blocks of all files that are copied at a time.
type packers struct {
	threads    int
	blockBytes int
	free       chan *block   // nil before it is used
	groups     chan struct{} // row groups of Parquet files that are copied at a time
	groupBytes int           // most of them
	zstd       *zstd.Encoder
}

// copyBytes returns the memory for copying with that many goroutines. Row groups of Parquet files that
// are copied at a time take more.
func copyBytes(threads int) uint64 {
	const block = 2*blockBytes + 1<<20 // with what is written of it, and its compressor
	n := uint64(2*threads) * block
	if threads > 1 {
		n += decodersBytes
	}
	return n
}

// newPackers returns packers for that many goroutines.
func newPackers(threads, blockBytes int) (*packers, error) {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(threads), zstd.WithZeroFrames(true))
	if err != nil {
		return nil, err
	}
	p := &packers{threads: threads, blockBytes: blockBytes, free: make(chan *block, 2*threads),
		groups: make(chan struct{}, threads+1), groupBytes: columnsBytes, zstd: z}
	for range cap(p.free) {
		p.free <- nil
	}
	return p, nil
}

// A block is some content that stays, and what compression makes of it.
type block struct {
	in   []byte
	ends []int // of the members in it
	out  bytes.Buffer
	gzip *gzip.Writer

	part, last bool // it is a part of a member that is longer than a block; the last one
}

// take returns an empty block, when there is one.
func (p *packers) take(ctx context.Context) (*block, error) {
	select {
	case b := <-p.free:
		if b == nil {
			b = &block{in: make([]byte, 0, p.blockBytes)}
		}
		b.in, b.ends, b.part, b.last = b.in[:0], b.ends[:0], false, false
		b.out.Reset()
		return b, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// pack compresses the members of a block.
func (p *packers) pack(b *block, packing document.Packing) error {
	from := 0
	for _, end := range b.ends {
		member := b.in[from:end]
		from = end
		switch packing {
		case document.Unpacked:
			b.out.Write(member)
		case document.Gzip:
			if b.gzip == nil {
				b.gzip = gzip.NewWriter(nil)
			}
			b.gzip.Reset(&b.out)
			_, err := b.gzip.Write(member)
			if err := cmp.Or(err, b.gzip.Close()); err != nil {
				return err
			}
		default: // nothing writes xz and bzip2
			b.out.Write(p.zstd.EncodeAll(member, b.out.AvailableBuffer()))
		}
	}
	return nil
}

// stream returns a compressor of one member.
func stream(w io.Writer, packing document.Packing) (io.WriteCloser, error) {
	if packing == document.Gzip {
		return gzip.NewWriter(w), nil
	}
	return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
}

// without copies a content but for the cuts, compressed as it was, in members of which one begins
// at each start. Without starts each block is a member. With notes, what they add stands at the cuts.
func (p *packers) without(ctx context.Context, w io.Writer, content *document.Content, cuts []cut, starts []int64,
	notes *noter) error {
	packing := content.Packing
	produce := func(ctx context.Context, yield func(*block) bool) error {
		c := copying{ctx: ctx, p: p, in: content, records: starts != nil && packing != document.Unpacked,
			starts: starts, notes: notes, yield: yield}
		return c.without(cuts)
	}
	work := func(ctx context.Context, blocks iter.Seq[*block]) error {
		for b := range blocks {
			if err := p.pack(b, packing); err != nil {
				return err
			}
		}
		return nil
	}
	var long io.WriteCloser // the member that goes on
	emit := func(b *block) (err error) {
		if b.part && long == nil {
			if long, err = stream(w, packing); err != nil {
				return err
			}
		}
		if b.part {
			_, err = long.Write(b.in)
		} else {
			_, err = w.Write(b.out.Bytes())
		}
		if err == nil && b.last {
			err, long = long.Close(), nil
		}
		p.free <- b
		return err
	}
	return parallel.Ordered(ctx, parallel.Options{Workers: p.threads, Ahead: 2 * p.threads}, produce, work, emit)
}

// copying reads a content into blocks.
type copying struct {
	ctx     context.Context
	p       *packers
	in      io.Reader
	at      int64 // bytes of in that have been read
	records bool  // each is a member
	starts  []int64
	notes   *noter // nil: none
	yield   func(*block) bool

	b     *block
	begun bool   // there is something of a member that has not ended
	some  bool   // there is a member
	long  bool   // it is longer than a block
	rest  []byte // of a record, for the next block
}

// without copies all but the cuts.
func (c *copying) without(cuts []cut) (err error) {
	if c.b, err = c.p.take(c.ctx); err != nil {
		return err
	}
	for _, cut := range cuts {
		if c.notes != nil {
			if err := c.note(cut); err != nil {
				return err
			}
			continue
		}
		if err := c.copy(cut.from); err != nil {
			return err
		}
		// Discard takes an int, and a cut may be beyond one
		if _, err := io.CopyN(io.Discard, c.in, cut.to-cut.from); err != nil {
			return err
		}
		c.at = cut.to
	}
	if err := c.copy(math.MaxInt64); err != nil {
		return err
	}
	c.begun = c.begun || !c.some // an empty file is a member
	if c.end(); !c.yield(c.b) {
		return context.Cause(c.ctx)
	}
	return nil
}

// copy copies up to an offset, or the end of the file.
func (c *copying) copy(to int64) error {
	for c.at < to {
		next := to
		for len(c.starts) > 0 && c.starts[0] <= c.at {
			if c.records && c.starts[0] == c.at {
				c.end()
			}
			c.starts = c.starts[1:]
		}
		if len(c.b.in) == cap(c.b.in) || c.b.last {
			if err := c.hand(); err != nil {
				return err
			}
		}
		if c.records && len(c.starts) > 0 {
			next = min(next, c.starts[0])
		}
		from := len(c.b.in)
		n, err := c.in.Read(c.b.in[from:][:min(int64(cap(c.b.in)-from), next-c.at)])
		c.b.in = c.b.in[:from+n]
		c.at += int64(n)
		c.begun = c.begun || n > 0
		switch {
		case err == io.EOF && to == math.MaxInt64:
			return nil
		case err == io.EOF && c.at < to:
			return io.ErrUnexpectedEOF
		case err != nil && err != io.EOF:
			return err
		}
	}
	return nil
}

// end ends a member.
func (c *copying) end() {
	if !c.begun {
		return
	}
	c.begun, c.some = false, true
	if c.long {
		c.b.last, c.long = true, false
	} else {
		c.b.ends = append(c.b.ends, len(c.b.in))
	}
}

// hand hands a full block on and takes the next one.
func (c *copying) hand() (err error) {
	b := c.b
	switch n := len(b.ends); {
	case b.last:
	case !c.records:
		c.end()
	case n > 0:
		c.rest = append(c.rest[:0], b.in[b.ends[n-1]:]...)
		b.in = b.in[:b.ends[n-1]]
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
	c.b.in = append(c.b.in, c.rest...)
	c.rest = c.rest[:0]
	return nil
}
