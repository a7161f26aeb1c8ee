package conns

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

	"ndd/engine/oracle"
	"ndd/engine/oracle/must"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// waitMax is how long something that is about to happen may take, on whatever machine.
const waitMax = 2 * time.Minute

// serve answers at a listener of at most max connections: /wait only when it is told to, and /reset
// with a part of an answer.
func serve(t *testing.T, max int) (l *Listener, proceed chan struct{}) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	l, proceed = Limit(inner, max), make(chan struct{})
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := Of(r.Context())
		c.Busy()
		defer c.Idle()
		switch r.URL.Path {
		case "/wait":
			<-proceed
		case "/reset":
			w.Write(make([]byte, 8<<10))
			c.Reset()
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, "served")
	})}
	l.Attach(server)
	ended := make(chan struct{})
	go func() { defer close(ended); server.Serve(l) }()
	t.Cleanup(func() { server.Close(); <-ended })
	return l, proceed
}

// dial opens a connection, and sends a request on it if there is a path.
func dial(t *testing.T, l *Listener, path string) net.Conn {
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

// answer reads until the answer's text is there.
func answer(c net.Conn) (string, error) {
	var text []byte
	for b := make([]byte, 512); ; {
		n, err := c.Read(b)
		text = append(text, b[:n]...)
		if err != nil || strings.Contains(string(text), "served") {
			return string(text), err
		}
	}
}

// At the limit the connection that has been idle longest is closed, and whoever comes is served.
func TestOldestIdleIsClosed(t *testing.T) {
	const max = 20
	l, _ := serve(t, max)
	var idle []net.Conn
	for range 3 * max {
		c := dial(t, l, "/")
		if text, err := answer(c); err != nil {
			t.Fatalf("connection %d: %v %s", len(idle), err, text)
		}
		idle = append(idle, c)
		must.Eventually(t, "all are idle", func() bool { n := l.Counts(); return n.Idle == n.Open })
		if len(idle) >= max {
			time.Sleep(settleTime) // the oldest is idle for good
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
		if text, err := answer(c); err != nil {
			t.Errorf("connection %d: %v %s", i, err, text)
		}
	}
	if n := l.Counts(); n.Open != max || n.Closed != 2*max || n.Turned != 0 {
		t.Errorf("%+v", n)
	}
}

// TestAllBusy: when all connections are busy, a further one is closed at once, and nothing that is
// busy is closed.
func TestAllBusy(t *testing.T) {
	const max = 8
	l, proceed := serve(t, max)
	var busy []net.Conn
	for range max {
		busy = append(busy, dial(t, l, "/wait"))
	}
	must.Eventually(t, "all are busy", func() bool { n := l.Counts(); return n.Open == max && n.Idle == 0 })
	time.Sleep(settleTime)
	if text, err := answer(dial(t, l, "/")); err == nil {
		t.Errorf("one too many was served: %s", text)
	}
	close(proceed)
	for i, c := range busy {
		if text, err := answer(c); err != nil {
			t.Errorf("connection %d: %v %s", i, err, text)
		}
	}
	if n := l.Counts(); n.Turned != 1 || n.Closed != 0 {
		t.Errorf("%+v", n)
	}
}

// A connection that is reset ends with an error, over HTTP/1.0, too, where the end of the
// connection is that of the answer.
func TestReset(t *testing.T) {
	l, _ := serve(t, 8)
	c := dial(t, l, "")
	fmt.Fprint(c, "GET /reset HTTP/1.0\r\n\r\n")
	if text, err := io.ReadAll(c); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// Connections that clients made before the listener is closed are served.
func TestFinish(t *testing.T) {
	l, _ := serve(t, 100)
	for range 20 {
		dial(t, l, "/")
	}
	late := dial(t, l, "/")
	l.Finish()
	if text, err := answer(late); err != nil {
		t.Errorf("%v %s", err, text)
	}
	if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
		c.Close()
		t.Error("it still listens")
	}
}

// TestCloseAgain holds that a listener that is closed already is no error: http.Server.Shutdown
// would report one, as if requests had been cut off.
func TestCloseAgain(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	l := Limit(inner, 1)
	for range 2 {
		must.Do(t, l.Close())
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accepting: %v", err)
	}
}
