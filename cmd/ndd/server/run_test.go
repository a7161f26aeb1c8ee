package server

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"example.org/ndd/engine"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle/must"
)

// serverRun is a server that Run runs.
type serverRun struct {
	t       *testing.T
	stop    context.CancelFunc
	lines   chan string // lines of standard output
	ended   chan error
	journal *journal
	hangup  chan os.Signal
}

// runServer starts Run; load makes the index. Without hooks for its end it gives clients no notice.
func runServer(t *testing.T, o Options, load func(context.Context, *LoadProgress) (*engine.Index, error)) *serverRun {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &serverRun{t: t, stop: cancel, lines: make(chan string, 10), ended: make(chan error, 1), journal: new(journal),
		hangup: make(chan os.Signal)}
	o.Listen = cmp.Or(o.Listen, "127.0.0.1:0")
	if o.notice == nil && o.drainMax == 0 {
		o.notice = func() {}
	}
	o.Load, o.Ready, o.Reload = load, r, r.hangup
	o.Log = slog.New(slog.NewTextHandler(r.journal, nil))
	go func() { r.ended <- Run(ctx, o) }()
	t.Cleanup(cancel)
	return r
}

// loads returns a function that makes an index of fingerprints.
func loads(t *testing.T, fingerprints []uint64) func(context.Context, *LoadProgress) (*engine.Index, error) {
	return func(context.Context, *LoadProgress) (*engine.Index, error) {
		return newIndex(t, 3, nil, fingerprints), nil
	}
}

// end stops the server, and fails the test if Run returns an error.
func (r *serverRun) end() {
	r.t.Helper()
	r.stop()
	must.Do(r.t, r.wait())
}

// Write takes the ready line.
func (r *serverRun) Write(p []byte) (int, error) {
	r.lines <- string(p)
	return len(p), nil
}

// wait is the end of Run.
func (r *serverRun) wait() error {
	r.t.Helper()
	select {
	case err := <-r.ended:
		return err
	case <-time.After(waitMax):
		r.t.Fatal("the server did not end")
		return nil
	}
}

func (r *serverRun) readyLine() string {
	r.t.Helper()
	select {
	case line := <-r.lines:
		return line
	case err := <-r.ended:
		r.t.Fatalf("ended before it was ready: %v", err)
	case <-time.After(waitMax):
		r.t.Fatal("not ready")
	}
	return ""
}

// address returns the address of the server from the ready line.
func (r *serverRun) address() string {
	r.t.Helper()
	line := r.readyLine()
	m := regexp.MustCompile(`https?://(\S+)`).FindStringSubmatch(line)
	if m == nil {
		r.t.Fatalf("no address: %s", line)
	}
	return m[1]
}

// client returns the server as a client sees it, from the ready line on.
func (r *serverRun) client() *target {
	r.t.Helper()
	return &target{"http://" + r.address(), client(r.t)}
}

// listenerHere returns a listener at a free port, for tests that need the address before the server starts.
func listenerHere(t *testing.T) (l net.Listener, address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	t.Cleanup(func() { l.Close() })
	return l, l.Addr().String()
}

// client returns a client that closes its connections.
func client(t *testing.T) *http.Client {
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// TestLife checks the phases of a server: live at once, not ready while it loads, one line when it is ready, and ended
// after the signal.
func TestLife(t *testing.T) {
	proceed := make(chan struct{})
	front, address := listenerHere(t)
	back, adminAddress := listenerHere(t)
	c, admin := target{"http://" + address, client(t)}, target{"http://" + adminAddress, client(t)}
	front.Close()
	back.Close()
	r := runServer(t, Options{Listen: address, Admin: adminAddress}, func(_ context.Context, l *LoadProgress) (*engine.Index,
		error) {
		l.Stage("reading documents")
		x := newIndex(t, 3, nil, []uint64{7})
		l.Loaded(7)
		<-proceed
		l.Loaded(9) // the line has the first one
		return x, nil
	})
	must.Eventually(t, "it listens", func() bool {
		status, _, err := once(c.client.Get("http://" + address + "/livez"))
		return err == nil && status == http.StatusOK
	})
	must.Eventually(t, "it says how far it is", func() bool {
		status, header, body := c.do(t, c.request(t, "GET /readyz", "", ""))
		return status == http.StatusServiceUnavailable && header.Get("Retry-After") != "" &&
			strings.Contains(body, "reading documents, 1 document so far")
	})
	for _, what := range []string{"/v1/query", "/v1/batch", "/v1/insert", "GET /v1/stats"} {
		c.wants(t, http.StatusServiceUnavailable, what, "", "", "loading: ")
	}
	close(proceed)
	if line := r.readyLine(); !strings.HasPrefix(line,
		"ready: 1 document, k=3, http://"+address+" - try: curl -s http://"+address+"/v1/query -d '{\"fingerprint\": "+
			"\"0000000000000007\"}'\n") {
		t.Errorf("ready line %q", line)
	}
	c.wants(t, http.StatusOK, "/v1/query", "", `{"fingerprint": "0000000000000007"}`, `"distance":0`)
	c.wants(t, http.StatusOK, "GET /readyz", "", "")
	admin.wants(t, http.StatusOK, "GET /metrics", "", "", "ndd_index_documents 1")
	r.end()
	if len(r.lines) != 0 {
		t.Errorf("more than one line on standard output: %q", <-r.lines)
	}
}

// TestStopWhileLoading checks that a signal cancels the context of loading. The server does not print the ready line.
// If loading succeeds at that moment, the index is closed.
func TestStopWhileLoading(t *testing.T) {
	for _, ends := range []func(context.Context) (*engine.Index, error){
		func(ctx context.Context) (*engine.Index, error) { return nil, context.Cause(ctx) },
		func(context.Context) (*engine.Index, error) { return newIndex(t, 3, nil, nil), nil }, // goleak sees its sealer
	} {
		loading := make(chan struct{})
		r := runServer(t, Options{}, func(ctx context.Context, _ *LoadProgress) (*engine.Index, error) {
			close(loading)
			<-ctx.Done()
			return ends(ctx)
		})
		<-loading
		if r.end(); len(r.lines) != 0 {
			t.Errorf("%d lines", len(r.lines))
		}
	}
}

// TestStartErrors checks that Run returns the errors of the start, with the address or file.
func TestStartErrors(t *testing.T) {
	_, busy := listenerHere(t)
	none := filepath.Join(t.TempDir(), "none")
	errLoad := errors.New("segment 3: cannot be read")
	empty := loads(t, nil)
	for _, c := range []struct {
		name string
		o    Options
		load func(context.Context, *LoadProgress) (*engine.Index, error)
		want string
	}{
		{"the address is taken", Options{Listen: busy}, empty, "--listen " + busy + ": another program listens there"},
		{"the admin address is taken", Options{Admin: busy}, empty, "--admin " + busy + ": another program listens there"},
		{"no token file", Options{Access: Access{TokenFile: none}}, empty, none},
		{"an open address", Options{Listen: "0.0.0.0:0"}, empty, "--token-file"},
		{"an address that is none", Options{Listen: "here"}, empty, "host:port"},
		{"too little memory", Options{Storage: Storage{Budget: memory.NewBudget(memory.Set(96<<20 - 1))}}, empty,
			"--memory must be at least 96 MiB"},
		{"no key", Options{Access: Access{TLSCert: "a"}}, empty, "--tls-cert and --tls-key need each other"},
		{"no certificate", Options{Access: Access{TLSKey: "a"}}, empty, "--tls-cert and --tls-key need each other"},
		{"no such certificate", Options{Access: Access{TLSCert: "no-such-cert", TLSKey: "no-such-key"}}, empty,
			"no-such-cert"},
		{"loading fails", Options{}, func(context.Context, *LoadProgress) (*engine.Index, error) { return nil, errLoad },
			"segment 3"},
	} {
		r := runServer(t, c.o, c.load)
		if err := r.wait(); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", c.name, err, c.want)
		}
	}
}

// TestExampleWorks checks that the command of the ready line also works if nothing was loaded.
func TestExampleWorks(t *testing.T) {
	r := runServer(t, Options{}, func(context.Context, *LoadProgress) (*engine.Index, error) {
		return newIndex(t, 3, defaultRecipe(), nil), nil
	})
	line := r.readyLine()
	m := regexp.MustCompile(` - try: curl -s (\S+/v1/check-and-insert) -d '([^']*)'\n$`).FindStringSubmatch(line)
	if m == nil {
		t.Fatal(line)
	}
	x := target{m[1], client(t)}
	x.wants(t, http.StatusOK, "", "", m[2], `"inserted":true`)
	r.end()
}

// TestUnixSocket checks that a server at unix:PATH answers at that socket, only to its owner. A second server is
// refused, and the socket of a killed server is replaced.
func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	remaining, err := net.Listen("unix", path)
	must.Do(t, err)
	remaining.(*net.UnixListener).SetUnlinkOnClose(false)
	remaining.Close() // like a killed server, leave the socket
	load := loads(t, []uint64{7})
	r := runServer(t, Options{Listen: "unix:" + path}, load)
	if line := r.readyLine(); !strings.Contains(line, "curl -s --unix-socket "+path+" http://localhost/v1/") {
		t.Errorf("%s", line)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	c := client(t)
	c.Transport.(*http.Transport).DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
	x := target{"http://localhost", c}
	x.wants(t, http.StatusOK, "GET /v1/stats", "", "")
	if err := runServer(t, Options{Listen: "unix:" + path}, load).wait(); err == nil || !strings.Contains(err.Error(),
		"another program listens there") {
		t.Errorf("a second server: %v", err)
	}
}

var restarts = flag.Int("restarts", 2, "times that TestDrainUnderLoad stops a server")

// TestDrainUnderLoad stops a server under load several times. No request may be aborted, and /readyz must fail before
// other requests do. A client stops when the server closes its connection, because one that reconnects could meet the
// closed listener. The notice lasts until all clients have stopped, even on a slow machine.
func TestDrainUnderLoad(t *testing.T) {
	for round := range *restarts {
		t.Run(fmt.Sprint("round ", round), func(t *testing.T) { drainUnderLoad(t, int64(20*(round%8+1))) })
	}
}

// drainUnderLoad stops a server after a number of requests, while others run. During the notice all requests are
// answered, and their connections are closed after the answer. Then no client can connect.
func drainUnderLoad(t *testing.T, requests int64) {
	const clients = 8
	var group sync.WaitGroup
	c := client(t)
	allTold := make(chan struct{})
	r := runServer(t, Options{hooks: hooks{notice: func() { <-allTold }}}, loads(t, []uint64{0}))
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
				status, closes, err := once(c.Post("http://"+address+path, "", strings.NewReader(body)))
				switch {
				case err != nil:
					t.Errorf("%s: %v", path, err)
					return
				case status == http.StatusOK && closes:
					return
				case status == http.StatusOK:
					served.Add(1)
				case status == http.StatusTooManyRequests: // refused after a second, because others made no progress
				default:
					t.Errorf("%s: %d", path, status)
					return
				}
			}
		})
	}
	must.Eventually(t, "load", func() bool { return served.Load() > requests || t.Failed() })
	r.stop()
	must.Eventually(t, "it is not ready", func() bool {
		status, _, err := once(c.Get("http://" + address + "/readyz"))
		return err == nil && status == http.StatusServiceUnavailable
	})
	group.Wait()             // each client got an answer or failed
	c.CloseIdleConnections() // also connections without a request, which the server waits for
	close(allTold)
	must.Do(t, r.wait())
	var op *net.OpError // there is no connection to send a request on
	if _, _, err := once(c.Get("http://" + address + "/readyz")); !errors.As(err, &op) || op.Op != "dial" {
		t.Errorf("when it has ended: %v", err)
	}
}

// once reads an answer, and reports whether the connection is closed after it.
func once(a *http.Response, err error) (status int, closes bool, _ error) {
	if err != nil {
		return 0, false, err
	}
	defer a.Body.Close()
	_, err = io.Copy(io.Discard, a.Body)
	return a.StatusCode, a.Close, err
}

// linesOfLongAnswer is more than sockets hold: 24 MB.
const linesOfLongAnswer = 600_000

// longAnswer asks a server for that many lines, and reads the header: the request runs until all is read.
func longAnswer(t *testing.T, address string) io.Reader {
	t.Helper()
	c, err := net.Dial("tcp", address)
	must.Do(t, err)
	t.Cleanup(func() { c.Close() })
	const queries = linesOfLongAnswer / 3000
	fmt.Fprintf(c, "POST /v1/batch HTTP/1.0\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", 8*queries,
		make([]byte, 8*queries))
	a, err := http.ReadResponse(bufio.NewReader(c), nil)
	must.Do(t, err)
	return a.Body
}

// TestDrainFinishesWhatRuns checks that requests that run when the signal arrives are finished. The server accepts
// connections during the notice, and none afterwards.
func TestDrainFinishesWhatRuns(t *testing.T) {
	t.Parallel()
	r := runServer(t, Options{hooks: hooks{drainMax: waitMax}}, loads(t, make([]uint64, 3000)))
	address := r.address()
	answer, stopped := longAnswer(t, address), time.Now()
	r.stop()
	must.Eventually(t, "not listening", func() bool {
		other, err := net.Dial("tcp", address)
		if err == nil {
			other.Close()
		}
		return err != nil
	})
	if took := time.Since(stopped); took < drainNotice {
		t.Errorf("the notice was %v, want %v", took, drainNotice)
	}
	text, err := io.ReadAll(answer)
	if n := bytes.Count(text, []byte("\trow-")); err != nil || n != linesOfLongAnswer {
		t.Errorf("%d lines, %v", n, err)
	}
	must.Do(t, r.wait())
}

// TestDrainCutsOff checks that requests that do not end are cut off, so that the process ends within 10 s.
func TestDrainCutsOff(t *testing.T) {
	if drainNotice+drainMax > 9*time.Second {
		t.Errorf("%v of notice and %v after it", drainNotice, drainMax)
	}
	r := runServer(t, Options{hooks: hooks{notice: func() {}, drainMax: 50 * time.Millisecond}},
		loads(t, make([]uint64, 3000)))
	answer := longAnswer(t, r.address())
	r.stop()
	if err := r.wait(); err != nil || !strings.Contains(r.journal.String(), "after 50ms and were cut off") {
		t.Errorf("ended with %v: %s", err, r.journal)
	}
	text, err := io.ReadAll(answer)
	if bytes.Count(text, []byte("\trow-")) >= linesOfLongAnswer {
		t.Error("the answer is whole: it did not wait to be read")
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the answer, over HTTP/1.0, looks whole: %v", err)
	}
}
