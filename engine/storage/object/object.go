package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	breaksMax  = 5           // of connections in a row that brought no byte
	stallMax   = time.Minute // without a byte, before the connection is given up
	blockBytes = 1 << 20     // that ReadAt asks for at a time
	blocksMax  = 16          // that it remembers: one for each column that is read
)

// errChanged says that an object was replaced while it was read.
var errChanged = errors.New("the object was changed while it was read")

// An Object is read from its start, by Read, or at any place, by ReadAt.
type Object struct {
	Path         string
	Size         int64  // -1: the server does not say
	ModifiedNano int64  // nanoseconds since 1970; 0: the server does not say
	Version      string // the ETag, or the date; "": the server does not say

	span                                                // all of it, for Read
	get    func(from, to int64) (*http.Response, error) // sends a request for bytes
	mu     sync.Mutex
	blocks []block // that ReadAt used last, the most recent one at the end
}

// A span is a range of an object that is read in order.
type span struct {
	of     *Object
	at, to int64 // to: -1 for the end of the object
	body   io.ReadCloser
}

// A block is a range that ReadAt has read, or is about to read.
type block struct {
	number int64
	fetch  func() ([]byte, error)
}

// Open opens an object. Its context is that of all reading.
func (s *Store) Open(ctx context.Context, path string) (*Object, error) {
	o := &Object{Path: path}
	if err := s.find(ctx, o); err != nil {
		return nil, err
	}
	o.of, o.to = o, o.Size
	return o, nil
}

// Read reads on from where the last call ended. Neither minio-go nor net/http goes on when a connection breaks
// within an answer: it is made anew here, at the next byte.
func (s *span) Read(p []byte) (n int, err error) {
	if s.to >= 0 {
		p = p[:min(int64(len(p)), s.to-s.at)]
	}
	for breaks := 0; n == 0 && (len(p) > 0 || s.at == s.to); {
		if s.at == s.to {
			return 0, io.EOF
		}
		if s.body == nil {
			if s.body, err = s.of.open(s.at, s.to); err != nil {
				return 0, err
			}
		}
		body := s.body
		stalled := time.AfterFunc(stallMax, func() { body.Close() })
		n, err = body.Read(p)
		stalled.Stop()
		s.at += int64(n)
		if err == io.EOF && s.to < 0 {
			return n, io.EOF
		}
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			s.Close()
			if breaks++; n == 0 && breaks == breaksMax {
				return 0, fmt.Errorf("%s: byte %d: %w (tried %d times)", s.of.Path, s.at, err, breaksMax)
			}
		}
	}
	return n, nil
}

// Close ends the connection.
func (s *span) Close() (err error) {
	if s.body != nil {
		err = s.body.Close()
		s.body = nil
	}
	return err
}

// ReadAt reads at a place, through the last blocks that were read. A page of a Parquet file takes two calls,
// and its columns are read beside each other.
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
	b := block{number, sync.OnceValues(func() ([]byte, error) {
		s := span{of: o, at: number * blockBytes, to: min((number+1)*blockBytes, o.Size)}
		defer s.Close()
		p := make([]byte, s.to-s.at)
		_, err := io.ReadFull(&s, p)
		return p, err
	})}
	if i := slices.IndexFunc(o.blocks, func(b block) bool { return b.number == number }); i >= 0 {
		b = o.blocks[i]
		o.blocks = slices.Delete(o.blocks, i, i+1)
	}
	o.blocks = append(o.blocks[max(0, len(o.blocks)+1-blocksMax):], b)
	o.mu.Unlock()
	bytes, err := b.fetch()
	if err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.blocks = nil // the next call tries again
	}
	return bytes, err
}
