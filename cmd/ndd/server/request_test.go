package server

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"example.org/ndd/cmd/ndd/server/strict"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/oracle/must"
)

// print0 is the field of a fingerprint.
const print0 = `"fingerprint": "0000000000000000"`

// malformed has invalid requests, the status of their answers, and a text that the answer must contain: the field, or
// the expected value.
var malformed = []struct {
	what, contentType, body string
	status                  int
	word                    string
}{
	{"/v1/query", "", ``, 400, "body"},
	{"/v1/query", "", `{/* */}`, 400, "body"},
	{"/v1/query", "", strings.Repeat(`{"a":`, 20_000), 422, "body.a"},
	{"/v1/query", "", `{}`, 422, "one of fingerprint, text and html"},
	{"/v1/query", "", `{` + print0 + `, "text": "a"}`, 422, "only one"},
	{"/v1/query", "", `{"fingerprint": "00000000000000000"}`, 422, "body.fingerprint"},
	{"/v1/query", "", `{"html": "<html></html>"}`, 422, "document too short"},
	{"/v1/query", "", `{` + print0 + `, "limit": 0}`, 422, "body.limit"},
	{"/v1/query", "", `{` + print0 + `, "limit": 65537}`, 422, "body.limit"},
	{"/v1/query", "////", `{}`, 415, "Content-Type"},
	{"/v1/query", "multipart/form-data; boundary=x", `--x--`, 415, "application/json"},
	{"/v1/query?k=1&k=2", "text/html", pageA, 422, "query.k"},
	{"/v1/query", "text/plain", "\x1f\x8b\x08\x00", 422, "body"},
	{"/v1/batch", "application/octet-stream", "123456789", 422, "9 bytes"},
	{"/v1/batch?k=4", "application/octet-stream", "12345678", 422, "query.k"},
	{"/v1/batch?unique=maybe", "application/octet-stream", "12345678", 422, "query.unique"},
	{"/v1/batch?shard=1", "application/octet-stream", "12345678", 422, "query.shard"},
	{"/v1/batch?k=%zz", "application/octet-stream", "12345678", 422, "query"},
	{"/v1/batch", mediaJSON, "[]", 415, "octet-stream"},
	{"/v1/batch", "application/octet-stream", strings.Repeat("12345678", 65_537), 413, "65536"},
	{"/v1/batch", "application/octet-stream", strings.Repeat("12345678", 1<<20+1), 413, "8388608"},
	{"/v1/insert", "", `{` + print0 + `}`, 422, "body.id"},
	{"/v1/insert", "", `{"id": "` + strings.Repeat("x", 2049) + `", ` + print0 + `}`, 422, "body.id"},
	{"/v1/insert", "", `{"id": "a", "documents": [{"id": "b", ` + print0 + `}]}`, 422, "body.documents"},
	{"/v1/insert", "", `{"documents": [{"id": "a", ` + print0 + `}, {"id": "b", "fingerprint": "x"}]}`, 422,
		"body.documents[1].fingerprint"},
	{"/v1/check-and-insert", "", `{"id": "a", ` + print0 + `, "k": 9}`, 422, "body.k"},
	{"/v1/insert", "text/plain", pageA, 422, "?id="},
	{"/v1/insert?id=", "text/html", pageA, 422, "query.id"},
	{"/v1/insert?id=a&k=1", "text/plain", pageA, 422, "query.k"},
	{"/v1/insert?id=a", "", `{"documents": [{` + print0 + `}, 1]}`, 422, "body.documents[1]"},
	{"/v1/check-and-insert?id=a", "", `{` + print0 + `}`, 422, "body.id: a document needs an id"},
	{"/v1/insert?on_conflict=no", "", `{"id": "a", ` + print0 + `}`, 422, `query.on_conflict: "no" must be replace`},
	{"/v1/insert?ttl=7", "", `{"id": "a", ` + print0 + `}`, 422, "query.ttl: must be a time"},
	{"/v1/insert?id=caf%e9", "text/plain", pageA, 422, "query.id: is not UTF-8"},
	{"/v1/insert", "", `{"id": "a", "on_conflict": "no", ` + print0 + `}`, 422, `body.on_conflict: "no" must be replace`},
	{"/v1/check-and-insert?id=a&k=9", "text/plain", pageA, 422, "query.k"},
	{"/v1/check-and-insert", "text/html", pageA, 422, "?id="},
	{"/v1/insert", "", `{"documents": [` + strings.Repeat("1,", 1<<20) + `1]}`, 422, "body.documents[0]"},
	{"/v1/batch", "application/octet-stream", ``, 400, "body"},
	{"/v1/insert", "", `{"documents": [` + strings.Repeat(`{"id": "a", `+print0+`}, `, strict.Max) +
		`{"id": "a", ` + print0 + `}]}`, 422, "expected array length <= 4096"},
	{"/v1/check-and-insert", "", `{"documents": [` + strings.Repeat(`{}, `, strict.Max) + `{}]}`, 422,
		"expected array length <= 4096"},
	{"/v1/delete", "", `{"ids": ["a"` + strings.Repeat(`, "b"`, strict.Max) + `]}`, 422, "expected array length <= 4096"},
	{"/v1/delete", "", `{}`, 422, "one of id, ids and fingerprint"},
	{"/v1/delete", "", `{"id": ""}`, 422, "body.id"},
	{"GET /v2/query", "", ``, 404, "/v2/query"},
	{"DELETE /v1/insert", "", ``, 405, "POST"},
	{"/v1/stats", "", `{}`, 405, "GET"},
	{"GET /v1/stats?x=1", "", ``, 422, "query.x"},
	// Requests that two programs could interpret differently are refused.
	{"/v1/insert", "", "{\"id\": \"caf\xe9\", " + print0 + "}", 422, "body.id: not UTF-8"},
	{"/v1/check-and-insert", "", `{"id": "a", "id": "b", ` + print0 + `}`, 422, "body.id: the property occurs twice"},
	{"/v1/insert", "", `{"documents": [{"id": "a", "Id": "b", ` + print0 + `}], "k": 65}`, 422,
		"body.documents[0].Id: unexpected property"},
	// A server makes all sketches itself.
	{"/v1/insert", "", `{"id": "a", "sketch": "00", ` + print0 + `}`, 422, "body.sketch: unexpected property"},
	// The detail says where and what.
	{"/v1/query", "", `{` + print0 + `, "k": 65}`, 422, "body.k: k = 65, but the index was built for k from 0 to 3"},
	{"/v1/query", "", `{` + print0 + `, "k": 1e12}`, 422, "body.k: expected number <= 1073741824"},
	{"/v1/query", "", `{` + print0 + `, "k": -1}`, 422, "body.k: k = -1, but the index was built for k from 0 to 3"},
	{"/v1/query?k=99", "", `{` + print0 + `}`, 422, "query.k: k = 99, but the index was built for k from 0 to 3"},
	{"/v1/query?k=99", "", `{` + print0 + `, "k": 1}`, 422, "query.k: k = 99, but the index was built for k from 0 to 3"},
	{"/v1/query?k=1", "", `{` + print0 + `, "k": 65}`, 422, "body.k: k = 65, but the index was built for k from 0 to 3"},
	{"/v1/query?k=x", "", `{` + print0 + `}`, 422, "query.k: expected integer"},
	{"/v1/query?limit=0", "", `{` + print0 + `}`, 422, "query.limit: expected number >= 1"},
	{"/v1/query?limi=1", "", `{` + print0 + `}`, 422, "query.limi: unknown query parameter: there are k, limit"},
	{"/v1/delete?id=a", "", `{"id": "a"}`, 422, "query.id: unknown query parameter: there are none"},
	{"/v1/query", "", `{"fingerprint": "abc"}`, 422, "body.fingerprint: expected 16 hexadecimal digits, such as " +
		"8c7f2d1e0a9b4455"},
	{"/v1/query", "", `{"text": "a",, }`, 400, "body: not JSON: unexpected ',' at byte 13; a document itself is sent " +
		"with"},
	{"/v1/query", "text/html", `short`, 422, "body: document too short for a fingerprint"},
	{"/v1/insert", "", `{"id": "", ` + print0 + `}`, 422, "body.id: must not be empty"},
	{"/v1/insert", "", `{"id": "a\tb", ` + print0 + `}`, 422, "body.id: has control characters"},
	{"/v1/delete", "", `{"id": "a", ` + print0 + `}`, 422, "body: only one of id, ids and fingerprint can be given"},
	{"/v1/backup", "", `{"name": "a"}`, 404, "/v1/backup exists only if the server was started with --backup-dir"},
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
	{"two lengths", "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: " +
		"6\r\n\r\nhello!", "400"},
	{"a header of 100 KiB", "GET /livez HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\n",
		"431"},
	{"an endless announcement", "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n",
		"413"},
	{"chunks beyond 8 MiB", "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: " +
		"chunked\r\n\r\n900000\r\n" + strings.Repeat("x", 0x900000) + "\r\n0\r\n\r\n", "413"},
	{"brotli", "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\n{}", "415"},
	{"of another web site", "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nOrigin: " +
		"http://evil.example\r\nContent-Length: 2\r\n\r\n{}", "403"},
	{"of another web site, new browser", "POST /v1/query HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: " +
		"cross-site\r\nContent-Length: 2\r\n\r\n{}", "403"},
	{"a path with dots", "GET /v1/../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", "307"},
}

func TestMalformedRequests(t *testing.T) {
	b := start(t, newIndex(t, 3, defaultRecipe(), []uint64{0}), "")
	for _, c := range malformed {
		r := b.request(t, c.what, c.contentType, c.body)
		status, header, body := b.do(t, r)
		var p problem
		if header.Get("Content-Type") != "application/problem+json" || json.Unmarshal([]byte(body), &p) != nil ||
			p.Status != status || p.Title == "" {
			t.Errorf("%s %.80s: no problem as RFC 9457 has it: %s %.300s", c.what, c.body, header.Get("Content-Type"), body)
		}
		if status != c.status || !strings.Contains(p.Detail, c.word) {
			t.Errorf("%s %.80s: %d %.300s\nwant %d with %q", c.what, c.body, status, body, c.status, c.word)
		}
		if len(body) > 4<<10 {
			t.Errorf("%s %.80s: an answer of %d bytes", c.what, c.body, len(body))
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
	must.Eventually(t, "all is given back", func() bool { return b.held() == "" })
}

// sendRaw sends bytes and returns the status, or "" if there is none.
func sendRaw(t testing.TB, b *bench, data string) string {
	t.Helper()
	c, err := net.Dial("tcp", b.Listener.Addr().String())
	must.Do(t, err)
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

// TestBadRequestsHarmOnlyThemselves checks that a malformed request, and one whose handler panics, affects only itself.
// Valid requests between them are answered, and no resource leaks.
func TestBadRequestsHarmOnlyThemselves(t *testing.T) {
	b := start(t, newIndex(t, 3, defaultRecipe(), []uint64{0}), "")
	mux := http.NewServeMux()
	mux.Handle("/", b.Config.Handler)
	// A route whose handler panics, with the same middleware as the others.
	mux.Handle("/panic", b.observe(b.guard(&route{accepts: []string{"application/json"}, gate: b.queries,
		serve: func(http.ResponseWriter, *http.Request) { panic("a bug for the test") }})))
	b.Config.Handler = mux
	const rounds = 6
	var done atomic.Bool
	var group sync.WaitGroup
	var good atomic.Int64
	for range 3 {
		group.Go(func() {
			for !done.Load() {
				b.wants(t, http.StatusOK, "/v1/query", mediaJSON, `{"fingerprint": "0000000000000001"}`, "row-0")
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
	done.Store(true)
	group.Wait()
	if n := strings.Count(b.journal.String(), "a bug for the test"); n < panics {
		t.Errorf("%d panics, %d in the log", panics, n)
	}
	must.Eventually(t, "all is given back", func() bool { return b.held() == "" })
}

// TestCutDocument checks that a request that ended has no fingerprint of a part of its text, and no hint that it is
// short.
func TestCutDocument(t *testing.T) {
	var s summarizer
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	text := strings.Repeat("the many different words of a text that is long enough for this and takes some time ", 1<<14)
	if got, p := s.summarizeText(ctx, defaultRecipe(), text, ""); p == nil || p.Status != http.StatusServiceUnavailable {
		t.Errorf("%v, %v", got, p)
	}
	if _, p := s.summarizeText(t.Context(), defaultRecipe(), text, ""); p != nil {
		t.Errorf("the next one: %v", p)
	}
}

// TestDocumentsAreFingerprintedAlike checks that in every form of a request, a document gets the fingerprint of package
// simhash. The media type of a document that is the whole body has its charset.
func TestDocumentsAreFingerprintedAlike(t *testing.T) {
	b := start(t, newIndex(t, 3, defaultRecipe(), nil), "")
	const text = "Übergrößenträger müssen über die Brücke fahren, höflich grüßen und schöne Mädchen früh küssen"
	const markup = "<html><script>var noise = 1</script><body><p>"
	f, err := simhash.New(simhash.Default())
	must.Do(t, err)
	latin, _ := charmap.ISO8859_1.NewEncoder().String(text)
	wide, _ := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder().String(pageA)
	for _, c := range []struct{ contentType, body, text string }{
		{"application/json", `{"text": "` + pageA + `"}`, pageA},
		{"application/json; charset=utf-8", `{"html": "` + markup + pageA + `"}`, pageA},
		{"application/x-www-form-urlencoded", `{"text": "` + pageA + `"}`, pageA}, // curl -d
		{"", `{"text": "` + pageA + `"}`, pageA},
		{"text/plain", pageA, pageA},
		{"text/html", markup + pageA, pageA},
		{"text/plain; charset=utf-8", text, text},
		{"text/plain; charset=iso-8859-1", latin, text},
		{"Text/HTML; Charset=ISO-8859-1", "<p>" + latin, text},
		{"text/plain; charset=utf-16le", wide, pageA},
	} {
		fingerprint, _, _ := f.Fingerprint(c.text)
		b.wants(t, http.StatusOK, "/v1/query", c.contentType, c.body, fmt.Sprintf(`{"fingerprint":%q,"k":3,`, fingerprint))
		if strings.HasPrefix(strings.ToLower(c.contentType), "text/") {
			b.wants(t, http.StatusOK, "/v1/insert?id=a", c.contentType, c.body, fmt.Sprintf(`"fingerprint":%q`, fingerprint))
		}
	}
	b.wants(t, http.StatusUnsupportedMediaType, "/v1/query", "text/plain; charset=foo", latin,
		`charset \"foo\" is unknown: send UTF-8`)
}

// FuzzRequests sends random paths, parameters, headers and bodies to every endpoint. No answer has a status of 500, and
// every refusal has a reason.
func FuzzRequests(f *testing.F) {
	for _, c := range malformed {
		if strings.HasPrefix(c.what, "/v1/") && len(c.body) < 4<<10 {
			f.Add(c.what, c.contentType, "", []byte(c.body))
		}
	}
	f.Add("/v1/query", "text/html", "", []byte("<html><meta charset=utf-16><p>"+pageA))
	f.Add("/v1/insert", "application/json", "", []byte(`{"documents": [{"id": "a", "html": "<p>`+pageA+`"}]}`))
	f.Add("/v1/insert?ttl=90d&on_conflict=keep", "text/plain", "", []byte(pageA))
	f.Add("/v1/check-and-insert?id=%00&k=1&limit=2", "text/html", "", []byte("<p>"+pageA))
	f.Add("/v1/delete", "application/json", "", []byte(`{"ids": ["a", "b"]}`))
	f.Add("/v1/delete", "application/json", "", []byte(`{"fingerprint": "0000000000000000"}`))
	f.Add("/v1/check-and-insert", "application/json", "",
		[]byte(`{"id": "a", "text": "`+pageA+`", "k": 0, "limit": 1}`))
	f.Add("/v1/batch?k=1&unique=true", "", "application/x-ndjson", []byte("1234567812345678"))
	for _, url := range []string{"/", "/docs", "/ui/main.js", "/readyz", "/openapi.json", "/v1/stats?x=1",
		"/v1/query?k=99999999999999999999", "//", "/ui/../v1/stats", "/%2e%2e"} {
		f.Add(url, "text/plain", "text/plain", []byte(pageA))
	}
	b := start(f, newIndex(f, 3, defaultRecipe(), []uint64{0}), "")
	f.Fuzz(func(t *testing.T, url, contentType, accept string, body []byte) {
		for _, method := range []string{"GET", "POST"} {
			r, err := http.NewRequest(method, "http://localhost"+url, strings.NewReader(string(body)))
			if err != nil || r.URL.Host != "localhost" {
				return // no URL of ours
			}
			r.Header.Set("Accept", accept)
			r.Header.Set("Content-Type", contentType)
			w := httptest.NewRecorder()
			b.Config.Handler.ServeHTTP(w, r)
			if w.Code >= 500 || w.Code == http.StatusTooManyRequests {
				t.Fatalf("%s %s, %s, %q: %d %s", method, url, contentType, body, w.Code, w.Body)
			}
			if w.Code >= 400 && w.Header().Get("Content-Type") != "application/problem+json" {
				t.Fatalf("%s %s, %s, %q: %d without a problem: %s", method, url, contentType, body, w.Code, w.Body)
			}
			if what := b.held(); what != "" {
				t.Fatal("not given back: " + what)
			}
		}
	})
}
