package object

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	attemptsMax  = 6                      // without a byte in between
	backoffFirst = 100 * time.Millisecond // doubled each time: six attempts take 3 seconds
	stallMax     = time.Minute            // without a byte, before the connection is given up
	blockBytes   = 1 << 20                // that ReadAt asks for at a time
	blocksMax    = 16                     // that it remembers
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
	Path     string
	Size     int64 // -1: the server does not say
	Modified time.Time

	ctx  context.Context
	from source
	body io.ReadCloser
	at   int64 // of Read

	mu     sync.Mutex
	blocks map[int64]*list.Element // of block
	recent *list.List              // the most recent first
}

// block is some bytes that ReadAt has.
type block struct {
	number int64
	bytes  []byte
}

// Open opens an object. Its context is that of all reading.
func (s *Store) Open(ctx context.Context, path string) (*Object, error) {
	o := &Object{Path: path, ctx: ctx, blocks: map[int64]*list.Element{}, recent: list.New()}
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

// Read reads on from where the last call ended. When the connection breaks, it is made anew, and
// reading goes on.
func (o *Object) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	if o.Size >= 0 && o.at >= o.Size {
		return 0, io.EOF
	}
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

// block returns a block, which it reads unless it is there.
func (o *Object) block(number int64) ([]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if e, ok := o.blocks[number]; ok {
		o.recent.MoveToFront(e)
		return e.Value.(*block).bytes, nil
	}
	from := number * blockBytes
	bytes := make([]byte, min(blockBytes, o.Size-from))
	err := repeat(o.ctx, func() error {
		body, err := o.from.open(o.ctx, from, from+int64(len(bytes)))
		if err != nil {
			return err
		}
		defer body.Close()
		stalled := time.AfterFunc(stallMax, func() { body.Close() })
		defer stalled.Stop()
		if _, err := io.ReadFull(body, bytes); err != nil {
			return fmt.Errorf("%s: bytes from %d on: %w", o.Path, from, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	o.blocks[number] = o.recent.PushFront(&block{number, bytes})
	if o.recent.Len() > blocksMax {
		last := o.recent.Back()
		delete(o.blocks, last.Value.(*block).number)
		o.recent.Remove(last)
	}
	return bytes, nil
}

// Close ends the connection.
func (o *Object) Close() error {
	if o.body == nil {
		return nil
	}
	return o.body.Close()
}
