package conns

import (
	"errors"
	"net"
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

func connect(t *testing.T, l net.Listener) {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
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
