package conns

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"testing"
	"time"
)

// pair returns a connection of a Listener, and the client's end of it.
func pair(t *testing.T) (*Conn, net.Conn) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := Limit(inner, 10)
	t.Cleanup(func() { l.Close() })
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	served, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { served.Close() })
	return served.(*Conn), client
}

// TestDrop: bytes that are read into the memory named to Drop count and are gone, on Linux without being copied; those that a reader between reads into
// memory of its own are there, and so is all that comes behind.
func TestDrop(t *testing.T) {
	c, client := pair(t)
	const dropped, kept = 300_000, 10_000
	go func() {
		client.Write(append(bytes.Repeat([]byte{'d'}, dropped), bytes.Repeat([]byte{'k'}, 2*kept)...))
		client.Close()
	}()
	in := bufio.NewReader(c)
	if b, err := in.Peek(1); err != nil || b[0] != 'd' {
		t.Fatal(b, err)
	}
	to := make([]byte, 16<<10)
	c.Drop(to)
	n, _ := in.Discard(in.Buffered()) // the reader's own
	for n < dropped {
		m, err := in.Read(to[:min(len(to), dropped-n)])
		if err != nil {
			t.Fatal(n, err)
		}
		n += m
	}
	if runtime.GOOS == "linux" && bytes.Count(to, []byte{'d'}) > in.Size() {
		t.Errorf("%d bytes were copied", bytes.Count(to, []byte{'d'}))
	}
	own := make([]byte, kept)
	if _, err := io.ReadFull(in, own); err != nil || !bytes.Equal(own, bytes.Repeat([]byte{'k'}, kept)) {
		t.Errorf("into other memory: %v %.10q", err, own)
	}
	c.Drop(nil)
	if _, err := io.ReadFull(in, to[:kept]); err != nil || !bytes.Equal(to[:kept], own) {
		t.Errorf("behind it: %v %.10q", err, to)
	}
	c.Drop(to)
	if n, err := c.Read(to); n != 0 || err != io.EOF {
		t.Errorf("at the end: %d %v", n, err)
	}
}

// TestDropFails: dropping ends at the deadline, and with the connection.
func TestDropFails(t *testing.T) {
	c, _ := pair(t)
	to := make([]byte, 100)
	c.Drop(to)
	c.SetReadDeadline(time.Now().Add(time.Millisecond))
	if n, err := c.Read(to); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d %v", n, err)
	}
	c.SetReadDeadline(time.Time{})
	c.Close()
	if n, err := c.Read(to); n != 0 || !errors.Is(err, net.ErrClosed) {
		t.Errorf("%d %v", n, err)
	}
	(*Conn)(nil).Drop(to) // a request of no Listener
}
