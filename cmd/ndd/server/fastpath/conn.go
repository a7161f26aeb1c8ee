package fastpath

import (
	"bytes"
	"cmp"
	"context"
	"log"
	"net"
	"net/http"
	"runtime/debug"
	"time"
)

const (
	// splitMax is how long the rest of a request may take to come before its connection is net/http's, which has time for slow ones.
	splitMax = 10 * time.Millisecond
	// lastLook is how long a request may take to come on a connection that is about to be closed: what the kernel has is answered.
	lastLook = time.Millisecond
)

// A conn is a connection whose requests have been plain so far. It belongs to one goroutine.
type conn struct {
	net.Conn
	of     *Listener
	remote string // address
	given  bool   // to the server; of the Listener's mutex
	buffer [requestMax]byte
	filled int // bytes of the request

	head    []byte        // of the last request, with the empty line
	request *http.Request // what it says
	context context.Context
	body    Body
	out     response
}

func newConn(l *Listener, inner net.Conn) *conn {
	ctx := context.WithValue(context.Background(), http.ServerContextKey, l.server)
	ctx = context.WithValue(ctx, http.LocalAddrContextKey, inner.LocalAddr())
	if l.server.ConnContext != nil {
		ctx = l.server.ConnContext(ctx, inner)
	}
	c := &conn{Conn: inner, of: l, remote: inner.RemoteAddr().String(), context: ctx}
	c.out.conn, c.out.header = c, http.Header{}
	return c
}

// serve answers requests until one is not plain, or the connection ends.
func (c *conn) serve() {
	defer c.of.leave(c)
	s := c.of.server
	for most := cmp.Or(s.ReadHeaderTimeout, s.ReadTimeout); c.receive(most); most = cmp.Or(s.IdleTimeout, s.ReadTimeout) {
		if !c.answer() {
			c.Close()
			return
		}
	}
	if c.filled == 0 {
		c.Close()
		return
	}
	c.of.handOver(c, bytes.Clone(c.buffer[:c.filled]))
}

// receive waits for a request for so long, 0 for ever, and says whether a plain one has come.
func (c *conn) receive(most time.Duration) bool {
	c.filled = 0
	c.wait(most)
	for looked := c.of.closing.Load() && c.wait(lastLook); ; {
		n, err := c.Read(c.buffer[c.filled:])
		first := c.filled == 0 && n > 0
		if c.filled += n; n > 0 {
			switch c.look() {
			case plain:
				return true
			case odd:
				return false
			}
		}
		switch {
		case err == nil && first:
			c.wait(splitMax) // for all of the rest
		case err == nil:
		case c.filled == 0 && c.of.closing.Load() && !looked:
			looked = c.wait(lastLook)
		default:
			return false
		}
	}
}

// wait lets reading take so long, 0 for ever; it returns true.
func (c *conn) wait(most time.Duration) bool {
	var end time.Time
	if most > 0 {
		end = time.Now().Add(most)
	}
	c.SetReadDeadline(end)
	return true
}

// A verdict is what is known of a request whose first bytes have come.
type verdict int

const (
	part  verdict = iota // more of it must come
	plain                // it is whole, and nothing is behind it
	odd                  // it is net/http's
)

// look looks at what has come. The head of most requests is that of the one before.
func (c *conn) look() verdict {
	came := c.buffer[:c.filled]
	if len(c.head) == 0 || !bytes.HasPrefix(came, c.head) {
		end := bytes.Index(came, headEnd)
		if end < 0 {
			return c.unfinished()
		}
		head := came[:end+len(headEnd)]
		r := parseHead(head, c.of.targets)
		if r == nil {
			return odd
		}
		r.RemoteAddr = c.remote
		c.head, c.request = append(c.head[:0], head...), r.WithContext(c.context)
	}
	whole := len(c.head) + int(c.request.ContentLength)
	switch {
	case len(came) == whole:
		c.body.bytes, c.body.left = came[len(c.head):whole:whole], came[len(c.head):whole]
		c.request.Body = &c.body
		return plain
	case len(came) > whole:
		return odd
	}
	return c.unfinished()
}

// unfinished returns the verdict on a request of which more must come.
func (c *conn) unfinished() verdict {
	if c.filled == len(c.buffer) {
		return odd
	}
	return part
}

// answer answers the request, and says whether the connection serves another one.
func (c *conn) answer() bool {
	s := c.of.server
	if s.WriteTimeout > 0 {
		c.SetWriteDeadline(time.Now().Add(s.WriteTimeout))
	}
	c.of.answered.Add(1)
	c.out.begin()
	defer c.out.end()
	return c.handle() && c.out.finish()
}

// handle calls the handler, and says whether it returned.
func (c *conn) handle() (returned bool) {
	defer func() {
		if returned {
			return
		}
		if cause := recover(); cause != http.ErrAbortHandler {
			c.printf("fastpath: panic serving %s: %v\n%s", c.remote, cause, debug.Stack())
		}
	}()
	c.of.server.Handler.ServeHTTP(&c.out, c.request)
	return true
}

// printf writes to the server's log of errors.
func (c *conn) printf(format string, args ...any) {
	if to := c.of.server.ErrorLog; to != nil {
		to.Printf(format, args...)
		return
	}
	log.Printf(format, args...)
}
