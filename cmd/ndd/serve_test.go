package main

import (
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
)

// serveCommand runs `ndd serve` with arguments, without the program around it,
// until ctx ends; the lines of standard output come from the channel.
func serveCommand(ctx context.Context, args ...string) (lines chan string, ended chan error, stderr *lockedBuffer) {
	out := &lineWriter{lines: make(chan string, 10)}
	stderr = new(lockedBuffer)
	root := newRoot(&cli.Globals{Stdin: strings.NewReader(""), Stdout: out, Stderr: stderr})
	root.SetArgs(append([]string{"serve", "--threads", "2", "--listen", "127.0.0.1:0", "--admin", "off"}, args...))
	ended = make(chan error, 1)
	go func() { ended <- root.ExecuteContext(ctx) }()
	return out.lines, ended, stderr
}

type lineWriter struct{ lines chan string }

func (w *lineWriter) Write(p []byte) (int, error) {
	w.lines <- string(p)
	return len(p), nil
}

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

const servedText = "the quick brown fox jumps over the lazy dog while seven wizards brew strong coffee beneath a pale moon number "

// Folders of documents are loaded, the line says how many, and its command
// finds one of them with its near-duplicate.
func TestServeLoad(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.txt": servedText + "one", "b.txt": servedText + "one", "short.txt": "too short",
		"page.html":  "<html><body><p>an entirely different article on how sourdough bread rises slowly inside a cold stone kitchen</p></body></html>",
		"more.jsonl": `{"id": "x", "text": "yet another text on the long history of lighthouses along the rocky northern coast"}` + "\n" + `{"broken` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	lines, ended, stderr := serveCommand(ctx, "--memory-only", "--load", dir, "-k", "2")
	var line string
	select {
	case line = <-lines:
	case err := <-ended:
		t.Fatalf("ended: %v\n%s", err, stderr)
	case <-time.After(waitMax):
		t.Fatalf("not ready: %s", stderr)
	}
	m := regexp.MustCompile(`^ready: 4 documents, k=2, (http://\S+) \(1 too short, left out\) - try: curl -s (\S+) -H 'Content-Type: text/plain' --data-binary @(\S+/[ab]\.txt)\n$`).FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("ready line %q", line)
	}
	data, err := os.ReadFile(m[3])
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	r, err := (&http.Client{Transport: transport}).Post(m[2], "text/plain", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(r.Body)
	r.Body.Close()
	if err != nil || r.StatusCode != http.StatusOK || !strings.Contains(string(answer), "a.txt") || !strings.Contains(string(answer), "b.txt") || strings.Contains(string(answer), "page.html") {
		t.Errorf("%d %s %v", r.StatusCode, answer, err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("ended with %v", err)
	}
	for _, want := range []string{"in memory only", "more.jsonl:2", "draining"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("standard error without %q:\n%s", want, stderr)
		}
	}
}

// What cannot be served is said in one line, with the exit status that scripts
// rely on.
func TestServeRefuses(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	none := filepath.Join(t.TempDir(), "none")
	raw := filepath.Join(t.TempDir(), "raw.bin")
	if err := os.WriteFile(raw, make([]byte, 80), 0o644); err != nil {
		t.Fatal(err)
	}
	index := builtIndex(t, raw)
	damaged := filepath.Join(t.TempDir(), "damaged")
	if err := os.CopyFS(damaged, os.DirFS(index)); err != nil {
		t.Fatal(err)
	}
	segments, err := filepath.Glob(filepath.Join(damaged, "*.segment"))
	if err != nil || len(segments) != 1 {
		t.Fatal(segments, err)
	}
	data, err := os.ReadFile(segments[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 4
	if err := os.WriteFile(segments[0], data, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"--memory-only --listen " + busy.Addr().String(), exitFailed, busy.Addr().String()},
		{"--memory-only --token-file " + none, exitFailed, none},
		{"--memory-only --load " + none, exitFailed, none},
		{"-i " + none, exitFailed, none},
		{"-i " + damaged, exitCorrupt, filepath.Base(segments[0])},
		{"-i " + index + " --load " + raw, exitCorrupt, "raw fingerprints"},
		{"-i " + index + " -k 2", exitUsage, "--distance"},
		{"-i " + index + " --design paper-4", exitUsage, "--design"},
		{"--listen 0.0.0.0:0", exitUsage, "--token-file"},
		{"--listen nowhere", exitUsage, "host:port"},
		{"--memory-only -k 9", exitUsage, "0 to 8"},
		{"--memory-only --design none", exitUsage, "none"},
		{"--memory-only --format pdf", exitUsage, "pdf"},
		{"docs", exitUsage, "--load"},
		{"--sync sometimes -i " + index, exitUsage, "always, never and interval=DURATION"},
		{"--sync never --memory-only", exitUsage, "--sync applies only without --memory-only"},
		{"--on-conflict quarrel -i " + index, exitUsage, "replace, keep or error"},
	} {
		ctx, stop := context.WithTimeout(context.Background(), waitMax)
		lines, ended, _ := serveCommand(ctx, strings.Fields(c.args)...)
		err := <-ended
		if got := exitStatus(ctx, err); got != c.status || err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("serve %s: status %d, %v; want %d, one line with %q", c.args, got, err, c.status, c.want)
		}
		if len(lines) != 0 {
			t.Errorf("serve %s: %q on standard output", c.args, <-lines)
		}
		stop()
	}
}

// An index of a folder is served with its own k and names, takes inserts, and, with --memory-only, is
// not changed by them.
func TestServeIndex(t *testing.T) {
	raw := filepath.Join(t.TempDir(), "raw.bin")
	if err := os.WriteFile(raw, []byte("\x01\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"), 0o644); err != nil {
		t.Fatal(err)
	}
	index := builtIndex(t, raw, "-k", "1")
	for range 2 { // the second finds what the first found
		ctx, stop := context.WithCancel(context.Background())
		lines, ended, stderr := serveCommand(ctx, "--memory-only", "-i", index)
		var line string
		select {
		case line = <-lines:
		case err := <-ended:
			t.Fatalf("ended: %v\n%s", err, stderr)
		}
		m := regexp.MustCompile(`^ready: 2 documents, k=1, (http://\S+) `).FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("ready line %q", line)
		}
		for _, c := range []struct{ path, body, want string }{
			{"query", `{"fingerprint": "0000000000000000"}`, `"documents":1,"ids":["0"]`},
			{"query", `{"text": "` + servedText + `"}`, "raw fingerprints"},
			{"insert", `{"id": "a", "fingerprint": "0000000000000000"}`, "keeps no ids: leave it out"},
			{"insert", `{"fingerprint": "0000000000000000"}`, `"inserted":true,"id":"2","number":2,`},
			{"query", `{"fingerprint": "0000000000000000", "k": 0}`, `"ids":["2"]`},
		} {
			body, err := post(m[1]+"/v1/"+c.path, c.body)
			if err != nil || !strings.Contains(body, c.want) {
				t.Errorf("%s %s: %s %v, want %s", c.path, c.body, body, err, c.want)
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Errorf("ended with %v", err)
		}
	}
}

func post(url, body string) (string, error) {
	r, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	return fmt.Sprintf("%d %s", r.StatusCode, data), err
}
