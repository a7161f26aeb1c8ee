package fastpath

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A Listener takes the connections of another listener, answers their plain requests, and gives the others to an HTTP server, which is to
// serve it.
type Listener struct {
	inner   net.Listener
	server  *http.Server      // what all requests are answered by, and how
	targets map[string]string // paths by request line
	others  chan accepted     // for the server
	begin   sync.Once
	end     sync.Once
	endErr  error
	done    chan struct{} // closed by Close
	closing atomic.Bool   // answers end their connections

	mu      sync.Mutex
	open    map[*conn]struct{}
	changed chan struct{} // closed when the last of them has gone

	answered, handedOver atomic.Uint64
}

// An accepted is what the server's Accept returns.
type accepted struct {
	conn net.Conn
	err  error
}

// New returns a listener for the connections of inner, on which plain requests for the paths are answered by the server's handler. Inner
// must not be one of TLS.
func New(inner net.Listener, server *http.Server, paths []string) *Listener {
	l := &Listener{inner: inner, server: server, targets: map[string]string{}, others: make(chan accepted), done: make(chan struct{}), open: map[*conn]struct{}{}}
	for _, path := range paths {
		l.targets["POST "+path+" HTTP/1.1"] = path
	}
	return l
}

// Addr returns the address of the inner listener.
func (l *Listener) Addr() net.Addr { return l.inner.Addr() }

// Accept waits for a connection that is net/http's. The first call begins to serve the others. Errors are those of the inner listener, but for its end: then
// connections are still handed over, until Close.
func (l *Listener) Accept() (net.Conn, error) {
	l.begin.Do(func() { go l.accept() })
	select {
	case a := <-l.others:
		return a.conn, a.err
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// accept serves the connections that come.
func (l *Listener) accept() {
	for {
		c, err := l.inner.Accept()
		switch {
		case err == nil:
			l.start(c)
			continue
		case errors.Is(err, net.ErrClosed):
			return
		}
		select {
		case l.others <- accepted{err: err}: // the server logs it, and lets some time pass before it comes for the next
		case <-l.done:
			return
		}
	}
}

// start serves a connection.
func (l *Listener) start(inner net.Conn) {
	c := newConn(l, inner)
	l.mu.Lock()
	l.open[c] = struct{}{}
	l.mu.Unlock()
	go c.serve()
}

// leave takes a connection off those that are served here.
func (l *Listener) leave(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
	if len(l.open) == 0 && l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// handOver gives a connection to the server, with the bytes that were read.
func (l *Listener) handOver(c *conn, read []byte) {
	l.mu.Lock()
	c.given = true
	l.mu.Unlock()
	c.SetReadDeadline(time.Time{})
	l.handedOver.Add(1)
	select {
	case l.others <- accepted{conn: &prefixed{Conn: c.Conn, prefix: read}}:
	case <-l.done:
		c.Close()
	}
}

// Shutdown ends the connections: those without a request at once, the others behind their answers. It returns when they have gone or are the
// server's, or with the error of ctx. The inner listener must have been closed; Close, or the server's own Shutdown, must follow.
func (l *Listener) Shutdown(ctx context.Context) error {
	l.wake()
	l.mu.Lock()
	if len(l.open) == 0 {
		l.mu.Unlock()
		return nil
	}
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	changed := l.changed
	l.mu.Unlock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wake has the connections without a request end.
func (l *Listener) wake() {
	l.closing.Store(true)
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		if !c.given {
			c.SetReadDeadline(past)
		}
	}
}

// past is a deadline that ends what waits.
var past = time.Unix(1, 0)

// Close closes the inner listener and ends the connections as [Listener.Shutdown] does, but does not wait for them; what would be handed over is
// closed. It may be called again, and returns the same.
func (l *Listener) Close() error {
	l.end.Do(func() {
		l.endErr = l.inner.Close()
		close(l.done)
		l.wake()
	})
	return l.endErr
}

// Counts are what a Listener has done.
type Counts struct {
	Answered   uint64 // requests that were answered here
	HandedOver uint64 // connections that are net/http's since
}

// Counts returns what the Listener has done so far.
func (l *Listener) Counts() Counts { return Counts{l.answered.Load(), l.handedOver.Load()} }

// A prefixed is a connection of which some bytes were read, which are read again.
type prefixed struct {
	net.Conn
	prefix []byte
}

// Read reads what was read before, and then what comes.
func (p *prefixed) Read(b []byte) (int, error) {
	if len(p.prefix) == 0 {
		return p.Conn.Read(b)
	}
	n := copy(b, p.prefix)
	if p.prefix = p.prefix[n:]; len(p.prefix) == 0 {
		p.prefix = nil
	}
	return n, nil
}

// NetConn returns the connection itself, as those of TLS do.
func (p *prefixed) NetConn() net.Conn { return p.Conn }
