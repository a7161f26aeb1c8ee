// Package conns accepts the server's connections: bounds them, closes the oldest idle one at the limit, and resets those whose
// answers were cut off.
//
//	               below the limit: served
//	accept ──────► at the limit: the connection that has been idle longest is closed, and this one served
//	               all are at work: its requests are those of a spare one, for health and administration only (Conn.Spare)
//	               the spare ones are used up, too: closed at once, and not left in silence
//
// The body of a request that is refused is dropped in the kernel where that can be ([Conn.Drop]), so that the connection stays and costs no copies.
//
// A connection is idle before the first request, between requests and while a header comes slowly: whenever
// no handler runs. All is safe for concurrent use; accepting costs a mutex more than a plain listener.
package conns

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// spareMax is how many connections are taken beyond the limit when all are at work.
const spareMax = 64

// A Listener bounds the connections of another listener. [Listener.Attach] tells it what an HTTP server does with them.
type Listener struct {
	net.Listener
	max int

	finished atomic.Bool   // no more is waited for
	empty    chan struct{} // closed when what had come then was taken
	last     bool          // nothing came since the last deadline; of Accept

	closing  sync.Once
	closeErr error

	mu     sync.Mutex
	idle   idleList
	open   map[*Conn]struct{}
	taken  uint64 // in all
	closed uint64 // idle ones, for others
	turned uint64 // away at once
}

// Limit returns a listener that has at most max connections open.
func Limit(l net.Listener, max int) *Listener {
	return &Listener{Listener: l, max: max, empty: make(chan struct{}), open: map[*Conn]struct{}{}}
}

// Accept waits for the next connection. It returns one that was turned away to nobody.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			if l.finished.Load() && errors.Is(err, os.ErrDeadlineExceeded) {
				if !l.last || pending(l.Listener) {
					l.last = true
					l.wait(finishWait) // a deadline that has passed looks for no connection
					continue
				}
				l.Close()
				close(l.empty)
				return nil, net.ErrClosed
			}
			return nil, err
		}
		l.last = false
		if served := l.admit(c); served != nil {
			return served, nil
		}
		c.Close()
	}
}

// Close closes the listener. It may be called again, as an HTTP server does that is told to end, and returns the same.
func (l *Listener) Close() error {
	l.closing.Do(func() { l.closeErr = l.Listener.Close() })
	return l.closeErr
}

// finishMax is how long [Listener.Finish] waits at most.
const finishMax = 2 * time.Second

// finishWait is how long nothing must come then.
const finishWait = 200 * time.Microsecond

// wait gives Accept so long, and says whether it can.
func (l *Listener) wait(most time.Duration) bool {
	d, ok := l.Listener.(interface{ SetDeadline(time.Time) error })
	return ok && d.SetDeadline(time.Now().Add(most)) == nil
}

// Finish takes the connections that clients have made already, closes the listener, and waits until their requests have begun: they
// would be reset otherwise. Close may follow.
func (l *Listener) Finish() {
	if l.finished.CompareAndSwap(false, true) && l.wait(finishWait) {
		timer := time.NewTimer(finishMax)
		defer timer.Stop()
		select {
		case <-l.empty:
		case <-timer.C:
		}
	}
	l.Close()
	for end := time.Now().Add(finishMax); !l.settled() && time.Now().Before(end); {
		time.Sleep(settleTime / 4)
	}
	l.closeUnused()
}

// closeUnused closes connections on which nothing has come yet, such as those that a client keeps in store: an HTTP server
// that shuts down would wait some seconds for their first requests.
func (l *Listener) closeUnused() {
	l.mu.Lock()
	var unused []*Conn
	for c := l.idle.first; c != nil; c = c.after {
		if !c.begun.Load() {
			unused = append(unused, c)
		}
	}
	l.mu.Unlock()
	for _, c := range unused {
		c.Close()
	}
}

// settleTime is how long a connection is idle before nothing is expected to come: an HTTP server that shuts down closes those it has
// accepted and not looked at. Before, it is not closed for another.
const settleTime = 20 * time.Millisecond

// settled says whether no connection became idle just now, and none waits for its first request: it is about to come, however
// long this machine takes to look at it.
func (l *Listener) settled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := l.idle.last; c != nil; c = c.before {
		if age := time.Since(c.since); age < settleTime || !c.used && age < finishMax {
			return false
		}
	}
	return true
}

// admit makes room for a connection, and returns nil if there is none.
func (l *Listener) admit(inner net.Conn) *Conn {
	l.mu.Lock()
	var old []*Conn
	for len(l.open) >= l.max {
		c := l.idle.first
		if c == nil || time.Since(c.since) < settleTime {
			break
		}
		old = append(old, c)
		l.forget(c)
		l.closed++
	}
	if len(l.open) >= l.max+spareMax {
		l.turned++
		l.mu.Unlock()
		return nil
	}
	l.taken++
	c := &Conn{Conn: inner, of: l}
	c.reading.set, c.writing.set = inner.SetReadDeadline, inner.SetWriteDeadline
	l.open[c] = struct{}{}
	l.idle.push(c)
	l.mu.Unlock()
	for _, o := range old {
		o.Conn.Close()
	}
	return c
}

// forget takes a connection out of the counts. It needs l.mu.
func (l *Listener) forget(c *Conn) {
	delete(l.open, c)
	l.idle.remove(c)
}

// A Conn is a connection of a Listener.
type Conn struct {
	net.Conn
	of      *Listener
	begun   atomic.Bool          // something has come
	dropped atomic.Pointer[byte] // where reading throws away; nil: nowhere
	used    bool                 // a request came
	spare   bool                 // more were at work than the limit when its request began
	idle    bool                 // no handler runs
	since   time.Time            // idle

	before, after *Conn // of the idle ones

	reading, writing deadline
}

// Read reads what has come.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.reading.during(func() (int, error) { return c.readOrDrop(p) })
	if n > 0 && !c.begun.Load() {
		c.begun.Store(true)
	}
	return n, err
}

// Close closes the connection.
func (c *Conn) Close() error {
	c.of.mu.Lock()
	c.of.forget(c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// Spare says whether more connections than the limit were at work when this one's handler began.
func (c *Conn) Spare() bool { return c != nil && c.spare }

// Reset closes the connection so that its client sees an error, and not the end of an answer: what was not sent is thrown away.
func (c *Conn) Reset() {
	if c == nil {
		return
	}
	if t, ok := c.Conn.(*net.TCPConn); ok {
		t.SetLinger(0) // the close is what counts
	}
	c.Close()
}

// Busy takes the connection off those that may be closed as idle, until Idle is called.
func (c *Conn) Busy() {
	if c == nil {
		return
	}
	l := c.of
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.idle {
		l.idle.remove(c)
		c.used = true
		c.spare = len(l.open)-l.idle.len > l.max
	}
}

// Idle says that the handler has ended for which Busy was called.
func (c *Conn) Idle() {
	if c == nil {
		return
	}
	l := c.of
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, open := l.open[c]; open && !c.idle {
		l.idle.push(c)
	}
}

// touched is an http.Server's ConnState: a connection whose header begins to come is no longer the one idle longest.
func (l *Listener) touched(n net.Conn, s http.ConnState) {
	c := ours(n)
	if c == nil || s != http.StateActive {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.idle {
		l.idle.remove(c)
		l.idle.push(c)
	}
}

// ours returns the connection of a Listener below another, such as one of TLS, or nil.
func ours(n net.Conn) *Conn {
	if t, ok := n.(interface{ NetConn() net.Conn }); ok {
		n = t.NetConn()
	}
	c, _ := n.(*Conn)
	return c
}

type key struct{}

// Of returns the connection of a request, nil where its server has no Listener; the methods do nothing then.
func Of(ctx context.Context) *Conn {
	c, _ := ctx.Value(key{}).(*Conn)
	return c
}

// Attach has a server tell the listener of its connections; [Of] finds them in the contexts of requests.
func (l *Listener) Attach(s *http.Server) {
	s.ConnState = l.touched
	s.ConnContext = func(ctx context.Context, n net.Conn) context.Context { return context.WithValue(ctx, key{}, ours(n)) }
}

// ResetAll resets all connections: what still runs is cut off, and no answer looks whole.
func (l *Listener) ResetAll() {
	l.mu.Lock()
	var all []*Conn
	for c := range l.open {
		all = append(all, c)
	}
	l.mu.Unlock()
	for _, c := range all {
		c.Reset()
	}
}

// Counts are what a Listener has done.
type Counts struct {
	Open, Idle int
	Taken      uint64 // connections that were accepted and not closed at once
	Closed     uint64 // idle connections that were closed for others
	Turned     uint64 // connections that were closed at once
}

// Counts returns what the Listener has done so far.
func (l *Listener) Counts() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Counts{len(l.open), l.idle.len, l.taken, l.closed, l.turned}
}
