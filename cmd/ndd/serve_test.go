package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"ndd/cmd/ndd/cli"
	"ndd/engine/oracle/must"
)

// An inServer is ndd serve in this process.
type inServer struct {
	ready string // the line on standard output; "" if it ended before
	ended chan error
	stop  context.CancelFunc
	said  *lockedBuffer
}

// serveHere runs ndd serve, without the program around it, until it is ready or has ended.
func serveHere(t *testing.T, args ...string) *inServer {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), waitMax)
	t.Cleanup(stop)
	s := &inServer{ended: make(chan error, 1), stop: stop, said: new(lockedBuffer)}
	r, w := io.Pipe()
	root := newRoot(&cli.Globals{Stdin: strings.NewReader(""), Stdout: w, Stderr: s.said})
	root.SetArgs(append([]string{"serve", "--threads", "2", "--listen", "127.0.0.1:0", "--admin", "off"}, args...))
	go func() {
		s.ended <- root.ExecuteContext(ctx)
		w.Close()
	}()
	s.ready, _ = bufio.NewReader(r).ReadString('\n')
	return s
}

// A lockedBuffer is a buffer for several goroutines.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

const servedText = "the quick brown fox jumps over the lazy dog while seven wizards brew strong coffee beneath a " +
	"pale moon number "

// TestServeLoad: folders of documents are loaded, the ready line says how many, and its command
// finds one of them with its near-duplicate.
func TestServeLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.txt": servedText + "one", "b.txt": servedText + "one", "short.txt": "too short",
		"page.html": "<html><body><p>an entirely different article on how sourdough bread rises slowly inside a cold " +
			"stone kitchen</p></body></html>",
		"more.jsonl": `{"id": "x", "text": "yet another text on the long history of lighthouses along the rocky northern ` +
			`coast"}` + "\n" +
			`{"broken` + "\n",
	} {
		writeFile(t, filepath.Join(dir, name), []byte(text))
	}
	s := serveHere(t, "--memory-only", "--load", dir, "-k", "2")
	m := regexp.MustCompile(`^ready: 4 documents, k=2, (http://\S+) \(1 too short, left out\) - ` +
		`try: curl -s (\S+) -d '(.*)'\n$`).FindStringSubmatch(s.ready)
	if m == nil {
		t.Fatalf("ready line %q\n%s", s.ready, s.said)
	}
	answer, err := post(m[2], "application/json", m[3])
	if err != nil || !strings.HasPrefix(answer, "200 ") || !strings.Contains(answer, "a.txt") ||
		!strings.Contains(answer, "b.txt") ||
		strings.Contains(answer, "page.html") {
		t.Errorf("%s %v", answer, err)
	}
	s.stop()
	must.Do(t, <-s.ended)
	for _, want := range []string{"in memory only", "more.jsonl:2", "draining"} {
		if !strings.Contains(s.said.String(), want) {
			t.Errorf("standard error without %q:\n%s", want, s.said)
		}
	}
}

// What cannot be served is said in one line, with the exit status that scripts
// rely on.
func TestServeRefuses(t *testing.T) {
	t.Parallel()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	defer busy.Close()
	none := filepath.Join(t.TempDir(), "none")
	raw := writePrints(t, make([]uint64, 10))
	index := builtIndex(t, raw)
	damaged := copyOf(t, index)
	segment := filepath.Join(damaged, "00000001.segment")
	data, err := os.ReadFile(segment)
	must.Do(t, err)
	data[len(data)/2] ^= 4
	writeFile(t, segment, data)
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"--memory-only --listen " + busy.Addr().String(), exitFailed, busy.Addr().String()},
		{"--memory-only --token-file " + none, exitFailed, none},
		{"--memory-only --load " + none, exitFailed, none},
		{"-i " + none, exitFailed, none},
		{"-i " + damaged, exitCorrupt, filepath.Base(segment)},
		{"-i " + index + " --load " + raw, exitCorrupt, "raw fingerprints"},
		{"-i " + index + " -k 2", exitUsage, "has k = 3"},
		{"-i " + index + " --design choose-5-2", exitUsage, "has the design"},
		{"--listen 0.0.0.0:0", exitUsage, "--token-file"},
		{"--listen nowhere", exitUsage, "host:port"},
		{"--memory-only -k 9", exitUsage, "0 to 8"},
		{"--memory-only --design none", exitUsage, "none"},
		{"--memory-only --recipe none", exitUsage, "none"},
		{"docs", exitUsage, "--load"},
		{"--sync sometimes -i " + index, exitUsage, "always, never and interval=DURATION"},
		{"--sync never --memory-only", exitUsage, "--sync applies only without --memory-only"},
		{"--on-conflict quarrel -i " + index, exitUsage, "replace, keep or error"},
	} {
		s := serveHere(t, strings.Fields(c.args)...)
		err := <-s.ended
		if got := exitStatus(t.Context(), err); got != c.status || err == nil || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("serve %s: status %d, %v; want %d, one line with %q", c.args, got, err, c.status, c.want)
		}
		if s.ready != "" {
			t.Errorf("serve %s: %q on standard output", c.args, s.ready)
		}
	}
}

// TestServeIndex: the index of a folder is served with its own k and names, takes inserts, and,
// with --memory-only, is not changed by them.
func TestServeIndex(t *testing.T) {
	t.Parallel()
	index := builtIndex(t, writePrints(t, []uint64{1, 1<<64 - 1}), "-k", "1")
	for range 2 { // the second finds what the first found
		s := serveHere(t, "--memory-only", "-i", index)
		m := regexp.MustCompile(`^ready: 2 documents, k=1, (http://\S+) `).FindStringSubmatch(s.ready)
		if m == nil {
			t.Fatalf("ready line %q\n%s", s.ready, s.said)
		}
		for _, c := range []struct{ path, body, want string }{
			{"query", `{"fingerprint": "0000000000000000"}`, `"documents":1,"ids":["0"]`},
			{"query", `{"text": "` + servedText + `"}`, "raw fingerprints"},
			{"insert", `{"id": "a", "fingerprint": "0000000000000000"}`, "keeps no ids: leave it out"},
			{"insert", `{"fingerprint": "0000000000000000"}`, `"inserted":true,"id":"2","number":2,`},
			{"query", `{"fingerprint": "0000000000000000", "k": 0}`, `"ids":["2"]`},
		} {
			answer, err := post(m[1]+"/v1/"+c.path, "application/json", c.body)
			if err != nil || !strings.Contains(answer, c.want) {
				t.Errorf("%s %s: %s %v, want %s", c.path, c.body, answer, err, c.want)
			}
		}
		s.stop()
		must.Do(t, <-s.ended)
	}
}

// post sends a request over a connection of its own and returns the status and the body of the
// answer.
func post(url, media, body string) (string, error) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	r, err := client.Post(url, media, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	return fmt.Sprintf("%d %s", r.StatusCode, data), err
}

// TestStopWithStdin: a server with --stop-with-stdin ends when standard input does, which here is
// at once.
func TestStopWithStdin(t *testing.T) {
	must.Do(t, <-serveHere(t, "--memory-only", "--stop-with-stdin").ended)
}
