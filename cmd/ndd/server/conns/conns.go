// Package conns bounds the connections of an HTTP server.
//
// Below the limit every connection is accepted. At the limit, the connection that has been idle
// longest is closed to make room for the new one; if none is idle, the new one is closed. A
// connection is idle while no handler runs on it: before its first request, between requests, and
// while a header is on its way.
//
// x/net/netutil.LimitListener would leave new clients waiting behind idle ones until those time
// out, two minutes with keep-alive. All methods are safe for concurrent use. A request costs two
// atomic operations.
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

// settleTime is how long a connection must be idle before it may be closed for another one: the
// request of a new connection is usually already on its way.
const settleTime = 20 * time.Millisecond

// A Listener limits the open connections of another listener. Use [Listener.Attach] so that
// requests report which connections are idle.
type Listener struct {
	net.Listener
	max     int
	drained chan struct{} // gets a value when Accept ends after Finish
	close   func() error  // closes the inner listener once

	mu     sync.Mutex
	open   map[*Conn]struct{}
	counts Counts
}

// Counts holds the figures of a Listener.
type Counts struct {
	Open, Idle int
	Taken      uint64 // connections accepted and served
	Closed     uint64 // idle connections closed to make room for others
	Turned     uint64 // connections closed at once because all others were busy
}

// Limit returns a listener with at most max open connections.
func Limit(l net.Listener, max int) *Listener {
	return &Listener{Listener: l, max: max, drained: make(chan struct{}, 1), close: sync.OnceValue(l.Close),
		open: map[*Conn]struct{}{}}
}

// Accept waits for the next connection within the limit.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if errors.Is(err, os.ErrDeadlineExceeded) { // which Finish has set
			select {
			case l.drained <- struct{}{}:
			default:
			}
			return nil, net.ErrClosed
		}
		if err != nil {
			return nil, err
		}
		if c := l.admit(inner); c != nil {
			return c, nil
		}
		inner.Close()
	}
}

// admit registers a connection. It returns nil if all connections are busy.
func (l *Listener) admit(inner net.Conn) *Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= l.max {
		old := l.oldestIdle()
		if old == nil {
			l.counts.Turned++
			return nil
		}
		delete(l.open, old)
		l.counts.Closed++
		old.Conn.Close()
	}
	l.counts.Taken++
	c := &Conn{Conn: inner, of: l}
	c.idleSince.Store(time.Now().UnixNano())
	l.open[c] = struct{}{}
	return c
}

// oldestIdle returns the connection that has been idle longest, nil if none has been idle for
// settleTime. The scan takes some 50 us for 4,096 connections and runs only at the limit. It needs
// l.mu.
func (l *Listener) oldestIdle() (oldest *Conn) {
	first := time.Now().Add(-settleTime).UnixNano()
	for c := range l.open {
		if since := c.idleSince.Load(); since != 0 && since <= first {
			first, oldest = since, c
		}
	}
	return oldest
}

// Close closes the listener. Later calls return the same error.
func (l *Listener) Close() error { return l.close() }

const (
	finishWait = 50 * time.Millisecond // thousands of connections are accepted in this time
	finishMax  = 2 * time.Second       // for a server that does not accept
)

// Finish accepts for a short time the connections that wait in the backlog, and then closes the
// listener. Clients whose connections are in the backlog when a listener is closed would see a
// reset.
func (l *Listener) Finish() {
	d, ok := l.Listener.(interface{ SetDeadline(time.Time) error })
	if ok && d.SetDeadline(time.Now().Add(finishWait)) == nil {
		select {
		case <-l.drained:
		case <-time.After(finishMax):
		}
	}
	l.Close()
}

// ResetAll resets all connections, so that no unfinished answer looks complete.
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

// Counts returns the current figures.
func (l *Listener) Counts() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	counts := l.counts
	counts.Open = len(l.open)
	for c := range l.open {
		if c.idleSince.Load() != 0 {
			counts.Idle++
		}
	}
	return counts
}

// A Conn is a connection of a Listener. The methods of a nil Conn do nothing.
type Conn struct {
	net.Conn
	of        *Listener
	idleSince atomic.Int64 // Unix nanoseconds; 0 while a handler runs
}

// Close closes the connection.
func (c *Conn) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// Reset closes the connection and discards unsent data, so that the client sees an error and not
// the end of an answer.
func (c *Conn) Reset() {
	if c == nil {
		return
	}
	if t, ok := c.Conn.(*net.TCPConn); ok {
		t.SetLinger(0)
	}
	c.Close()
}

// Busy marks the connection as in use until Idle is called.
func (c *Conn) Busy() {
	if c != nil {
		c.idleSince.Store(0)
	}
}

// Idle marks the connection as idle.
func (c *Conn) Idle() {
	if c != nil {
		c.idleSince.Store(time.Now().UnixNano())
	}
}

type key struct{}

// Attach makes [Of] find the connection in the context of a server's requests.
func (l *Listener) Attach(s *http.Server) {
	s.ConnContext = func(ctx context.Context, n net.Conn) context.Context {
		if t, ok := n.(interface{ NetConn() net.Conn }); ok { // such as one of TLS
			n = t.NetConn()
		}
		c, _ := n.(*Conn)
		return context.WithValue(ctx, key{}, c)
	}
}

// Of returns the connection of a request, or nil if its server has no Listener.
func Of(ctx context.Context) *Conn {
	c, _ := ctx.Value(key{}).(*Conn)
	return c
}
