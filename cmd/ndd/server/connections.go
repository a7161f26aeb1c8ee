package server

import (
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// settleTime is the time that a connection must be idle before it may be closed for another one. The first request of
// a new connection is usually already on its way.
const settleTime = 20 * time.Millisecond

// connections are the open connections of an HTTP server, at most max. At the limit, the connection with the longest
// idle time is closed for a new one. If none is idle, the new one is closed.
//
// With x/net/netutil.LimitListener, new clients would wait until an idle connection times out, two minutes with
// keep-alive. It also hides the connection, which reset needs.
type connections struct {
	max int

	mu     sync.Mutex
	open   map[net.Conn]time.Time // start of the idle time of each; zero during a request
	counts connectionCounts
}

// connectionCounts are the figures of connections.
type connectionCounts struct {
	Open, Idle int
	Accepted   uint64 // connections accepted and served
	Closed     uint64 // idle connections closed to free space for others
	Refused    uint64 // connections closed at once because all others were busy
}

// newConnections returns an empty set of connections that is limited to max.
func newConnections(max int) *connections {
	return &connections{max: max, open: map[net.Conn]time.Time{}}
}

// limit applies the limit to a server.
func (c *connections) limit(s *http.Server) {
	s.ConnState = c.track
	s.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, connectionKey{}, conn)
	}
}

// track records the new state of a connection.
func (c *connections) track(conn net.Conn, state http.ConnState) {
	conn = bare(conn)
	c.mu.Lock()
	defer c.mu.Unlock()
	_, open := c.open[conn]
	switch {
	case state == http.StateNew:
		if len(c.open) >= c.max && !c.closeIdle() {
			c.counts.Refused++
			conn.Close()
			return
		}
		c.counts.Accepted++
		c.open[conn] = time.Now()
	case !open: // this package closed it
	case state == http.StateActive:
		c.open[conn] = time.Time{}
	case state == http.StateIdle:
		c.open[conn] = time.Now()
	default:
		delete(c.open, conn)
	}
}

// closeIdle closes the connection with the longest idle time of at least settleTime. It reports whether there is one.
// The scan of 4,096 connections takes about 50 us, and runs only at the limit. The caller holds c.mu.
func (c *connections) closeIdle() bool {
	var oldest net.Conn
	first := time.Now().Add(-settleTime)
	for conn, start := range c.open {
		if !start.IsZero() && !start.After(first) {
			first, oldest = start, conn
		}
	}
	if oldest == nil {
		return false
	}
	delete(c.open, oldest)
	c.counts.Closed++
	oldest.Close()
	return true
}

// resetAll resets all connections. So no client takes an unfinished answer for a complete one.
func (c *connections) resetAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		reset(conn)
	}
}

// state returns the current figures.
func (c *connections) state() connectionCounts {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts := c.counts
	counts.Open = len(c.open)
	for _, start := range c.open {
		if !start.IsZero() {
			counts.Idle++
		}
	}
	return counts
}

type connectionKey struct{}

// resetConnection resets the connection of a request, and discards unsent data. So the client sees an error instead
// of the end of an answer.
func resetConnection(ctx context.Context) {
	if conn, ok := ctx.Value(connectionKey{}).(net.Conn); ok { // tests of handlers have none
		reset(bare(conn))
	}
}

func reset(conn net.Conn) {
	if t, ok := conn.(*net.TCPConn); ok {
		t.SetLinger(0)
	}
	conn.Close()
}

// bare returns the TCP connection below TLS. It can be closed without waiting for the client.
func bare(conn net.Conn) net.Conn {
	if t, ok := conn.(interface{ NetConn() net.Conn }); ok {
		return t.NetConn()
	}
	return conn
}
