package server

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// malformed are requests that make no sense, what they are answered, and a
// word that the answer must have: the field, or what was expected.
var malformed = []struct {
	name, what, contentType, body string
	status                        int
	word                          string
}{
	{"empty body", "POST /v1/query", "application/json", ``, 400, "body"},
	{"not JSON", "POST /v1/query", "application/json", `hello`, 400, "body"},
	{"cut off", "POST /v1/query", "application/json", `{"fingerprint": "00`, 400, "body"},
	{"two values", "POST /v1/query", "application/json", `{"fingerprint": "0000000000000000"} {}`, 400, "body"},
	{"an array", "POST /v1/query", "application/json", `[]`, 422, "body"},
	{"a number", "POST /v1/query", "application/json", `7`, 422, "body"},
	{"null", "POST /v1/query", "application/json", `null`, 422, "body"},
	{"a comment", "POST /v1/query", "application/json", `{/* */}`, 400, "body"},
	{"NaN", "POST /v1/query", "application/json", `{"k": NaN}`, 400, "body"},
	{"deep", "POST /v1/query", "application/json", strings.Repeat(`{"a":`, 20_000), 413, "names and values"},
	{"nothing in it", "POST /v1/query", "application/json", `{}`, 422, "one of fingerprint, text and html"},
	{"unknown field", "POST /v1/query", "application/json", `{"textt": "a"}`, 422, "body.textt"},
	{"two subjects", "POST /v1/query", "application/json", `{"fingerprint": "0000000000000000", "text": "a"}`, 422, "only one"},
	{"short hex", "POST /v1/query", "application/json", `{"fingerprint": "000"}`, 422, "body.fingerprint"},
	{"long hex", "POST /v1/query", "application/json", `{"fingerprint": "00000000000000000"}`, 422, "body.fingerprint"},
	{"no hex", "POST /v1/query", "application/json", `{"fingerprint": "000000000000000g"}`, 422, "body.fingerprint"},
	{"hex with 0x", "POST /v1/query", "application/json", `{"fingerprint": "0x00000000000000"}`, 422, "body.fingerprint"},
	{"fingerprint as a number", "POST /v1/query", "application/json", `{"fingerprint": 17}`, 422, "body.fingerprint"},
	{"text as a number", "POST /v1/query", "application/json", `{"text": 17}`, 422, "body.text"},
	{"text too short", "POST /v1/query", "application/json", `{"text": "hello"}`, 422, "document too short"},
	{"empty text", "POST /v1/query", "application/json", `{"text": ""}`, 422, "document too short"},
	{"empty page", "POST /v1/query", "application/json", `{"html": "<html></html>"}`, 422, "document too short"},
	{"k negative", "POST /v1/query", "application/json", `{"fingerprint": "0000000000000000", "k": -1}`, 422, "body.k"},
	{"k too large", "POST /v1/query", "application/json", `{"fingerprint": "0000000000000000", "k": 4}`, 422, "from 0 to 3"},
	{"k a fraction", "POST /v1/query", "application/json", `{"fingerprint": "0000000000000000", "k": 1.5}`, 422, "body.k"},
	{"k a string", "POST /v1/query", "application/json", `{"fingerprint": "0000000000000000", "k": "1"}`, 422, "body.k"},
	{"k beyond 64 bits", "POST /v1/query", "application/json", `{"fingerprint": "0000000000000000", "k": 99999999999999999999}`, 422, "body.k"},
	{"limit 0", "POST /v1/query", "application/json", `{"fingerprint": "0000000000000000", "limit": 0}`, 422, "body.limit"},
	{"limit too large", "POST /v1/query", "application/json", `{"fingerprint": "0000000000000000", "limit": 65537}`, 422, "body.limit"},
	{"unknown parameter", "POST /v1/query?key=1", "application/json", `{"fingerprint": "0000000000000000"}`, 422, "query.key"},
	{"a type that is not taken", "POST /v1/query", "application/xml", `<a/>`, 415, "application/json"},
	{"a type that is none", "POST /v1/query", "////", `{}`, 415, "Content-Type"},
	{"multipart", "POST /v1/query", "multipart/form-data; boundary=x", `--x--`, 415, "application/json"},
	{"document too short", "POST /v1/query", "text/plain", `hello`, 422, "document too short"},
	{"document with a bad k", "POST /v1/query?k=x", "text/plain", pageA, 422, "query.k"},
	{"document with a large k", "POST /v1/query?k=9", "text/plain", pageA, 422, "query.k"},
	{"document with a bad limit", "POST /v1/query?limit=0", "text/plain", pageA, 422, "query.limit"},
	{"document with an unknown parameter", "POST /v1/query?q=9", "text/html", pageA, 422, "query.q"},
	{"document with k twice", "POST /v1/query?k=1&k=2", "text/html", pageA, 422, "query.k"},
	{"document that is gzip, cut off", "POST /v1/query", "text/plain", "\x1f\x8b\x08\x00", 422, "body"},
	{"batch of 9 bytes", "POST /v1/batch", "application/octet-stream", "123456789", 422, "9 bytes"},
	{"batch with k too large", "POST /v1/batch?k=4", "application/octet-stream", "12345678", 422, "query.k"},
	{"batch with k negative", "POST /v1/batch?k=-1", "application/octet-stream", "12345678", 422, "query.k"},
	{"batch with an empty k", "POST /v1/batch?k=", "application/octet-stream", "12345678", 422, "query.k"},
	{"batch with a bad unique", "POST /v1/batch?unique=maybe", "application/octet-stream", "12345678", 422, "query.unique"},
	{"batch with an unknown parameter", "POST /v1/batch?shard=1", "application/octet-stream", "12345678", 422, "query.shard"},
	{"batch with a bad escape", "POST /v1/batch?k=%zz", "application/octet-stream", "12345678", 422, "query"},
	{"batch as JSON", "POST /v1/batch", "application/json", "[]", 415, "octet-stream"},
	{"batch beyond 65,536", "POST /v1/batch", "application/octet-stream", strings.Repeat("12345678", 65_537), 413, "65536"},
	{"body beyond 8 MiB", "POST /v1/batch", "application/octet-stream", strings.Repeat("12345678", 1<<20+1), 413, "8388608"},
	{"insert of nothing", "POST /v1/insert", "application/json", `{}`, 422, "body.id"},
	{"insert without an id", "POST /v1/insert", "application/json", `{"fingerprint": "0000000000000000"}`, 422, "body.id"},
	{"insert with an empty id", "POST /v1/insert", "application/json", `{"id": "", "fingerprint": "0000000000000000"}`, 422, "body.id"},
	{"insert with a long id", "POST /v1/insert", "application/json", `{"id": "` + strings.Repeat("x", 2049) + `", "fingerprint": "0000000000000000"}`, 422, "body.id"},
	{"insert with a line end in an id", "POST /v1/insert", "application/json", `{"id": "a\nb", "fingerprint": "0000000000000000"}`, 422, "control"},
	{"insert without a subject", "POST /v1/insert", "application/json", `{"id": "a"}`, 422, "one of fingerprint, text and html"},
	{"insert of one and of a list", "POST /v1/insert", "application/json", `{"id": "a", "documents": [{"id": "b", "fingerprint": "0000000000000000"}]}`, 422, "body.documents"},
	{"insert of an empty list", "POST /v1/insert", "application/json", `{"documents": []}`, 422, "body.documents"},
	{"insert of a list of others", "POST /v1/insert", "application/json", `{"documents": [1]}`, 422, "body.documents[0]"},
	{"insert with a bad one in the list", "POST /v1/insert", "application/json", `{"documents": [{"id": "a", "fingerprint": "0000000000000000"}, {"id": "b", "fingerprint": "x"}]}`, 422, "body.documents[1].fingerprint"},
	{"insert of too many", "POST /v1/insert", "application/json", `{"documents": [` + strings.Repeat(`{"id": "a", "fingerprint": "0000000000000000"},`, 4096) + `{"id": "a", "fingerprint": "0000000000000000"}]}`, 422, "body.documents"},
	{"check with k too large", "POST /v1/check-and-insert", "application/json", `{"id": "a", "fingerprint": "0000000000000000", "k": 9}`, 422, "body.k"},
	{"check without an id", "POST /v1/check-and-insert", "application/json", `{"fingerprint": "0000000000000000"}`, 422, "body.id"},
	{"check of an empty list", "POST /v1/check-and-insert", "application/json", `{"documents": []}`, 422, "body.documents"},
	{"check of one and of a list", "POST /v1/check-and-insert", "application/json", `{"id": "a", "documents": [{"id": "b", "fingerprint": "0000000000000000"}]}`, 422, "body.documents"},
	{"check of too many", "POST /v1/check-and-insert", "application/json", `{"documents": [` + strings.Repeat(`{"id": "a", "fingerprint": "0000000000000000"},`, 4096) + `{"id": "a", "fingerprint": "0000000000000000"}]}`, 422, "body.documents"},
	{"check with a list that is none", "POST /v1/check-and-insert", "application/json", `{"documents": {"id": "a"}}`, 422, "body.documents"},
	{"insert of a text without an id", "POST /v1/insert", "text/plain", pageA, 422, "?id="},
	{"insert of a page with an empty id", "POST /v1/insert?id=", "text/html", pageA, 422, "query.id"},
	{"insert of a short text", "POST /v1/insert?id=a", "text/plain", `short`, 422, "document too short"},
	{"insert with a parameter of others", "POST /v1/insert?id=a&k=1", "text/plain", pageA, 422, "query.k"},
	{"insert of a list with an id beside", "POST /v1/insert?id=a", "application/json", `{"documents": [{"id": "b", "fingerprint": "0000000000000000"}]}`, 422, "query.id"},
	{"check of one with an id beside", "POST /v1/check-and-insert?id=a", "application/json", `{"fingerprint": "0000000000000000"}`, 422, "query.id"},
	{"check of a text with a large k", "POST /v1/check-and-insert?id=a&k=9", "text/plain", pageA, 422, "query.k"},
	{"check of a text without an id", "POST /v1/check-and-insert", "text/html", pageA, 422, "Document-Id"},
	{"a million wrong values", "POST /v1/insert", "application/json", `{"documents": [` + strings.Repeat("1,", 1<<20) + `1]}`, 413, "names and values"},
	{"compare of one", "POST /v1/compare", "application/json", `{"a": {"fingerprint": "0000000000000000"}}`, 422, "expected required property b"},
	{"compare of nothing", "POST /v1/compare", "application/json", `{"a": {}, "b": {}}`, 422, "body.a"},
	{"compare with a short text", "POST /v1/compare", "application/json", `{"a": {"fingerprint": "0000000000000000"}, "b": {"text": "short"}}`, 422, "body.b.text"},
	{"compare with two in one", "POST /v1/compare", "application/json", `{"a": {"fingerprint": "0000000000000000", "text": "x"}, "b": {"text": "short"}}`, 422, "body.a"},
	{"empty batch", "POST /v1/batch", "application/octet-stream", ``, 400, "body"},
	{"delete of nothing", "POST /v1/delete", "application/json", `{}`, 422, "one of id, ids and fingerprint"},
	{"delete of an id and a fingerprint", "POST /v1/delete", "application/json", `{"id": "a", "fingerprint": "0000000000000000"}`, 422, "one of id, ids and fingerprint"},
	{"delete of an empty id", "POST /v1/delete", "application/json", `{"id": ""}`, 422, "body.id"},
	{"delete of an empty list", "POST /v1/delete", "application/json", `{"ids": []}`, 422, "body.ids"},
	{"delete of a number", "POST /v1/delete", "application/json", `{"id": 1}`, 422, "body.id"},
	{"delete of a bad fingerprint", "POST /v1/delete", "application/json", `{"fingerprint": "0x"}`, 422, "body.fingerprint"},
	{"no such place", "GET /v2/query", "", ``, 404, "/v2/query"},
	{"a file", "GET /etc/passwd", "", ``, 404, "/etc/passwd"},
	{"wrong method", "GET /v1/query", "", ``, 405, "POST"},
	{"wrong method too", "DELETE /v1/insert", "", ``, 405, "POST"},
	{"stats by POST", "POST /v1/stats", "application/json", `{}`, 405, "GET"},
	{"stats with a parameter", "GET /v1/stats?x=1", "", ``, 422, "query.x"},
}

// raw are requests that no HTTP library would send.
var raw = []struct{ name, bytes, status string }{
	{"no HTTP", "hello\r\n\r\n", "400"},
	{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "400"},
	{"no Host", "GET /livez HTTP/1.1\r\n\r\n", "400"},
	{"two Hosts", "GET /livez HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", "400"},
	{"a foreign Host", "GET /livez HTTP/1.1\r\nHost: evil.example\r\n\r\n", "421"},
	{"a foreign Host like ours", "GET /livez HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n\r\n", "421"},
	{"a foreign Host in the target", "GET http://evil.example/livez HTTP/1.1\r\nHost: localhost\r\n\r\n", "421"},
	{"HTTP/2 without TLS", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "421"},
	{"a bad chunk", "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "400"},
	{"a bad length", "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n", "400"},
	{"two lengths", "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", "400"},
	{"a header of 100 KiB", "GET /livez HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\n", "431"},
	{"an endless announcement", "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n", "413"},
	{"chunks beyond 8 MiB", "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n900000\r\n" + strings.Repeat("x", 0x900000) + "\r\n0\r\n\r\n", "413"},
	{"gzip", "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b", "415"},
	{"of another web site", "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\nContent-Length: 2\r\n\r\n{}", "403"},
	{"of another web site, new browser", "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site\r\nContent-Length: 2\r\n\r\n{}", "403"},
	{"a path with dots", "GET /v1/../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", "307"},
}

func TestMalformedRequests(t *testing.T) {
	b := start(t, newIndex(t, 3, defaultRecipe(), []uint64{0}), "")
	for _, c := range malformed {
		r := b.request(t, c.what, c.contentType, c.body)
		status, header, body := b.roundTrip(t, r)
		if status != c.status || !strings.Contains(body, c.word) {
			t.Errorf("%s: %d %.300s\nwant %d with %q", c.name, status, body, c.status, c.word)
		}
		var p struct {
			Status int
			Title  string
		}
		if header.Get("Content-Type") != "application/problem+json" || json.Unmarshal([]byte(body), &p) != nil || p.Status != status || p.Title == "" {
			t.Errorf("%s: no problem as RFC 9457 has it: %s %.300s", c.name, header.Get("Content-Type"), body)
		}
		if len(body) > 4<<10 {
			t.Errorf("%s: an answer of %d bytes", c.name, len(body))
		}
	}
	for _, c := range raw {
		if status := sendRaw(t, b, c.bytes); status != c.status {
			t.Errorf("%s: status %q, want %q", c.name, status, c.status)
		}
	}
	if n := b.index.Load().Stats().Documents; n != 1 {
		t.Errorf("%d documents, one was there before", n)
	}
	eventually(t, "all is given back", func() bool { return b.held() == "" })
}

// sendRaw sends bytes and returns the status, "" where there is none.
func sendRaw(t testing.TB, b *bench, data string) string {
	t.Helper()
	c, err := net.Dial("tcp", b.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(waitMax))
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		c.Write([]byte(data)) // the server may well close before the end
	}()
	defer func() { c.Close(); <-sent }()
	a, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return ""
	}
	defer a.Body.Close()
	return fmt.Sprint(a.StatusCode)
}

var goodRequests = flag.Int64("good.requests", 100, "good requests of TestBadRequestsHarmOnlyThemselves, at least")

// A malformed request, and one that panics, harms only itself: good ones among
// them are answered, and nothing is used up.
func TestBadRequestsHarmOnlyThemselves(t *testing.T) {
	b := start(t, newIndex(t, 3, defaultRecipe(), []uint64{0}), "")
	// A route whose handler panics, behind the same guard as the others.
	inner := b.Config.Handler
	bad := b.observe(b.guard(&route{accepts: []string{"application/json"}, gate: b.queries, work: b.work.query},
		func(http.ResponseWriter, *http.Request) { panic("a bug for the test") }))
	b.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/panic" {
			bad.ServeHTTP(w, r)
			return
		}
		inner.ServeHTTP(w, r)
	})

	const rounds = 6
	done := make(chan struct{})
	var group sync.WaitGroup
	var good atomic.Int64
	for range 3 {
		group.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				status, body := b.send(t, "POST /v1/query", "application/json", `{"fingerprint": "0000000000000001"}`)
				if status != http.StatusOK || !strings.Contains(body, "row-0") {
					t.Errorf("a good request: %d %s", status, body)
				}
				good.Add(1)
			}
		})
	}
	panics := 0
	for n := 0; n < rounds || good.Load() < *goodRequests && !t.Failed(); n++ {
		for _, c := range malformed {
			if len(c.body) < 1<<20 {
				b.send(t, c.what, c.contentType, c.body)
			}
			status, body := b.send(t, "POST /panic", "application/json", "{}")
			if status != http.StatusInternalServerError || strings.Contains(body, "for the test") {
				t.Errorf("a panic: %d %s", status, body)
			}
			panics++
		}
		for _, c := range raw {
			if len(c.bytes) < 1<<20 {
				sendRaw(t, b, c.bytes)
			}
		}
	}
	close(done)
	group.Wait()
	if n := strings.Count(b.journal.String(), "a bug for the test"); n < panics {
		t.Errorf("%d panics, %d in the log", panics, n)
	}
	eventually(t, "all is given back", func() bool { return b.held() == "" })
}
