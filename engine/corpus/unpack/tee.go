package unpack

import "io"

// A tee keeps what one reader has read for another one, which reads it later.
type tee struct {
	from io.Reader
	held []byte // the bytes from next on are held for the later reader
	next int
	end  int64 // the offset of the end of held, in the content
}

// keeping returns the reader that is ahead.
func (t *tee) keeping() io.Reader {
	return readerFunc(func(p []byte) (int, error) {
		n, err := t.from.Read(p)
		if t.next > len(t.held)/2 {
			t.held, t.next = append(t.held[:0], t.held[t.next:]...), 0
		}
		t.held = append(t.held, p[:n]...)
		t.end += int64(n)
		return n, err
	})
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// Read implements [io.Reader] for the reader that comes later.
func (t *tee) Read(p []byte) (int, error) {
	if t.next == len(t.held) {
		return t.from.Read(p)
	}
	n := copy(p, t.held[t.next:])
	t.next += n
	return n, nil
}

// forget drops the bytes held from byte at of the content on. The content continues with the bytes of from.
func (t *tee) forget(at int64, from io.Reader) {
	t.held = t.held[:max(len(t.held)-int(t.end-at), t.next)]
	t.from, t.end = from, at
}
