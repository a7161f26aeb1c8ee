package server

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"ndd/engine"
	"ndd/engine/corpus/simhash"
)

// running is a server that Run runs.
type running struct {
	t       *testing.T
	stop    context.CancelFunc
	lines   chan string // of standard output
	ended   chan error
	journal *journal
	hangup  chan os.Signal
}

// runServer starts Run; load makes the index.
func runServer(t *testing.T, o Options, load func(context.Context, *Loading) (*engine.Index, error)) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{t: t, stop: cancel, lines: make(chan string, 10), ended: make(chan error, 1), journal: new(journal), hangup: make(chan os.Signal)}
	o.Listen = cmp.Or(o.Listen, "127.0.0.1:0")
	o.Load, o.Ready, o.Reload = load, r, r.hangup
	o.Log = slog.New(slog.NewTextHandler(r.journal, nil))
	go func() { r.ended <- Run(ctx, o) }()
	t.Cleanup(cancel)
	return r
}

// Write takes the ready line.
func (r *running) Write(p []byte) (int, error) {
	r.lines <- string(p)
	return len(p), nil
}

// wait is the end of Run.
func (r *running) wait() error {
	r.t.Helper()
	select {
	case err := <-r.ended:
		return err
	case <-time.After(waitMax):
		r.t.Fatal("the server did not end")
		return nil
	}
}

func (r *running) readyLine() string {
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

// address is where the server listens, from the ready line.
func (r *running) address() string {
	r.t.Helper()
	_, after, _ := strings.Cut(r.readyLine(), "http://")
	address, _, found := strings.Cut(after, " ")
	if !found {
		r.t.Fatalf("no address: %s", after)
	}
	return address
}

// listenerHere is one at a free port, for who must know its address before the server says it.
func listenerHere(t *testing.T) (l net.Listener, address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, l.Addr().String()
}

// client is one that leaves no connection behind.
func client(t *testing.T) *http.Client {
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

func get(c *http.Client, method, url, body string) (int, http.Header, string, error) {
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return 0, nil, "", err
	}
	a, err := c.Do(r)
	if err != nil {
		return 0, nil, "", err
	}
	defer a.Body.Close()
	data, err := io.ReadAll(a.Body)
	return a.StatusCode, a.Header, string(data), err
}

// A life: live at once, not ready while loading, one line when ready, gone
// after the signal.
func TestLife(t *testing.T) {
	proceed := make(chan struct{})
	c := client(t)
	front, address := listenerHere(t)
	back, adminAddress := listenerHere(t)
	r := runServer(t, Options{Admin: adminAddress, Inherited: map[string]net.Listener{"listen": front, "admin": back}}, func(_ context.Context, l *Loading) (*engine.Index, error) {
		l.Stage("reading documents")
		x := newIndex(t, 3, nil, []uint64{7})
		l.Loaded("row-0", 7)
		<-proceed
		return x, nil
	})
	eventually(t, "it listens", func() bool {
		status, _, _, err := get(c, "GET", "http://"+address+"/livez", "")
		return err == nil && status == http.StatusOK
	})
	eventually(t, "it says how far it is", func() bool {
		status, header, body, err := get(c, "GET", "http://"+address+"/readyz", "")
		return err == nil && status == http.StatusServiceUnavailable && header.Get("Retry-After") != "" && strings.Contains(body, "reading documents, 1 document so far")
	})
	for _, path := range []string{"POST /v1/query", "POST /v1/batch", "POST /v1/insert", "GET /v1/stats"} {
		method, path, _ := strings.Cut(path, " ")
		if status, _, body, err := get(c, method, "http://"+address+path, ""); err != nil || status != http.StatusServiceUnavailable {
			t.Errorf("%s while loading: %d %s %v", path, status, body, err)
		}
	}
	close(proceed)
	if line := r.readyLine(); !strings.HasPrefix(line, "ready: 1 document, k=3, http://"+address+" - try: curl -s http://"+address+"/v1/query -d '{\"fingerprint\": \"0000000000000007\"}'\n") {
		t.Errorf("ready line %q", line)
	}
	if status, _, body, err := get(c, "GET", "http://"+address+"/readyz", ""); err != nil || status != http.StatusOK {
		t.Errorf("/readyz: %d %s %v", status, body, err)
	}
	if status, _, body, err := get(c, "GET", "http://"+adminAddress+"/metrics", ""); err != nil || status != http.StatusOK || !strings.Contains(body, "ndd_index_documents 1") {
		t.Errorf("/metrics: %d %v", status, err)
	}
	r.stop()
	if err := r.wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
	if len(r.lines) != 0 {
		t.Errorf("more than one line on standard output: %q", <-r.lines)
	}
}

// A signal while loading ends it: loading is told, and nothing is said to be
// ready.
func TestStopWhileLoading(t *testing.T) {
	loading := make(chan struct{})
	r := runServer(t, Options{}, func(ctx context.Context, _ *Loading) (*engine.Index, error) {
		close(loading)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	})
	<-loading
	r.stop()
	if err := r.wait(); err != nil || len(r.lines) != 0 {
		t.Errorf("ended with %v, %d lines", err, len(r.lines))
	}
}

// A load that ends well just when the signal comes leaves no index open.
func TestStopAsLoadingEnds(t *testing.T) {
	loading := make(chan struct{})
	r := runServer(t, Options{}, func(ctx context.Context, _ *Loading) (*engine.Index, error) {
		close(loading)
		<-ctx.Done()
		return newIndex(t, 3, nil, nil), nil // goleak sees its sealer unless it is closed
	})
	<-loading
	r.stop()
	if err := r.wait(); err != nil {
		t.Errorf("ended with %v", err)
	}
}

// Errors of the start come back as they are, and name their place.
func TestStartErrors(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	busy := taken.Addr().String()
	none := filepath.Join(t.TempDir(), "none")
	errLoad := errors.New("segment 3: cannot be read")
	empty := func(context.Context, *Loading) (*engine.Index, error) { return newIndex(t, 3, nil, nil), nil }
	for _, c := range []struct {
		name string
		o    Options
		load func(context.Context, *Loading) (*engine.Index, error)
		want string
	}{
		{"the address is taken", Options{Listen: busy}, empty, "--listen " + busy + ": another program listens there"},
		{"the admin address is taken", Options{Admin: busy}, empty, "--admin " + busy + ": another program listens there"},
		{"no token file", Options{TokenFile: none}, empty, none},
		{"an open address", Options{Listen: "0.0.0.0:0"}, empty, "--token-file"},
		{"an address that is none", Options{Listen: "here"}, empty, "host:port"},
		{"loading fails", Options{}, func(context.Context, *Loading) (*engine.Index, error) { return nil, errLoad }, "segment 3"},
	} {
		r := runServer(t, c.o, c.load)
		if err := r.wait(); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want one line with %q", c.name, err, c.want)
		}
	}
}

func TestHangupReadsTokens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(path, []byte(tokenLines), 0o600); err != nil {
		t.Fatal(err)
	}
	r := runServer(t, Options{TokenFile: path}, func(context.Context, *Loading) (*engine.Index, error) { return newIndex(t, 3, nil, nil), nil })
	if line := r.readyLine(); !strings.Contains(line, "$TOKEN") {
		t.Errorf("the command has no token: %s", line)
	}
	r.hangup <- syscall.SIGHUP
	eventually(t, "it is read", func() bool { return strings.Contains(r.journal.String(), "token file read again") })
	r.stop()
	if err := r.wait(); err != nil {
		t.Error(err)
	}
}

// The command of the ready line works, and finds a document that was loaded:
// the one with a near-duplicate, as its file where that gives the same
// fingerprint.
func TestExampleWorks(t *testing.T) {
	dir := t.TempDir()
	f, err := simhash.New(simhash.Default())
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	printA, _, _ := f.Fingerprint(pageA)
	printB, _, _ := f.Fingerprint(pageB)
	for _, c := range []struct {
		name string
		docs []engine.Doc
		want string // in the command
		hits int
	}{
		{"a text", []engine.Doc{{Fingerprint: printA, ID: write("a.txt", pageA)}}, "text/plain", 1},
		{"a page", []engine.Doc{{Fingerprint: printA, ID: write("a.html", "<script>no noise</script><p>"+pageA)}}, "text/html", 1},
		{"the one of many that has a double", []engine.Doc{{Fingerprint: printB, ID: write("b.txt", pageB)}, {Fingerprint: printA, ID: write("a1.txt", pageA)}, {Fingerprint: printA ^ 1, ID: "elsewhere"}}, "a1.txt", 2},
		{"a line of a file", []engine.Doc{{Fingerprint: printA, ID: write("lines.jsonl", "{}") + ":1"}}, `"fingerprint": "` + printA.String(), 1},
		{"a file that has changed", []engine.Doc{{Fingerprint: printA, ID: write("changed.txt", pageB)}}, `"fingerprint"`, 1},
		{"a name that a shell takes apart", []engine.Doc{{Fingerprint: printA, ID: write("a b.txt", pageA)}}, `"fingerprint"`, 1},
		{"nothing loaded", nil, "check-and-insert", 0},
	} {
		r := runServer(t, Options{notice: func() {}}, func(_ context.Context, l *Loading) (*engine.Index, error) {
			x := newIndex(t, 3, defaultRecipe(), nil)
			for _, d := range c.docs {
				l.Loaded(d.ID, d.Fingerprint)
			}
			_, err := x.Insert(t.Context(), c.docs...)
			return x, err
		})
		line := r.readyLine()
		_, command, _ := strings.Cut(line, " - try: ")
		if !strings.Contains(command, c.want) {
			t.Errorf("%s: no %q in %s", c.name, c.want, command)
		}
		status, body := called(t, command)
		if n := strings.Count(body, `"distance"`); status != http.StatusOK || n != c.hits {
			t.Errorf("%s: %s: %d %s", c.name, command, status, body)
		}
		r.stop()
		if err := r.wait(); err != nil {
			t.Error(err)
		}
	}
}

var curlForm = regexp.MustCompile(`^curl -s (\S+)(?: -H '([^']+): ([^']+)')? (-d '([^']*)'|--data-binary @(\S+))\n$`)

// called does what the command would.
func called(t *testing.T, command string) (int, string) {
	t.Helper()
	m := curlForm.FindStringSubmatch(command)
	if m == nil {
		t.Fatalf("not a command that this test understands: %q", command)
	}
	body := []byte(m[5])
	if m[6] != "" {
		var err error
		if body, err = os.ReadFile(m[6]); err != nil {
			t.Fatal(err)
		}
	}
	r, err := http.NewRequest("POST", m[1], bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if m[2] != "" {
		r.Header.Set(m[2], m[3])
	}
	a, err := client(t).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	data, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(data)
}
