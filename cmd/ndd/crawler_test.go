package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

// TestCrawlerProgram runs the Go program of 'ndd help crawler' against a server with faults: no page is lost, and a
// token that is refused ends it. The other programs of the page are run by .ci/api.
func TestCrawlerProgram(t *testing.T) {
	t.Parallel()
	source := guideCode(t, "crawler", "go")
	dir := t.TempDir()
	cmd := exec.Command("ndd", "serve", "--memory-only", "--listen", "127.0.0.1:0", "--admin", "off")
	cmd.Dir = dir
	served, err := startServed(cmd, dir)
	must.Do(t, err)
	t.Cleanup(served.end)
	page := "<p>the river rose two metres on Sunday night and flooded the lower town, and nobody was hurt"
	args := []string{faultyProxy(t, served.url, http.StatusRequestTimeout, http.StatusTooManyRequests,
		http.StatusServiceUnavailable, closesBefore, closesAfter)}
	for i, html := range []string{page, page + "<p>", "<p>Page not found.", "<p>" + strings.Repeat("a word ", 1<<21), "<p>Page not found."} {
		args = append(args, writeFile(t, filepath.Join(dir, fmt.Sprint(i)), []byte(html)))
	}
	root, err := os.Getwd()
	must.Do(t, err)
	messages, err := program(t, root, source, args...)
	messages = strings.ReplaceAll(messages, dir+string(filepath.Separator), "")
	for i, want := range []string{"0 is new, as before", "1 is near 0", "2 is not compared: body: document too short",
		"3 is not compared: body: more than", "4 is not compared: body: document too short"} {
		if lines := strings.Split(messages, "\n"); err != nil || len(lines) != 6 || !strings.HasPrefix(lines[i], want) {
			t.Fatalf("%v\n%swithout %q", err, messages, want)
		}
	}
	args[0] = faultyProxy(t, served.url, http.StatusUnauthorized)
	if messages, err = program(t, root, source, args...); err == nil || !strings.Contains(messages, "attempt 1: 401 Unauthorized: a fault") ||
		strings.Contains(messages, "is ne") {
		t.Errorf("with a wrong token: %v\n%s", err, messages)
	}
}

// Faults that are no statuses: the connection is closed before the request is carried out, or after.
const (
	closesBefore = iota
	closesAfter
)

// faultyProxy returns the address of a server that has some faults, one for each request, and then forwards requests.
func faultyProxy(t *testing.T, to string, faults ...int) string {
	t.Helper()
	target, err := url.Parse(to)
	must.Do(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(faults) == 0 {
			proxy.ServeHTTP(w, r)
			return
		}
		fault := faults[0]
		faults = faults[1:]
		switch fault {
		case closesAfter:
			proxy.ServeHTTP(httptest.NewRecorder(), r)
			fallthrough
		case closesBefore:
			panic(http.ErrAbortHandler)
		case http.StatusUnauthorized:
		default:
			w.Header().Set("Retry-After", "0")
		}
		w.WriteHeader(fault)
		fmt.Fprint(w, `{"detail": "a fault"}`)
	}))
	t.Cleanup(server.Close)
	return server.URL
}
