package unpack

import (
	"bufio"
	"bytes"
	"io"
	"slices"
)

const trailBytes = 1 << 20 // bytes before the current one that a trail remembers at least

// A trail reads from r. It remembers the last bytes, and can look ahead.
type trail struct {
	r      io.Reader
	chunk  int    // bytes that are read at a time
	buffer []byte // the bytes read last
	end    int64  // offset of the end of buffer in the file
	offset int64  // offset of the next byte
	keep   int64  // bytes from this offset on are remembered, and trailBytes before it
	err    error  // the error of r
}

// newTrail returns a trail of a file whose first bytes are in a buffer.
func newTrail(first *bufio.Reader, rest io.Reader, chunk int) *trail {
	b, _ := first.Peek(first.Buffered())
	return &trail{r: rest, chunk: chunk, buffer: bytes.Clone(b), end: int64(len(b))}
}

func (t *trail) Read(p []byte) (int, error) {
	if t.offset == t.end {
		t.keep = t.offset
		t.fetch()
	}
	n := copy(p, t.unread())
	t.offset += int64(n)
	if n == 0 && len(p) > 0 {
		return 0, t.err
	}
	return n, nil
}

// unread returns the bytes that have been read already.
func (t *trail) unread() []byte { return t.buffer[len(t.buffer)-int(t.end-t.offset):] }

// peek returns the next bytes, up to n of them, and whether there are no more.
func (t *trail) peek(n int) (b []byte, ended bool) {
	for t.end-t.offset < int64(n) && t.err == nil {
		t.fetch()
	}
	b = t.unread()
	return b[:min(n, len(b))], len(b) <= n && t.err == io.EOF
}

// fetch reads some bytes, or an error.
func (t *trail) fetch() {
	if spare := len(t.buffer) - int(t.end-min(t.keep, t.offset)) - trailBytes; spare > trailBytes {
		t.buffer = append(t.buffer[:0], t.buffer[spare:]...)
	}
	t.buffer = slices.Grow(t.buffer, t.chunk)
	n := 0
	for try := 0; n == 0 && t.err == nil && try < 100; try++ {
		n, t.err = t.r.Read(t.buffer[len(t.buffer) : len(t.buffer)+t.chunk])
	}
	if n == 0 && t.err == nil {
		t.err = io.ErrNoProgress
	}
	t.buffer = t.buffer[:len(t.buffer)+n]
	t.end += int64(n)
}

// rewind returns to a byte of the file, or to the first remembered byte after it.
func (t *trail) rewind(to int64) { t.offset = max(to, t.end-int64(len(t.buffer))) }
