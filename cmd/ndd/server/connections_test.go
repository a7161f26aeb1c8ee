package server

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"ndd/engine"
)

// TestRunLimitsConnections opens more idle connections to a server than it may have: the oldest are closed, and the youngest
// stay open.
func TestRunLimitsConnections(t *testing.T) {
	const most = 8
	var s *service
	r := runServer(t, Options{Limits: Limits{Connections: most, times: patient}, started: func(started *service) { s = started }}, func(context.Context, *Loading) (*engine.Index, error) {
		return newIndex(t, 3, nil, []uint64{0}), nil
	})
	address := r.address()
	var all []net.Conn
	for i := range 2 * most {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		all = append(all, c)
		eventually(t, "it is accepted", func() bool { return s.front.Counts().Taken == uint64(i+1) })
		time.Sleep(30 * time.Millisecond) // which is idle for the server
	}
	for i, c := range all {
		wait := waitMax
		if i >= most {
			wait = 50 * time.Millisecond
		}
		c.SetReadDeadline(time.Now().Add(wait))
		_, err := c.Read(make([]byte, 1))
		if closed := errors.Is(err, io.EOF); closed != (i < most) || !closed && !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("connection %d of %d, of which %d may be open: %v", i, len(all), most, err)
		}
	}
	r.stop()
	if err := r.wait(); err != nil {
		t.Error(err)
	}
}
