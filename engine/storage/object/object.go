package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"ndd/engine/parallel"
)

const (
	attemptsMax  = 6                      // without a byte in between
	backoffFirst = 100 * time.Millisecond // doubled each time: six attempts take 3 seconds
	stallMax     = time.Minute            // without a byte, before the connection is given up
	blockBytes   = 1 << 20                // that ReadAt asks for at a time
	blocksMax    = 16                     // that it remembers

	rangeFirst = 256 << 10 // that Read asks for first, as many callers look at the beginning alone
	rangeMax   = 4 << 20   // that it asks for at last: each range is twice as long as the one before
	rangesMax  = 4         // that an object is asked for at a time
	rangesAll  = 16        // that all objects of a store are asked for ahead
)

// errChanged says that an object was replaced while it was read.
var errChanged = errors.New("the object was changed while it was read")

// A source opens an object from a byte on. It fails with errChanged when the object is not the
// version that it was at first.
type source interface {
	open(ctx context.Context, from, to int64) (io.ReadCloser, error) // to: the byte behind the last, -1: the end
	tagged() string                                                  // the version
}

// An Object is read from its start, by Read, or at any place, by ReadAt.
type Object struct {
	Path         string
	Size         int64 // -1: the server does not say
	ModifiedNano int64 // nanoseconds since 1970; 0: the server does not say

	ctx  context.Context
	from source
	body io.ReadCloser
	at   int64 // of Read

	ranges *parallel.Queue[*span] // that are asked for; nil: the object is read by one request
	cancel context.CancelFunc     // of the ranges; nil before the first
	next   int64                  // where the next one begins
	length int64                  // of it
	taken  int                    // ranges that have been read

	mu     sync.Mutex
	blocks []*block // that ReadAt used last, the most recent one at the end
}

// block is some bytes that ReadAt has, once they are fetched.
type block struct {
	number int64
	fetch  sync.Once
	bytes  []byte
	err    error
}

// A span is a range that Read asks for.
type span struct {
	bytes []byte
	err   error
}

// Open opens an object. Its context is that of all reading.
func (s *Store) Open(ctx context.Context, path string) (*Object, error) {
	o := &Object{Path: path, ctx: ctx}
	err := repeat(ctx, func() error { return s.stat(ctx, o) })
	if err != nil {
		return nil, err
	}
	return o, nil
}

// Version returns the object's ETag, or what else the server tells its versions apart by; "" for nothing.
func (o *Object) Version() string { return o.from.tagged() }

// repeat calls do until it succeeds, fails for good, or has failed too often.
func repeat(ctx context.Context, do func() error) (err error) {
	wait := backoffFirst
	for n := 1; ; n++ {
		if err = do(); err == nil || final(err) {
			return err
		}
		if n == attemptsMax {
			return fmt.Errorf("%w (tried %d times)", err, attemptsMax)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		wait *= 2
	}
}

// Read reads on from where the last call ended, of an object of S3 by several requests at a time. When a
// connection breaks, it is made anew, and reading goes on.
func (o *Object) Read(p []byte) (n int, err error) {
	switch {
	case len(p) == 0:
		return 0, nil
	case o.Size >= 0 && o.at >= o.Size:
		return 0, io.EOF
	case o.ranges != nil:
		return o.readRanges(p)
	}
	return o.readOn(p)
}

// readRanges is Read by ranges. As many are asked for ahead as have been read, so that who looks at the
// beginning does not fetch the rest.
func (o *Object) readRanges(p []byte) (int, error) {
	for o.next < o.Size && o.ranges.Len() <= o.taken && o.ranges.Fits(1) {
		o.ask()
	}
	r := o.ranges.First()
	if r.err != nil {
		return 0, r.err
	}
	n := copy(p, r.bytes)
	o.at += int64(n)
	if r.bytes = r.bytes[n:]; len(r.bytes) == 0 {
		o.ranges.Remove()
		o.taken++
	}
	return n, nil
}

// ask asks for the next range. The first one takes no room of the store.
func (o *Object) ask() {
	if o.cancel == nil {
		o.ctx, o.cancel = context.WithCancel(o.ctx)
		o.length = rangeFirst
	}
	from := o.next
	r := &span{bytes: make([]byte, min(o.length, o.Size-from))}
	o.next, o.length = from+int64(len(r.bytes)), min(2*o.length, rangeMax)
	weight := int64(min(o.ranges.Len(), 1))
	o.ranges.Add(r, weight, func() int64 {
		r.err = o.fill(r.bytes, from)
		return weight
	})
}

// fill reads bytes from a place on. When the connection breaks, it is made anew.
func (o *Object) fill(p []byte, from int64) error {
	for have := 0; have < len(p); {
		if err := repeat(o.ctx, func() error {
			body, err := o.from.open(o.ctx, from+int64(have), from+int64(len(p)))
			if err != nil {
				return err
			}
			defer body.Close()
			stalled := time.AfterFunc(stallMax, func() { body.Close() })
			defer stalled.Stop()
			for before := have; err == nil && have < len(p); stalled.Reset(stallMax) {
				var n int
				n, err = body.Read(p[have:])
				if have += n; err != nil && have > before {
					return nil // with something more: it is asked for the rest
				}
			}
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			if err != nil {
				return fmt.Errorf("%s: byte %d: %w", o.Path, from+int64(have), err)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// readOn is Read by one request that goes on to the end.
func (o *Object) readOn(p []byte) (n int, err error) {
	ended := false
	err = repeat(o.ctx, func() (err error) {
		if o.body == nil {
			if o.body, err = o.from.open(o.ctx, o.at, -1); err != nil {
				return err
			}
		}
		body := o.body
		stalled := time.AfterFunc(stallMax, func() { body.Close() })
		n, err = body.Read(p)
		stalled.Stop()
		o.at += int64(n)
		switch {
		case err == io.EOF && (o.Size < 0 || o.at == o.Size):
			ended = true
			return nil
		case n > 0 && err == nil:
			return nil
		}
		o.body.Close()
		o.body = nil
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if n > 0 {
			return nil // the next call goes on
		}
		return fmt.Errorf("%s: byte %d: %w", o.Path, o.at, err)
	})
	if err == nil && ended && n == 0 {
		err = io.EOF
	}
	return n, err
}

// ReadAt reads at a place, through the last blocks that were read.
func (o *Object) ReadAt(p []byte, at int64) (n int, err error) {
	for n < len(p) {
		if at+int64(n) >= o.Size {
			return n, io.EOF
		}
		number := (at + int64(n)) / blockBytes
		b, err := o.block(number)
		if err != nil {
			return n, err
		}
		n += copy(p[n:], b[at+int64(n)-number*blockBytes:])
	}
	return n, nil
}

// block returns a block, which it reads unless it is there. Several may be read at a time.
func (o *Object) block(number int64) ([]byte, error) {
	o.mu.Lock()
	b := &block{number: number}
	if i := slices.IndexFunc(o.blocks, func(b *block) bool { return b.number == number }); i >= 0 {
		b = o.blocks[i]
		o.blocks = slices.Delete(o.blocks, i, i+1)
	}
	o.blocks = append(o.blocks, b)
	if len(o.blocks) > blocksMax {
		o.blocks = slices.Delete(o.blocks, 0, 1)
	}
	o.mu.Unlock()
	b.fetch.Do(func() {
		from := number * blockBytes
		b.bytes = make([]byte, min(blockBytes, o.Size-from))
		if b.err = o.fill(b.bytes, from); b.err != nil {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.blocks = slices.DeleteFunc(o.blocks, func(have *block) bool { return have == b }) // the next call tries again
		}
	})
	return b.bytes, b.err
}

// Close ends the connections.
func (o *Object) Close() error {
	if o.cancel != nil {
		o.cancel()
	}
	for o.ranges != nil && o.ranges.Len() > 0 {
		o.ranges.Remove()
	}
	if o.body == nil {
		return nil
	}
	return o.body.Close()
}
