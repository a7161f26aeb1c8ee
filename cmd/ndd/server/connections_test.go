package server

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.org/ndd/engine/oracle/must"
)

// serveConnections serves at most max connections. /wait is answered on demand, and /reset with a partial answer.
func serveConnections(t *testing.T, max int) (l *listener, proceed chan struct{}) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	proceed = make(chan struct{})
	l = &listener{Listener: inner, server: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/wait":
			<-proceed
		case "/reset":
			w.Write(make([]byte, 8<<10))
			resetConnection(r.Context())
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, "served")
	})}}
	l.connections = newConnections(max)
	l.connections.limit(l.server)
	ended := make(chan struct{})
	go func() { defer close(ended); l.server.Serve(inner) }()
	t.Cleanup(func() { l.server.Close(); <-ended })
	return l, proceed
}

// dialPath opens a connection, and sends a request on it if there is a path.
func dialPath(t *testing.T, l *listener, path string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr().String())
	must.Do(t, err)
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(waitMax))
	if path != "" {
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path)
	}
	return c
}

// servedOn reads until the text of the answer has arrived.
func servedOn(c net.Conn) (string, error) {
	var text []byte
	for b := make([]byte, 512); ; {
		n, err := c.Read(b)
		text = append(text, b[:n]...)
		if err != nil || strings.Contains(string(text), "served") {
			return string(text), err
		}
	}
}

// TestOldestIdleIsClosed checks that at the limit, the connection that has been idle longest is closed, and the new
// connection is served.
func TestOldestIdleIsClosed(t *testing.T) {
	const max = 20
	l, _ := serveConnections(t, max)
	var idle []net.Conn
	for range 3 * max {
		c := dialPath(t, l, "/")
		if text, err := servedOn(c); err != nil {
			t.Fatalf("connection %d: %v %s", len(idle), err, text)
		}
		idle = append(idle, c)
		must.Eventually(t, "all are idle", func() bool { n := l.state(); return n.Idle == n.Open })
		if len(idle) >= max {
			time.Sleep(settleTime) // the oldest is idle long enough
		}
	}
	for i, c := range idle {
		if i < 2*max {
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("connection %d of %d was not closed: %v", i, len(idle), err)
			}
			continue
		}
		fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
		if text, err := servedOn(c); err != nil {
			t.Errorf("connection %d: %v %s", i, err, text)
		}
	}
	if n := l.state(); n.Open != max || n.Closed != 2*max || n.Refused != 0 {
		t.Errorf("%+v", n)
	}
}

// TestAllBusy checks that if all connections are busy, a new one is closed at once, and no busy connection is closed.
func TestAllBusy(t *testing.T) {
	const max = 8
	l, proceed := serveConnections(t, max)
	var busy []net.Conn
	for range max {
		busy = append(busy, dialPath(t, l, "/wait"))
	}
	must.Eventually(t, "all are busy", func() bool { n := l.state(); return n.Open == max && n.Idle == 0 })
	time.Sleep(settleTime)
	if text, err := servedOn(dialPath(t, l, "/")); err == nil {
		t.Errorf("one too many was served: %s", text)
	}
	close(proceed)
	for i, c := range busy {
		if text, err := servedOn(c); err != nil {
			t.Errorf("connection %d: %v %s", i, err, text)
		}
	}
	if n := l.state(); n.Refused != 1 || n.Closed != 0 {
		t.Errorf("%+v", n)
	}
}

// TestReset checks that a reset connection ends with an error. This holds for HTTP/1.0, too, where the end of the
// connection is the end of the answer.
func TestReset(t *testing.T) {
	l, _ := serveConnections(t, 8)
	c := dialPath(t, l, "")
	fmt.Fprint(c, "GET /reset HTTP/1.0\r\n\r\n")
	if text, err := io.ReadAll(c); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// TestFinish checks that connections that clients made before the server is stopped are served, and no later ones.
func TestFinish(t *testing.T) {
	l, _ := serveConnections(t, 100)
	late := dialPath(t, l, "/")
	if !l.drain(waitMax) {
		t.Error("it did not end")
	}
	if text, err := servedOn(late); err != nil {
		t.Errorf("%v %s", err, text)
	}
	if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
		c.Close()
		t.Error("it still listens")
	}
}
