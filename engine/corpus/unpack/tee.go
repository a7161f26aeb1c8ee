package unpack

import "io"

// A tee keeps the bytes that one reader has read for a second reader, which reads them later.
type tee struct {
	source   io.Reader
	buffer   []byte // bytes for the later reader, from position on
	position int
	end      int64 // offset of the end of buffer in the content
}

// keeping returns the reader that reads first.
func (t *tee) keeping() io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		n, err := t.source.Read(p)
		if t.position > len(t.buffer)/2 {
			t.buffer, t.position = append(t.buffer[:0], t.buffer[t.position:]...), 0
		}
		t.buffer = append(t.buffer, p[:n]...)
		t.end += int64(n)
		return n, err
	})
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// Read implements [io.Reader] for the reader that comes later.
func (t *tee) Read(p []byte) (int, error) {
	if t.position == len(t.buffer) {
		return t.source.Read(p)
	}
	n := copy(p, t.buffer[t.position:])
	t.position += n
	return n, nil
}

// forget drops the bytes for the later reader from an offset of the content on. The content continues with the bytes of
// from.
func (t *tee) forget(offset int64, from io.Reader) {
	t.buffer = t.buffer[:max(len(t.buffer)-int(t.end-offset), t.position)]
	t.source, t.end = from, offset
}
