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
	"ndd/engine/corpus/unpack"
	"ndd/engine/parallel"
)

// A copy is compressed in blocks, by several goroutines at a time, while its file is read:
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
	out  []byte
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
		b.in, b.out, b.ends, b.part, b.last = b.in[:0], b.out[:0], b.ends[:0], false, false
		return b, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *packers) compress(b *block, packing unpack.Packing) error {
	from := 0
	for _, end := range b.ends {
		member := b.in[from:end]
		from = end
		switch packing {
		case unpack.Gzip:
			if b.gzip == nil {
				b.gzip = gzip.NewWriter(nil)
			}
			out := bytes.NewBuffer(b.out)
			b.gzip.Reset(out)
			_, err := b.gzip.Write(member)
			if err := cmp.Or(err, b.gzip.Close()); err != nil {
				return err
			}
			b.out = out.Bytes()
		default: // nothing writes xz and bzip2
			b.out = p.zstd.EncodeAll(member, b.out)
		}
	}
	return nil
}

// stream returns a compressor of one member.
func stream(w io.Writer, packing unpack.Packing) (io.WriteCloser, error) {
	if packing == unpack.Gzip {
		return gzip.NewWriter(w), nil
	}
	return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
}

// pack copies what fill has copied of a content, compressed as that was, in members: of WARC one for each
// record, else one for each block. With notes, what they add stands at the cuts.
func (p *packers) pack(ctx context.Context, w io.Writer, content *document.Content, notes *noter,
	fill func(*copying) error) error {
	packing := content.Packing
	produce := func(ctx context.Context, yield func(*block) bool) error {
		c := copying{ctx: ctx, p: p, in: content, records: content.Members && packing != unpack.None,
			jsonList: jsonList{list: content.List}, notes: notes, yield: yield}
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
	var long io.WriteCloser // the member that goes on
	emit := func(b *block) (err error) {
		if b.part && long == nil {
			if long, err = stream(w, packing); err != nil {
				return err
			}
		}
		switch {
		case b.part:
			_, err = long.Write(b.in)
		case packing == unpack.None:
			_, err = w.Write(b.in)
		default:
			_, err = w.Write(b.out)
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
	jsonList
}

// A jsonList is where the copying of a list of JSON is.
type jsonList struct {
	list    bool         // it is one
	stays   bool         // a value of it stays
	dropped bool         // the last value does not
	between bytes.Buffer // what lies before that one, and behind the last one that stays
}

// all copies what fill does.
func (c *copying) all(fill func(*copying) error) (err error) {
	if c.b, err = c.p.take(c.ctx); err != nil {
		return err
	}
	if err := fill(c); err != nil {
		return err
	}
	c.begun = c.begun || !c.some // an empty file is a member
	if c.end(); !c.yield(c.b) {
		return context.Cause(c.ctx)
	}
	return nil
}

// follow copies up to an offset, without the cuts that the scan has found up to there.
func (c *copying) follow(x *scanned, to int64) error {
	c.starts = append(c.starts, x.starts...)
	for _, cut := range x.cuts {
		var err error
		if c.notes != nil {
			err = c.note(cut)
		} else if err = c.copy(cut.from); err == nil {
			err = c.discard(cut.to)
		}
		if err != nil {
			return err
		}
	}
	x.starts, x.cuts = x.starts[:0], x.cuts[:0]
	return c.copy(to)
}

// value copies up to the end of a value of a JSON list, or leaves the value out with the bytes between it
// and the next one, so that commas remain only between values.
func (c *copying) value(x *scanned, from, to int64, stays bool) error {
	if !stays && !c.dropped {
		c.dropped = true
		c.between.Reset()
		if _, err := io.CopyN(&c.between, c.in, from-c.at); err != nil {
			return err
		}
		c.at = from
	}
	if !stays {
		return c.discard(to)
	}
	if c.dropped {
		if err := cmp.Or(c.put(c.between.Bytes()), c.discard(from)); err != nil {
			return err
		}
	}
	c.stays, c.dropped = true, false
	return c.follow(x, to)
}

// last copies the bytes behind the last unit.
func (c *copying) last(x *scanned) error {
	if c.dropped && !c.stays { // the beginning of the list
		if err := c.put(c.between.Bytes()); err != nil {
			return err
		}
	}
	return c.follow(x, x.whole)
}

// discard passes over the bytes before an offset.
func (c *copying) discard(to int64) error {
	_, err := io.CopyN(io.Discard, c.in, to-c.at) // a reader's own Discard takes an int, beyond which this may be
	c.at = to
	return err
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
