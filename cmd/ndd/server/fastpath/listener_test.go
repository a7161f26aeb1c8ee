package fastpath

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// eventually waits for something that is about to be true.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(waitMax); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// connections returns how many there are that were not handed over.
func (l *Listener) connections() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

// TestShutdown ends a server with connections of all kinds: without a request, behind one, with a part of one, and with one that is being answered.
func TestShutdown(t *testing.T) {
	entered, proceed := make(chan struct{}), make(chan struct{})
	s := serve(t, true, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/say" {
			close(entered)
			<-proceed
		}
		echo(w, r)
	}), nil)
	unused, behind, busy := s.dial(t), s.dial(t), s.dial(t)
	io.WriteString(behind, post("/echo", "x"))
	readOne(t, bufio.NewReader(behind))
	io.WriteString(busy, post("/say", "x"))
	<-entered
	eventually(t, "all are there", func() bool { return s.quick.connections() == 3 })
	s.quick.inner.Close()
	ended := make(chan error)
	go func() {
		if err := s.quick.Shutdown(context.Background()); err != nil {
			ended <- err
			return
		}
		ended <- s.server.Shutdown(context.Background())
	}()
	for name, c := range map[string]net.Conn{"unused": unused, "behind an answer": behind} {
		if _, err := c.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("the one %s: %v", name, err)
		}
	}
	select {
	case err := <-ended:
		t.Errorf("it has ended before all was answered: %v", err)
	default:
	}
	close(proceed)
	if out, err := io.ReadAll(busy); err != nil || !strings.Contains(string(out), "200 OK") || !strings.Contains(string(out), "Connection: close") {
		t.Errorf("%q, %v", out, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestShutdownGivesUp holds that what does not end is told of.
func TestShutdownGivesUp(t *testing.T) {
	entered, proceed := make(chan struct{}), make(chan struct{})
	s := serve(t, true, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(entered); <-proceed }), nil)
	io.WriteString(s.dial(t), post("/say", "x"))
	<-entered
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.quick.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(proceed)
}

// TestRequestThatHasCome holds that a request which has come before its connection was looked at for the last time is answered.
func TestRequestThatHasCome(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	l := New(inner, &http.Server{Handler: routes()}, []string{"/echo"})
	out, err := net.Dial("tcp", inner.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	io.WriteString(out, post("/echo", "x"))
	in, err := inner.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.(*net.TCPConn).SyscallConn(); err != nil {
		t.Fatal(err)
	}
	waitReadable(t, in)
	l.closing.Store(true) // as Shutdown does, before it wakes them
	l.start(in)
	if answer := readOne(t, bufio.NewReader(out)); !strings.Contains(answer, "200 OK") {
		t.Error(answer)
	}
	if err := l.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
}

// waitReadable waits until bytes have come, and leaves them there.
func waitReadable(t *testing.T, c net.Conn) {
	t.Helper()
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var one [1]byte
	if err := raw.Read(func(fd uintptr) bool { // is called again when more may have come
		n, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK)
		return n > 0 || err != nil && err != syscall.EAGAIN && err != syscall.EINTR
	}); err != nil {
		t.Fatal(err)
	}
}

// TestTimes: a connection without a request ends in time, and one with a part of a request is net/http's, which ends it. On a
// machine that stands still, the time may be over before what comes first has been sent: then there is more of it.
func TestTimes(t *testing.T) {
	type limit func(*http.Server, time.Duration)
	header := func(s *http.Server, d time.Duration) { s.ReadHeaderTimeout, s.IdleTimeout = d, 10*waitMax }
	read := func(s *http.Server, d time.Duration) { s.ReadTimeout = d }
	idle := func(s *http.Server, d time.Duration) { s.IdleTimeout = d }
	for _, c := range []struct {
		name string
		sent []string
		limit
		over bool // it is handed over
	}{
		{"a first request", []string{""}, header, false},
		{"a first request, by the time to read", []string{""}, read, false},
		{"the next one", []string{post("/echo", "x")}, idle, false},
		{"the next one, by the time to read", []string{post("/echo", "x")}, read, false},
		{"a header behind a request", []string{post("/echo", "x"), "POST /echo HT"}, header, true},
		{"a header", []string{"POST /echo HT"}, header, true},
		{"a body", []string{strings.TrimSuffix(post("/echo", "xyz"), "z")}, read, true},
	} {
		for brief := 50 * time.Millisecond; ; brief *= 4 {
			over, err := endsIn(t, func(s *http.Server) { c.limit(s, brief) }, c.sent)
			if err == nil && over == c.over {
				break
			}
			if errors.Is(err, os.ErrDeadlineExceeded) || brief > waitMax/4 {
				t.Errorf("%s, in %v: handed over %v, %v", c.name, brief, over, err)
				break
			}
		}
	}
}

// endsIn sends parts of requests on a connection, one after each answer, to a server with times, and waits for the connection's end.
// It says whether the connection was handed over; the error is that of a connection that is reset, since it was ended before all
// was sent, or that does not end in waitMax.
func endsIn(t *testing.T, set func(*http.Server), sent []string) (over bool, err error) {
	t.Helper()
	s := serve(t, true, routes(), set)
	conn := s.dial(t)
	answers := bufio.NewReader(conn)
	for i, text := range sent {
		if i > 0 {
			answer, err := http.ReadResponse(answers, nil)
			if err != nil {
				return false, err
			}
			if _, err := io.Copy(io.Discard, answer.Body); err != nil {
				return false, err
			}
		}
		if _, err := io.WriteString(conn, text); err != nil {
			return false, err
		}
	}
	_, err = io.Copy(io.Discard, answers)
	return s.quick.Counts().HandedOver > 0, err
}

// TestReaderThatStops: an answer that is not read ends in the time to write.
func TestReaderThatStops(t *testing.T) {
	failed := make(chan error, 1)
	s := serve(t, true, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				failed <- err
				return
			}
		}
	}), func(s *http.Server) { s.WriteTimeout = 50 * time.Millisecond })
	io.WriteString(s.dial(t), post("/echo", "x"))
	if err := <-failed; err == nil {
		t.Error("all was written")
	}
	eventually(t, "it is closed", func() bool { return s.quick.connections() == 0 })
}

// TestControl: a handler sets the deadlines of its connection.
func TestControl(t *testing.T) {
	s := serve(t, true, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c := http.NewResponseController(w)
		io.WriteString(w, errors.Join(c.SetReadDeadline(past), c.SetWriteDeadline(time.Now().Add(waitMax)), io.EOF).Error())
	}), nil)
	request := post("/echo", "x")
	conn := s.dial(t)
	for in, n := bufio.NewReader(conn), 0; n < 3; n++ { // of which none ends the next
		io.WriteString(conn, request)
		if answer := readOne(t, in); !strings.Contains(answer, "falseEOF<nil>") {
			t.Error(answer)
		}
	}
}

// TestPanic: a bug in a handler ends its connection alone, and is logged.
func TestPanic(t *testing.T) {
	s := serve(t, true, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { panic("at " + r.URL.Path) }), nil)
	if out := s.exchange(t, post("/say", "x")); out != "" {
		t.Errorf("%q", out)
	}
	s.quick.Close()
	s.shutdown(t)
	if !strings.Contains(s.errors.String(), "panic serving 127.0.0.1:") || !strings.Contains(s.errors.String(), "at /say") {
		t.Errorf("%q", s.errors)
	}
}

// failing is a listener whose first calls fail.
type failing struct {
	net.Listener
	errs chan error
}

func (f failing) Accept() (net.Conn, error) {
	select {
	case err := <-f.errs:
		return nil, err
	default:
		return f.Listener.Accept()
	}
}

// TestAcceptErrors: those of the inner listener are the server's to know of, and what comes behind them is served; its end is not told.
func TestAcceptErrors(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	errs := make(chan error, 2)
	errs <- io.ErrShortBuffer
	errs <- io.ErrNoProgress
	l := New(failing{inner, errs}, &http.Server{Handler: routes()}, []string{"/echo"})
	for _, want := range []error{io.ErrShortBuffer, io.ErrNoProgress} {
		if _, err := l.Accept(); err != want {
			t.Errorf("%v, want %v", err, want)
		}
	}
	go func() {
		c, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		io.WriteString(c, "GET / HT")
		c.Close()
	}()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if read, err := io.ReadAll(c); string(read) != "GET / HT" || err != nil {
		t.Errorf("%q, %v", read, err)
	}
	inner.Close()
	c.Close()
	ended := make(chan error)
	go func() {
		_, err := l.Accept()
		ended <- err
	}()
	select {
	case err := <-ended:
		t.Errorf("the end of the inner listener is told of: %v", err)
	case <-time.After(10 * time.Millisecond):
	}
	l.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if first, again := l.Close(), l.Close(); first != again {
		t.Errorf("%v, then %v", first, again)
	}
}
