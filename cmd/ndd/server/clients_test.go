package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"example.org/ndd/engine"
	"example.org/ndd/engine/oracle/must"
)

// dialRaw opens a connection with a small receive window, and sends the given text.
func dialRaw(t testing.TB, b *bench, text string) *net.TCPConn {
	t.Helper()
	d := net.Dialer{}
	c, err := d.Dial("tcp", b.Listener.Addr().String())
	must.Do(t, err)
	t.Cleanup(func() { c.Close() })
	tcp := c.(*net.TCPConn)
	tcp.SetReadBuffer(4 << 10)
	tcp.SetDeadline(time.Now().Add(waitMax))
	_, err = io.WriteString(tcp, text)
	must.Do(t, err)
	return tcp
}

// good makes a few requests of each kind, which must be answered.
func good(t *testing.T, b *bench, phase string) {
	t.Helper()
	for i := range 5 {
		for what, body := range map[string]string{
			"/v1/query": `{"fingerprint": "00000000ffffffff"}`, "/v1/batch": "12345678",
			"/v1/insert": fmt.Sprintf(`{"id": "%s %d", "fingerprint": "ffffffff%08x"}`, phase, i, i),
		} {
			b.wants(t, http.StatusOK, what, "", body)
		}
	}
}

// named returns an index of documents of fingerprint 0 with IDs of 2,000 characters.
func named(t *testing.T, n int) *engine.Index {
	t.Helper()
	x, docs := newIndex(t, 3, nil, nil), make([]engine.Doc, n)
	for i := range docs {
		docs[i].ID = fmt.Sprintf("%02000d", i)
	}
	_, err := x.Insert(t.Context(), docs...)
	must.Do(t, err)
	return x
}

// TestReadersThatStop checks that readers that stop occupy no slot. Even if their number exceeds the slots of every
// kind, all other clients are answered.
func TestReadersThatStop(t *testing.T) {
	t.Parallel()
	// no client is cut off
	b := startWith(t, named(t, 4000), "", bounds{Queue: waitMax, times: patient})
	// This holds on every machine: answers of 8 MB for twice as many clients are less than the share of a client, 128
	// MiB.
	const slots = 3
	b.gated(slots, 100, waitMax)
	var stopped []net.Conn
	for _, c := range []struct{ path, body string }{
		{"/v1/query", `{"fingerprint": "0000000000000000", "limit": 65536}`},                       // 8 MB
		{"/v1/batch", strings.Repeat("\x00", 8*100)},                                               // 800 MB
		{"/v1/check-and-insert", `{"id": "a", "fingerprint": "0000000000000000", "limit": 65536}`}, // 8 MB
	} {
		for range 2 * slots {
			r := dialRaw(t, b, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", c.path,
				len(c.body), c.body))
			if line, err := bufio.NewReaderSize(r, 16).ReadString('\n'); err != nil || !strings.Contains(line, "200") {
				t.Fatalf("%s: %q, %v", c.path, line, err)
			}
			stopped = append(stopped, r)
		}
	}
	must.Eventually(t, "no slot is held", func() bool {
		return b.queries.State().Running+b.batches.State().Running+b.inserts.State().Running == 0
	})
	good(t, b, "readers that stop")
	for _, c := range stopped {
		c.Close()
	}
	must.Eventually(t, "all is given back", func() bool { return b.held() == "" })
}

// TestPausedUploads checks that paused uploads do not block others. If they hold the whole share of a client, the
// oldest are cut off with an error.
func TestPausedUploads(t *testing.T) {
	t.Parallel()
	limits := bounds{Queue: waitMax, Body: 1 << 20, Answer: 1 << 20, RequestMemory: 16 << 20, times: patient}
	b := startWith(t, newIndex(t, 3, nil, []uint64{0}), "", limits)
	var slow []net.Conn
	for range 32 { // 32 bodies of nearly 1 MiB, many times the 4 MiB of a client
		c := dialRaw(t, b, "")
		// It may be refused, or ended, while it is sent.
		fmt.Fprintf(c, "POST /v1/insert HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s",
			1<<20, strings.Repeat(" ", 1<<20-10))
		slow = append(slow, c)
	}
	must.Eventually(t, "the share is used up", func() bool { return b.transfers.Held() >= 3<<20 })
	large := fmt.Sprintf(`{"id": "large", "fingerprint": "00000000ffffffff"%s}`, strings.Repeat(" ", 900_000))
	must.Eventually(t, "a large body in addition", func() bool { // the pauses are long enough now
		a, err := b.Client().Do(b.request(t, "/v1/insert", "", large))
		if err != nil { // it was refused while it was sent
			return false
		}
		defer a.Body.Close()
		if a.StatusCode != http.StatusOK && a.StatusCode != http.StatusTooManyRequests {
			t.Fatalf("a large body in addition: %s", a.Status)
		}
		return a.StatusCode == http.StatusOK
	})
	good(t, b, "uploads that pause")
	if n := b.transfers.CutOff(); n == 0 {
		t.Error("none was cut off")
	}
	for _, c := range slow {
		c.Close()
	}
	must.Eventually(t, "all is given back", func() bool { return b.held() == "" })
}

// TestConnectionTimesOut checks that every time limit ends a connection. The client does not send a header, a body or
// the next request, or does not read an answer.
func TestConnectionTimesOut(t *testing.T) {
	t.Parallel()
	const brief = 100 * time.Millisecond
	for _, c := range []struct {
		name, text string
		set        func(*times)
	}{
		{"a header", "POST /v1/query HTTP/1.1\r\nHost: loc", func(l *times) { l.header = brief }},
		{"a small body", "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
			func(l *times) { l.body = brief }},
		{"a large body", "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n" +
			strings.Repeat(" ", 200_000), func(l *times) { l.stall = brief }},
		{"another request", "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n", func(l *times) { l.idle = brief }},
		{"a reader of an answer", "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 56\r\n\r\n" +
			`{"fingerprint": "0000000000000000", "limit":    65536  }`, func(l *times) { l.stall = brief }},
		{"a reader of lines", "POST /v1/batch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 800\r\n\r\n" +
			strings.Repeat("\x00", 800), func(l *times) { l.stall = brief }},
	} {
		limits := bounds{Queue: waitMax, times: patient}
		c.set(&limits.times)
		b := startWith(t, named(t, 4000), "", limits)
		io.WriteString(dialRaw(t, b, ""), c.text) // a slow server may close the connection before all was sent
		must.Eventually(t, c.name+" is waited for", func() bool { n := b.front.state(); return n.Accepted == 1 && n.Open == 0 })
		must.Eventually(t, "all is given back", func() bool { return b.held() == "" })
	}
}

// patient are times that never end a connection of a test.
var patient = times{header: 10 * waitMax, body: 10 * waitMax, write: 10 * waitMax, idle: 10 * waitMax,
	stall: 10 * waitMax}

// TestDefaultLimits checks the default limits of a server. Small answers have a time limit, too, if they exceed the
// buffers of the kernel.
func TestDefaultLimits(t *testing.T) {
	want := bounds{
		Connections: 4096, Body: 8 << 20, Answer: 16 << 20,
		RequestMemory: 512 << 20, Timeout: time.Minute, Queue: 100 * time.Millisecond,
		times: times{header: 5 * time.Second, body: 30 * time.Second, write: 60 * time.Second, idle: 120 * time.Second,
			stall: 5 * time.Second},
	}
	b := startWith(t, nil, "", bounds{})
	s := b.serverOf(nil)
	has := times{s.ReadHeaderTimeout, s.ReadTimeout, s.WriteTimeout, s.IdleTimeout, 5 * time.Second}
	if b.limits != want || has != want.times || s.MaxHeaderBytes != 32<<10 {
		t.Errorf("%+v and %+v, want %+v", b.limits, has, want)
	}
	if DefaultListen != "127.0.0.1:7744" || DefaultAdmin != "127.0.0.1:7745" {
		t.Errorf("it listens on %s and %s", DefaultListen, DefaultAdmin)
	}
}

// TestRunLimitsConnections opens more idle connections than the server's limit. The oldest are closed, and the youngest
// stay open.
func TestRunLimitsConnections(t *testing.T) {
	t.Parallel()
	const limit = 8
	var s *service
	r := runServer(t, Options{hooks: hooks{limit: bounds{Connections: limit, times: patient}.set,
		started: func(started *service) { s = started }}}, loads(t, []uint64{0}))
	address := r.address()
	var all []net.Conn
	for i := range 2 * limit {
		c, err := net.Dial("tcp", address)
		must.Do(t, err)
		defer c.Close()
		all = append(all, c)
		must.Eventually(t, "it is accepted", func() bool { return s.front.state().Accepted == uint64(i+1) })
		time.Sleep(30 * time.Millisecond) // the connection is idle for the server
	}
	for i, c := range all {
		wait := waitMax
		if i >= limit {
			wait = 50 * time.Millisecond
		}
		c.SetReadDeadline(time.Now().Add(wait))
		_, err := c.Read(make([]byte, 1))
		if closed := errors.Is(err, io.EOF); closed != (i < limit) || !closed && !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("connection %d of %d, the limit is %d: %v", i, len(all), limit, err)
		}
		c.Close() // otherwise the server waits for a request
	}
	r.end()
}

// packed compresses a text.
func packed(t *testing.T, encoding, text string) string {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&out)
	if encoding == "zstd" {
		var err error
		w, err = zstd.NewWriter(&out)
		must.Do(t, err)
	}
	io.WriteString(w, text)
	must.Do(t, w.Close())
	return out.String()
}

// TestPackedBodies checks that compressed bodies are decompressed, up to the limit of a body. Without their header they
// are refused.
func TestPackedBodies(t *testing.T) {
	b := startWith(t, newIndex(t, 3, defaultRecipe(), nil), "", bounds{Queue: waitMax, Body: 1 << 20})
	object, _ := json.Marshal(map[string]string{"text": pageA})
	_, want := b.send(t, "/v1/query", mediaText, pageA)
	fingerprints := little([]uint64{0x0000000000088b1f, 1}) // it begins like gzip data
	for _, encoding := range []string{"gzip", "zstd", "GZIP"} {
		kind := strings.ToLower(encoding)
		whole := packed(t, kind, pageA)
		for _, c := range []struct {
			path, media, encoding, body string
			status                      int
			want                        string
		}{
			{"/v1/query", mediaJSON, encoding, packed(t, kind, string(object)), http.StatusOK, want},
			{"/v1/query", mediaText, encoding, whole, http.StatusOK, want},
			{"/v1/query", mediaHTML, encoding, packed(t, kind, "<p>"+pageA), http.StatusOK, want},
			{"/v1/query", mediaJSON, "", packed(t, kind, string(object)), http.StatusUnprocessableEntity, kind +
				" data instead of text: a compressed body needs the header Content-Encoding: " + kind},
			{"/v1/query", mediaText, "", whole, http.StatusUnprocessableEntity, "Content-Encoding: " + kind},
			{"/v1/batch", mediaBytes, encoding, packed(t, kind, fingerprints), http.StatusOK, ""},
			{"/v1/query", mediaText, encoding, packed(t, kind, strings.Repeat("a", 1<<20)), http.StatusUnprocessableEntity, ""},
			{"/v1/query", mediaText, encoding, packed(t, kind, strings.Repeat("a", 1<<20+1)),
				http.StatusRequestEntityTooLarge, ""},
			{"/v1/query", mediaText, encoding, packed(t, kind, strings.Repeat("a", 32<<20)),
				http.StatusRequestEntityTooLarge, ""},
			{"/v1/query", mediaText, encoding, "x", http.StatusBadRequest, ""},
			{"/v1/query", mediaText, encoding, pageA, http.StatusBadRequest, ""},
			{"/v1/query", mediaText, encoding, whole[:len(whole)-5], http.StatusBadRequest, ""},
		} {
			status, got := b.send(t, c.path, c.media, c.body, "Content-Encoding", c.encoding)
			compareAnswer(t, status, got, c.status, c.encoding+" "+c.media+" "+c.body, c.want)
		}
	}
	b.wants(t, http.StatusOK, "/v1/batch", mediaBytes, fingerprints)
	must.Eventually(t, "all memory is released", func() bool { return b.held() == "" })
}

// TestPackedMemory checks that the body and its decompressed data both count as memory of requests.
func TestPackedMemory(t *testing.T) {
	b := startWith(t, newIndex(t, 3, defaultRecipe(), nil), "", bounds{Queue: waitMax, Body: 1 << 20, Answer: 64 << 10,
		RequestMemory: 6400 << 10})
	rng := rand.New(rand.NewPCG(26, 10))
	var text strings.Builder
	for text.Len() < 1<<20-8 {
		fmt.Fprintf(&text, "%06x ", rng.IntN(1<<24)) // packed it is half as long, which is more than is left
	}
	b.wants(t, http.StatusOK, "/v1/query", mediaText, text.String())
	status, got := b.send(t, "/v1/query", mediaText, packed(t, "gzip", text.String()), "Content-Encoding", "gzip")
	compareAnswer(t, status, got, http.StatusTooManyRequests, "packed")
}

// TestRefusedWhileSending refuses requests whose clients send a body of megabytes before they read the answer. Each
// client must be able to read it, and the next request on another connection is served.
func TestRefusedWhileSending(t *testing.T) {
	const size = 4 << 20
	slow := times{header: waitMax, body: waitMax, write: waitMax, idle: waitMax, stall: 50 * time.Millisecond}
	large := bounds{Queue: waitMax, Body: 1 << 20}
	for name, c := range map[string]struct {
		limits               bounds
		tokens, path, header string
		pause                time.Duration // after a part of the body
		status               int
	}{
		"too large":        {limits: large, path: "/v1/query", status: http.StatusRequestEntityTooLarge},
		"no token":         {tokens: "0123456789abcdef read\n", path: "/v1/query", status: http.StatusUnauthorized},
		"no endpoint":      {path: "/v1/none", status: http.StatusNotFound},
		"no such encoding": {path: "/v1/query", header: "Content-Encoding: br\r\n", status: http.StatusUnsupportedMediaType},
		"too much memory":  {limits: bounds{RequestMemory: 1 << 20}, path: "/v1/query", status: http.StatusTooManyRequests},
		"too slow": {limits: bounds{times: slow}, path: "/v1/query", pause: 150 * time.Millisecond,
			status: http.StatusRequestTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x, err := engine.New(3, engine.Options{Recipe: defaultRecipe()})
			must.Do(t, err)
			b := startWith(t, x, c.tokens, c.limits)
			for _, chunked := range []bool{false, true} {
				if chunked && c.pause > 0 {
					continue // the bytes after a late chunk cannot be parsed
				}
				conn, err := net.Dial("tcp", b.Listener.Addr().String())
				must.Do(t, err)
				defer conn.Close()
				conn.SetDeadline(time.Now().Add(waitMax))
				head, part, end := fmt.Sprintf("Content-Length: %d\r\n\r\n", size), strings.Repeat("x", 1<<17), ""
				if chunked {
					head, part, end = "Transfer-Encoding: chunked\r\n\r\n", "20000\r\n"+part+"\r\n", "0\r\n\r\n"
				}
				fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n%s%s", c.path, c.header, head)
				for i := range size >> 17 {
					if _, err := io.WriteString(conn, part); err != nil {
						t.Fatalf("chunked %v: part %d: %v", chunked, i, err)
					}
					if i == 0 {
						time.Sleep(c.pause)
					}
				}
				io.WriteString(conn, end)
				answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
				must.Do(t, err)
				text, err := io.ReadAll(answer.Body)
				if answer.StatusCode != c.status || err != nil || !strings.Contains(string(text), `"detail"`) {
					t.Errorf("chunked %v: %s %s %v", chunked, answer.Status, text, err)
				}
			}
			b.wants(t, http.StatusOK, "GET /livez", "", "")
		})
	}
}
