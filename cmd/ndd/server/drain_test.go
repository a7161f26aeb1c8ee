package server

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ndd/engine"
)

var restarts = flag.Int("restarts", 4, "times that TestDrainUnderLoad stops a server")

// Stopped under load, again and again: no request is aborted, and readiness ends before service does. Clients go
// elsewhere when they are told; one that came back for ever could always meet
// the moment at which the listener closes. Notice lasts here until all were told, however slow this machine is.
func TestDrainUnderLoad(t *testing.T) {
	for round := range *restarts {
		t.Run(fmt.Sprint("round ", round), func(t *testing.T) { drainUnderLoad(t, int64(20*(round%8+1))) })
	}
}

// drainUnderLoad stops a server that has served so many requests and has others under way. While notice is given all are
// answered, on connections that are closed behind the answer; then nobody can connect.
func drainUnderLoad(t *testing.T, requests int64) {
	const clients = 8
	var group sync.WaitGroup
	c := client(t)
	allTold := make(chan struct{})
	r := runServer(t, Options{notice: func() { <-allTold }}, func(context.Context, *Loading) (*engine.Index, error) {
		return newIndex(t, 3, nil, []uint64{0}), nil
	})
	address := r.address()
	var served atomic.Int64
	for i := range clients {
		group.Go(func() {
			for n := 0; ; n++ {
				path, body := "/v1/query", `{"fingerprint": "0000000000000001"}`
				switch i % 4 {
				case 1:
					path, body = "/v1/insert", fmt.Sprintf(`{"id": "%d-%d", "fingerprint": "ffff%04x%08x"}`, i, n, i, n)
				case 2:
					path, body = "/v1/batch", string(make([]byte, 8*2000))
				}
				status, closes, err := once(c, "http://"+address+path, body)
				switch {
				case err != nil:
					t.Errorf("%s: %v", path, err)
					return
				case status == http.StatusOK && closes:
					return
				case status == http.StatusOK:
					served.Add(1)
				case status == http.StatusTooManyRequests: // it waited for a second, as others stood still
				default:
					t.Errorf("%s: %d", path, status)
					return
				}
			}
		})
	}
	eventually(t, "load", func() bool { return served.Load() > requests || t.Failed() })
	r.stop()
	eventually(t, "it is not ready", func() bool {
		status, _, err := once(c, "http://"+address+"/readyz", "")
		return err == nil && status == http.StatusServiceUnavailable
	})
	group.Wait() // each was told by an answer, or has failed
	close(allTold)
	if err := r.wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
	if _, _, err := once(c, "http://"+address+"/readyz", ""); !isDial(err) {
		t.Errorf("when it has ended: %v", err)
	}
}

// isDial says whether there was no connection to send a request on.
func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// once makes a request, a GET without a body, and says whether the connection is closed behind the answer.
func once(c *http.Client, url, body string) (status int, closes bool, err error) {
	method := "POST"
	if body == "" {
		method = "GET"
	}
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return 0, false, err
	}
	a, err := c.Do(r)
	if err != nil {
		return 0, false, err
	}
	defer a.Body.Close()
	_, err = io.Copy(io.Discard, a.Body)
	return a.StatusCode, a.Close, err
}

// longAnswer asks a server for more than sockets hold, 600,000 lines, 24 MB, and reads the first of
// it: the request runs until it is read. It gives also how many lines there are to come.
func longAnswer(t *testing.T, r *running) (c net.Conn, lines int) {
	t.Helper()
	c, err := net.Dial("tcp", r.address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	const queries = 200
	fmt.Fprintf(c, "POST /v1/batch HTTP/1.0\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", 8*queries, make([]byte, 8*queries))
	for line := ""; line != "\r\n"; lines++ { // up to the end of the header
		if lines > 100 {
			t.Fatal("a header without end")
		}
		line = ""
		for b := make([]byte, 1); !strings.HasSuffix(line, "\n"); line += string(b) {
			if _, err := io.ReadFull(c, b); err != nil {
				t.Fatal(err)
			}
		}
	}
	return c, queries * 3000
}

// sameRows is an index that answers one query with 3,000 lines.
func sameRows(t *testing.T) func(context.Context, *Loading) (*engine.Index, error) {
	return func(context.Context, *Loading) (*engine.Index, error) {
		return newIndex(t, 3, nil, make([]uint64, 3000)), nil
	}
}

// What runs when the signal comes is finished; connections are taken as long as notice is given, and then no more.
func TestDrainFinishesWhatRuns(t *testing.T) {
	r := runServer(t, Options{drainMax: waitMax}, sameRows(t))
	c, lines := longAnswer(t, r)
	stopped := time.Now()
	r.stop()
	eventually(t, "not listening", func() bool {
		other, err := net.Dial("tcp", c.RemoteAddr().String())
		if err == nil {
			other.Close()
		}
		return err != nil
	})
	if took := time.Since(stopped); took < drainNotice {
		t.Errorf("the notice was %v, want %v", took, drainNotice)
	}
	rest, err := io.ReadAll(c)
	if n := bytes.Count(rest, []byte("\trow-")); err != nil || n != lines {
		t.Errorf("%d lines of %d, %v", n, lines, err)
	}
	if err := r.wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

// What does not end is cut off, so that the process is gone within 10 s.
func TestDrainCutsOff(t *testing.T) {
	if drainNotice+drainMax > 9*time.Second {
		t.Errorf("%v of notice and %v after it", drainNotice, drainMax)
	}
	r := runServer(t, Options{notice: func() {}, drainMax: 50 * time.Millisecond}, sameRows(t))
	c, lines := longAnswer(t, r)
	r.stop()
	if err := r.wait(); err != nil || !strings.Contains(r.journal.String(), "after 50ms and were cut off") {
		t.Errorf("ended with %v: %s", err, r.journal)
	}
	rest, err := io.ReadAll(c)
	if bytes.Count(rest, []byte("\trow-")) >= lines {
		t.Error("the answer is whole: it did not wait to be read")
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the answer, over HTTP/1.0, looks whole: %v", err)
	}
}
