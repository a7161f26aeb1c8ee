package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"ndd/cmd/ndd/server/admit"
	"ndd/cmd/ndd/server/conns"
)

// netHTTP serves a service by net/http alone, beside the server of the test.
func netHTTP(t *testing.T, b *bench) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	l := conns.Limit(s.Listener, b.limits.Connections)
	s.Listener, s.Config = l, b.serverOf(l, b.handler(true))
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// converse sends requests on a connection, each behind the answer to the one before, and returns the answers as they come, without their dates.
func converse(t *testing.T, at net.Addr, requests ...string) (answers []string) {
	t.Helper()
	c, err := net.Dial("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(waitMax))
	var text strings.Builder
	for in := bufio.NewReader(io.TeeReader(c, &text)); len(requests) > 0; requests = requests[1:] {
		text.Reset()
		io.WriteString(c, requests[0]) // where it fails, there is no answer
		a, err := http.ReadResponse(in, nil)
		if err != nil {
			return append(answers, "closed")
		}
		io.Copy(io.Discard, a.Body)
		answers = append(answers, dateLine.ReplaceAllString(text.String(), ""))
	}
	return answers
}

var dateLine = regexp.MustCompile(`Date: [^\r]*\r\n`)

// plainRequest is one that is answered without net/http.
func plainRequest(path, body string, headers ...string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%s\r\n%s", path, len(body), strings.Join(append(headers, ""), "\r\n"), body)
}

const (
	asJSON    = "Content-Type: application/json"
	asReader  = "Authorization: Bearer read-token-0123456789"
	tokensFew = "read-token-0123456789 read\nwrite-token-0123456789 write\n"
)

// variousRequests are good ones and bad ones, none of which changes anything.
var variousRequests = []string{
	plainRequest("/v1/query", `{"fingerprint": "0000000000000000"}`), plainRequest("/v1/query", `{"fingerprint": "0000000000000001", "k": 1}`, asJSON, asReader),
	plainRequest("/v1/query", `{"fingerprint": "00ff00ff00ff00ff"}`, asJSON, asReader), plainRequest("/v1/query", `{"fingerprint": "0000000000000000", "limit": 65536}`, asJSON, asReader),
	plainRequest("/v1/query", `{"fingerprint": "0000000000000000", "k": 3.0}`, asJSON, asReader), plainRequest("/v1/query", `{"fingerprint": "0000000000000000", "limit": 100.0}`, asJSON, asReader),
	plainRequest("/v1/query", `{"text": "`+pageA+`"}`, asJSON, asReader), plainRequest("/v1/query", pageA, "Content-Type: text/plain", asReader), plainRequest("/v1/query", "<p>"+pageA, "Content-Type: text/html; charset=utf-8", asReader),
	plainRequest("/v1/query", `{"text": "short"}`, asJSON, asReader), plainRequest("/v1/query", `{"fingerprint": "0000000000000000", "k": 9}`, asJSON, asReader), plainRequest("/v1/query", `{"fingerprimt": 3}`, asJSON, asReader),
	plainRequest("/v1/query", `{`, asJSON, asReader), plainRequest("/v1/query", `{"fingerprint": null}`, asJSON, asReader), plainRequest("/v1/query", `x`, "Content-Type: image/png", asReader), plainRequest("/v1/query", `{}`, "Content-Type: application/x-www-form-urlencoded", asReader),
	plainRequest("/v1/query", "{}", asJSON, "Authorization: Bearer wrong-token-0123456789"), plainRequest("/v1/query", "{}", asJSON, "Authorization: Basic eA=="), plainRequest("/v1/insert", "{}", asJSON, asReader), plainRequest("/v1/delete", `{"id": "a"}`, asJSON, asReader),
	plainRequest("/v1/compare", `{"a": {"text": "`+pageA+`"}, "b": {"text": "`+pageB+`"}}`, asJSON, asReader), plainRequest("/v1/compare", `{"a": 1}`, asJSON, asReader),
	strings.Replace(plainRequest("/v1/query", "{}", asJSON, asReader), "localhost", "evil.example", 1), strings.Replace(plainRequest("/v1/query", "{}", asJSON, asReader), "localhost", "[::1]:99", 1),
	plainRequest("/v1/check-and-insert", `{"id": 3}`, asJSON, "Authorization: Bearer write-token-0123456789"), plainRequest("/v1/delete", `{"id": "nobody"}`, asJSON, "Authorization: Bearer write-token-0123456789"),
}

// TestFastAnswersAreTheSame asks a server in all of its states, with tokens and without: what it answers on the connection itself, and what net/http
// answers with the same handlers, are the same bytes.
func TestFastAnswersAreTheSame(t *testing.T) {
	for _, tokens := range []string{"", tokensFew} {
		for _, state := range []struct {
			name string
			set  func(*bench)
		}{
			{"ready", func(*bench) {}},
			{"leaving", func(b *bench) { b.life.enter(leaving) }},
			{"draining", func(b *bench) { b.life.enter(draining) }},
			{"damaged", func(b *bench) { err := io.ErrUnexpectedEOF; b.damage.Store(&err) }},
			{"full", func(b *bench) { fill(t, b.queries); fill(t, b.inserts) }},
		} {
			b := start(t, newIndex(t, 3, defaultRecipe(), make([]uint64, 300)), tokens)
			state.set(b)
			alone := netHTTP(t, b)
			for _, request := range variousRequests {
				got, want := converse(t, b.Listener.Addr(), request, request), converse(t, alone.Listener.Addr(), request, request)
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s: %.300q: %.1000q, by net/http %.1000q", state.name, request, got, want)
				}
			}
			if n := b.quick.Counts(); n.HandedOver > 0 || n.Answered < uint64(len(variousRequests)) {
				t.Errorf("%s: %+v", state.name, n)
			}
		}
	}
}

// fill fills a gate until the test ends, so that one more request is refused.
func fill(t *testing.T, g *admit.Gate) {
	t.Helper()
	const second = time.Second // of work
	ctx, cancel := context.WithCancel(context.Background())
	var group sync.WaitGroup
	t.Cleanup(func() { cancel(); group.Wait() })
	for now := g.State(); now.Running < now.Slots; now = g.State() {
		p, err := g.Enter(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Leave)
	}
	group.Go(func() { g.Enter(ctx, 1000*1000*second) })
	eventually(t, "the queue is full", func() bool { return g.State().Waiting == 1 })
}

// TestFastRequestsAreCounted: the metrics and the access log have the same of requests that are answered on the connection and of others.
func TestFastRequestsAreCounted(t *testing.T) {
	of := func(quick bool) (counts, lines string) {
		b := start(t, newIndex(t, 3, defaultRecipe(), []uint64{0}), tokensFew)
		path := filepath.Join(t.TempDir(), "log")
		var err error
		if b.accessLog, err = openAccessLog(path); err != nil {
			t.Fatal(err)
		}
		at := b.Listener.Addr()
		if !quick {
			at = netHTTP(t, b).Listener.Addr()
		}
		for _, request := range variousRequests {
			converse(t, at, request)
		}
		eventually(t, "all is counted", func() bool {
			log, err := os.ReadFile(path)
			lines = string(log)
			return err == nil && strings.Count(lines, "\n") == len(variousRequests)
		})
		if err := b.accessLog.close(); err != nil {
			t.Fatal(err)
		}
		families, err := b.metrics.registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				switch f.GetName() {
				case "ndd_http_requests_total", "ndd_queries_total", "ndd_http_shed_total":
					counts += fmt.Sprintln(f.GetName(), m.GetLabel(), m.GetCounter().GetValue())
				case "ndd_http_request_seconds", "ndd_gate_wait_seconds":
					counts += fmt.Sprintln(f.GetName(), m.GetLabel(), m.GetHistogram().GetSampleCount())
				}
			}
		}
		text := fmt.Sprint(families)
		if !strings.Contains(text, "ndd_plain_requests_total") || !strings.Contains(text, "ndd_connections_handed_over_total") {
			t.Error("the metrics have nothing of what was answered on connections")
		}
		if quick != (b.quick.Counts().Answered == uint64(len(variousRequests))) {
			t.Errorf("%+v", b.quick.Counts())
		}
		return counts, normal(t, lines)
	}
	counts, lines := of(true)
	wantCounts, wantLines := of(false)
	if counts != wantCounts || !strings.Contains(counts, "POST /v1/query") {
		t.Errorf("%s\nby net/http\n%s", counts, wantCounts)
	}
	if lines != wantLines || !strings.Contains(lines, "/v1/query") {
		t.Errorf("%s\nby net/http\n%s", lines, wantLines)
	}
}

// normal returns the lines of an access log without times and ports.
func normal(t *testing.T, lines string) (out string) {
	t.Helper()
	for line := range strings.Lines(lines) {
		var all map[string]any
		if err := json.Unmarshal([]byte(line), &all); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"time", "took_us", "waited_us"} {
			if all[name] == nil {
				t.Errorf("no %s: %s", name, line)
			}
			delete(all, name)
		}
		host, _, err := net.SplitHostPort(fmt.Sprint(all["from"]))
		if err != nil {
			t.Error(err)
		}
		all["from"] = host
		out += fmt.Sprintln(all)
	}
	return out
}

// TestFastPathIsOfPlainTCP: with TLS, and on the admin listener, there is net/http alone.
func TestFastPathIsOfPlainTCP(t *testing.T) {
	a := newAuthority(t)
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	c, k := a.sign("server", false)
	a.files(c, k, cert, key)
	none := func(bool) http.Handler { return nil }
	for _, o := range []struct {
		options Options
		flag    string
		quick   bool
	}{{Options{}, "--listen", true}, {Options{}, "--admin", false}, {Options{TLSCert: cert, TLSKey: key}, "--listen", false}} {
		s, err := newService(&o.options)
		if err != nil {
			t.Fatal(err)
		}
		l, err := s.listen(nil, o.flag, "127.0.0.1:0", 1, none)
		if err != nil {
			t.Fatal(err)
		}
		if (l.quick != nil) != o.quick {
			t.Errorf("%s, %+v: %v", o.flag, o.options, l.quick)
		}
		l.Close()
	}
}
