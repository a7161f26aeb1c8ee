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
	breaksMax  = 5           // maximum number of broken connections in a row without a byte
	stallMax   = time.Minute // maximum time without a byte, before the connection is closed
	blockBytes = 1 << 20     // size of a request of ReadAt
	blocksMax  = 16          // cached blocks of ReadAt: one for each column that is read
)

// errChanged reports that an object was replaced while it was read.
var errChanged = errors.New("the object was changed while it was read")

// An Object is read sequentially by Read, or at any offset by ReadAt.
type Object struct {
	Path         string
	Size         int64  // -1 if unknown
	ModifiedNano int64  // nanoseconds since 1970; 0 if unknown
	Version      string // ETag or date; "" if unknown

	span                                                  // the whole object, for Read
	get    func(start, end int64) (*http.Response, error) // requests a range of bytes
	mu     sync.Mutex
	blocks []block // cache of blocks for ReadAt, most recently used last
}

// A span is a range of an object that is read sequentially.
type span struct {
	object      *Object
	offset, end int64 // end is -1 for the end of the object
	body        io.ReadCloser
}

// A block is a range that ReadAt has read or is reading.
type block struct {
	number int64
	fetch  func() ([]byte, error)
}

// Open opens an object. All later reads use ctx, too.
func (s *Store) Open(ctx context.Context, path string) (*Object, error) {
	o := &Object{Path: path}
	if err := s.find(ctx, o); err != nil {
		return nil, err
	}
	o.object, o.end = o, o.Size
	return o, nil
}

// Read continues where the last call ended. If a connection breaks within a response, neither minio-go nor net/http
// continues. Read opens a new connection at the next byte.
func (s *span) Read(p []byte) (n int, err error) {
	// Read at most up to the end of the span.
	if s.end >= 0 {
		p = p[:min(int64(len(p)), s.end-s.offset)]
	}
	// Read until a byte arrives, over new connections if necessary.
	for breaks := 0; n == 0 && (len(p) > 0 || s.offset == s.end); {
		if s.offset == s.end {
			return 0, io.EOF
		}
		if s.body == nil {
			if s.body, err = s.object.open(s.offset, s.end); err != nil {
				return 0, err
			}
		}
		// Close a connection that stalls.
		body := s.body
		stalled := time.AfterFunc(stallMax, func() { body.Close() })
		n, err = body.Read(p)
		stalled.Stop()
		s.offset += int64(n)
		// Only an object of unknown size ends with its connection.
		if err == io.EOF && s.end < 0 {
			return n, io.EOF
		}
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		// Open a new connection after an error, unless too many brought no byte.
		if err != nil {
			s.Close()
			if breaks++; n == 0 && breaks == breaksMax {
				return 0, fmt.Errorf("%s: byte %d: %w (tried %d times)", s.object.Path, s.offset, err, breaksMax)
			}
		}
	}
	return n, nil
}

// Close closes the connection.
func (s *span) Close() (err error) {
	if s.body != nil {
		err = s.body.Close()
		s.body = nil
	}
	return err
}

// ReadAt reads at an offset, through a cache of blocks. A page of a Parquet file takes two calls, and its columns are
// read concurrently.
func (o *Object) ReadAt(p []byte, offset int64) (n int, err error) {
	for n < len(p) {
		if offset+int64(n) >= o.Size {
			return n, io.EOF
		}
		number := (offset + int64(n)) / blockBytes
		b, err := o.block(number)
		if err != nil {
			return n, err
		}
		n += copy(p[n:], b[offset+int64(n)-number*blockBytes:])
	}
	return n, nil
}

// block returns a block from the cache, or reads it. Several blocks may be read at the same time.
func (o *Object) block(number int64) ([]byte, error) {
	o.mu.Lock()
	b := block{number, sync.OnceValues(func() ([]byte, error) {
		s := span{object: o, offset: number * blockBytes, end: min((number+1)*blockBytes, o.Size)}
		defer s.Close()
		p := make([]byte, s.end-s.offset)
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
