package conns

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

func listenHere(t *testing.T) *Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return Limit(l, 10)
}

func connect(t *testing.T, l net.Listener) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestFinishLooks holds an Accept that begins behind its deadline, as that of a goroutine that had to wait for a
// processor: what waits to be accepted is accepted all the same.
func TestFinishLooks(t *testing.T) {
	l := listenHere(t)
	for range 3 {
		connect(t, l)
	}
	l.finished.Store(true)
	for i := range 3 {
		l.last = true
		l.wait(-time.Second)
		c, err := l.Accept()
		if err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		c.Close()
	}
	l.wait(-time.Second)
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("when nobody waits: %v", err)
	}
}

// TestRefuse holds that nobody connects any more, and that who has connected is accepted and heard.
func TestRefuse(t *testing.T) {
	l := listenHere(t)
	before := connect(t, l)
	refuse(l.Listener)
	if c, err := net.DialTimeout("tcp", l.Addr().String(), 100*time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		if err == nil {
			c.Close()
		}
		t.Errorf("connecting: %v", err)
	}
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := before.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	c.SetReadDeadline(time.Now().Add(10 * time.Second))
	if n, err := c.Read(make([]byte, 1)); n != 1 {
		t.Errorf("%d bytes, %v", n, err)
	}
}
