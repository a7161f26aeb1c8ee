package conns

import (
	"errors"
	"os"
	"sync"
	"time"
)

// A deadline is one of a connection's two, for reading or for writing. An HTTP server sets them half a dozen times a request, mostly
// further off, and each time a timer is moved. Here the connection below keeps the one that it has where the new one is later: when
// that comes up, what waits is told to go on with the new one.
//
//	set   header 5 s ── body 30 s ── idle 120 s ── header 5 s ── ...
//	below header 5 s ───────────────────────────── comes up: nobody's deadline yet, the last one is set
type deadline struct {
	set func(time.Time) error // of the connection below

	mu      sync.Mutex
	wanted  time.Time // zero: none
	below   time.Time // at most wanted, unless that is zero; zero: none
	over    bool      // wanted is long ago: what runs is to end
	running int       // calls of the connection below
}

// longAgo is behind every time with which somebody ends what waits.
var longAgo = time.Unix(1<<20, 0)

// move sets the deadline.
func (d *deadline) move(t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wanted, d.over = t, !t.IsZero() && t.Before(longAgo)
	if d.over && d.running == 0 || !d.over && !d.below.IsZero() && (t.IsZero() || !t.Before(d.below)) {
		return nil
	}
	return d.sink(t)
}

// sink sets the deadline of the connection below. It needs d.mu.
func (d *deadline) sink(t time.Time) error {
	d.below = t
	return d.set(t)
}

// during calls f, which reads or writes below, again and again until it has done all, or has failed otherwise than by a deadline that is
// not the last one.
func (d *deadline) during(f func() (int, error)) (n int, err error) {
	for {
		if err := d.begin(); err != nil {
			return n, err
		}
		m, err := f()
		n += m
		if again, failed := d.end(err); !again {
			return n, failed
		}
	}
}

// begin notes a call of the connection below.
func (d *deadline) begin() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over {
		return os.ErrDeadlineExceeded
	}
	d.running++
	return nil
}

// end notes that the call has ended, and says whether it is to be made again, with the deadline that is wanted now.
func (d *deadline) end(err error) (again bool, _ error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running--
	if err == nil || d.over || !errors.Is(err, os.ErrDeadlineExceeded) || !d.wanted.IsZero() && !time.Now().Before(d.wanted) {
		return false, err
	}
	if failed := d.sink(d.wanted); failed != nil {
		return false, failed
	}
	return true, nil
}

// SetReadDeadline sets the time at which reading fails.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.reading.move(t) }

// SetWriteDeadline sets the time at which writing fails.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.writing.move(t) }

// SetDeadline sets both.
func (c *Conn) SetDeadline(t time.Time) error {
	return errors.Join(c.reading.move(t), c.writing.move(t))
}

// Write writes all of p.
func (c *Conn) Write(p []byte) (int, error) {
	n := 0
	return c.writing.during(func() (int, error) {
		m, err := c.Conn.Write(p[n:])
		n += m
		return m, err
	})
}
