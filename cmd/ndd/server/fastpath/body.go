package fastpath

import "io"

// A Body is the body of a plain request, which is in memory.
type Body struct{ bytes, left []byte }

// Bytes returns the whole body. It belongs to the handler until it returns, and is not to be grown.
func (b *Body) Bytes() []byte { return b.bytes }

// Read reads what was not read yet.
func (b *Body) Read(p []byte) (int, error) {
	n := copy(p, b.left)
	b.left = b.left[n:]
	if len(b.left) == 0 {
		return n, io.EOF
	}
	return n, nil
}

// Close does nothing.
func (b *Body) Close() error { return nil }
