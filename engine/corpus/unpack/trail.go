package unpack

import (
	"bufio"
	"bytes"
	"io"
	"slices"
)

const trailBytes = 1 << 20 // bytes before the current one that a trail remembers at least

// trail reads from r. It remembers the last bytes, and can look ahead.
type trail struct {
	r     io.Reader
	chunk int    // bytes that are read at a time
	last  []byte // the bytes read last
	end   int64  // offset of the end of last in the file
	at    int64  // offset of the next byte
	keep  int64  // the bytes from here on are remembered, and trailBytes before
	err   error  // the error of r
}

// newTrail returns a trail of a file whose first bytes are in a buffer.
func newTrail(first *bufio.Reader, rest io.Reader, chunk int) *trail {
	b, _ := first.Peek(first.Buffered())
	return &trail{r: rest, chunk: chunk, last: bytes.Clone(b), end: int64(len(b))}
}

func (t *trail) Read(p []byte) (int, error) {
	if t.at == t.end {
		t.keep = t.at
		t.fetch()
	}
	n := copy(p, t.ahead())
	t.at += int64(n)
	if n == 0 && len(p) > 0 {
		return 0, t.err
	}
	return n, nil
}

// ahead returns the bytes that have been read already.
func (t *trail) ahead() []byte { return t.last[len(t.last)-int(t.end-t.at):] }

// peek returns the next bytes, up to n of them, and whether there are no more.
func (t *trail) peek(n int) (b []byte, ended bool) {
	for t.end-t.at < int64(n) && t.err == nil {
		t.fetch()
	}
	b = t.ahead()
	return b[:min(n, len(b))], len(b) <= n && t.err == io.EOF
}

// fetch reads some bytes, or an error.
func (t *trail) fetch() {
	if spare := len(t.last) - int(t.end-min(t.keep, t.at)) - trailBytes; spare > trailBytes {
		t.last = append(t.last[:0], t.last[spare:]...)
	}
	t.last = slices.Grow(t.last, t.chunk)
	n := 0
	for try := 0; n == 0 && t.err == nil && try < 100; try++ {
		n, t.err = t.r.Read(t.last[len(t.last) : len(t.last)+t.chunk])
	}
	if n == 0 && t.err == nil {
		t.err = io.ErrNoProgress
	}
	t.last = t.last[:len(t.last)+n]
	t.end += int64(n)
}

// rewind returns to a byte of the file, or to the first remembered byte after it.
func (t *trail) rewind(to int64) { t.at = max(to, t.end-int64(len(t.last))) }
