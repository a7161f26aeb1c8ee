package fastpath

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ndd/engine/oracle"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// waitMax is how long something that is about to happen may take, on whatever machine.
const waitMax = time.Minute

// bare hides what a connection can do beyond net.Conn, and may be closed again, as the server's own do and may.
type bare struct {
	net.Listener
	end sync.Once
}

func (b *bare) Close() error {
	b.end.Do(func() { b.Listener.Close() })
	return nil
}

func (b *bare) Accept() (net.Conn, error) {
	c, err := b.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return struct{ net.Conn }{c}, nil
}

// A served is an HTTP server, behind a Listener or not.
type served struct {
	server *http.Server
	quick  *Listener // nil: net/http alone
	at     string
	errors *bytes.Buffer
}

// serve serves a handler until the test ends; set may change the server.
func serve(t testing.TB, quick bool, h http.Handler, set func(*http.Server)) *served {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &served{at: inner.Addr().String(), errors: new(bytes.Buffer)}
	s.server = &http.Server{Handler: h, ErrorLog: log.New(s.errors, "", 0)}
	if set != nil {
		set(s.server)
	}
	var l net.Listener = &bare{Listener: inner}
	if quick {
		s.quick = New(l, s.server, []string{"/echo", "/say"})
		l = s.quick
	}
	var group sync.WaitGroup
	group.Go(func() { s.server.Serve(l) })
	t.Cleanup(func() {
		l.Close()
		s.shutdown(t)
		group.Wait()
	})
	return s
}

// shutdown ends what is served.
func (s *served) shutdown(t testing.TB) {
	ctx, cancel := context.WithTimeout(context.Background(), waitMax)
	defer cancel()
	if s.quick != nil {
		if err := s.quick.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	}
	if err := s.server.Shutdown(ctx); err != nil {
		t.Error(err)
	}
}

// dial opens a connection.
func (s *served) dial(t testing.TB) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", s.at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(waitMax))
	return c.(*net.TCPConn)
}

// exchange sends pieces, ends, and returns all that comes back.
func (s *served) exchange(t testing.TB, pieces ...string) string {
	t.Helper()
	c := s.dial(t)
	for _, p := range pieces {
		if _, err := io.WriteString(c, p); err != nil {
			break // the server has closed: its answer says why
		}
	}
	c.CloseWrite()
	out, err := io.ReadAll(c)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Error(err)
	}
	return dates.ReplaceAllString(string(out), "Date: now\r\n")
}

var dates = regexp.MustCompile(`Date: [A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT\r\n`)

// answers reads answers; chunks are put together.
func answers(t testing.TB, out string) (all []string) {
	t.Helper()
	for in := bufio.NewReader(strings.NewReader(out)); ; {
		if _, err := in.Peek(1); err != nil {
			return all
		}
		a, err := http.ReadResponse(in, nil)
		if err != nil {
			return append(all, fmt.Sprint("no answer: ", err))
		}
		body, err := io.ReadAll(a.Body)
		all = append(all, fmt.Sprint(a.Status, a.Proto, a.Header, a.ContentLength, a.TransferEncoding, a.Close, string(body), err))
	}
}

// echo answers what it was asked.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s %+v %s %d %d host %s close %v length %d encoding %v uri %s trailer %v form %v multi %v tls %v\n",
		r.Method, r.URL, *r.URL, r.Proto, r.ProtoMajor, r.ProtoMinor, r.Host, r.Close, r.ContentLength, r.TransferEncoding, r.RequestURI, r.Trailer, r.Form, r.MultipartForm, r.TLS)
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		fmt.Fprintf(w, "%s: %q\n", name, r.Header[name])
	}
	fmt.Fprintf(w, "%q %v", body, err)
	if r.Context().Value(http.ServerContextKey) == nil || r.Context().Value(http.LocalAddrContextKey) == nil || r.RemoteAddr == "" {
		fmt.Fprint(w, "; something is missing")
	}
}

// say answers as the body of the request has it: "status;Name: value|Name: value;pieces by length", or what else is written there.
func say(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	parts := strings.Split(string(body), ";")
	if len(parts) != 3 {
		panic(http.ErrAbortHandler)
	}
	for _, line := range strings.Split(parts[1], "|") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			w.Header().Add(name, strings.ReplaceAll(strings.TrimPrefix(value, " "), "\\n", "\n"))
		}
	}
	if status, err := strconv.Atoi(parts[0]); err == nil {
		w.WriteHeader(status)
		w.Header().Set("Too-Late", "yes")
	}
	for i, piece := range strings.Split(parts[2], ",") {
		n, err := strconv.Atoi(piece)
		if err != nil {
			continue
		}
		if _, err := w.Write(bytes.Repeat([]byte{byte('a' + i)}, n)); err != nil {
			w.Write([]byte(err.Error()[:1]))
		}
	}
}

// routes are the handlers of both twins.
func routes() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("/echo", echo)
	m.HandleFunc("/say", say)
	return m
}

// post returns a plain request.
func post(path, body string, headers ...string) string {
	head := "POST " + path + " HTTP/1.1\r\nHost: localhost\r\n"
	for _, h := range headers {
		head += h + "\r\n"
	}
	return head + fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
}

// plainRequests are answered without net/http.
var plainRequests = []string{
	post("/echo", "{}"),
	post("/echo", `{"fingerprint": "0000000000000000"}`, "Content-Type: application/json", "Connection: keep-alive", "User-Agent: x (y; z)", "Accept: */*", "Accept-Encoding: gzip, br"),
	post("/echo", "x", "authorization: Bearer 0123456789", "ACCEPT-LANGUAGE: de"),
	"POST /echo HTTP/1.1\r\nhost: [::1]:80\r\ncontent-length: 1\r\n\r\nx",
	post("/echo", strings.Repeat("x", bodyMax)),
	post("/say", "200;Content-Type: application/json;17"), post("/say", ";;"), post("/say", "200;;0"), post("/say", "x;;5,6"),
	post("/say", "429;Content-Type: application/problem+json|Retry-After: 3;40"), post("/say", "401;WWW-Authenticate: Bearer realm=\"ndd\";40"),
	post("/say", "200;Content-Type: text/plain|B: 2|A: 1|B: 3|c: x\\ny;9"), post("/say", "200;Content-Type: a\\nb;9"), post("/say", "599;;3"),
	post("/say", "200;Content-Length: 10;10"), post("/say", "200;;2047"), post("/say", "200;;2048"), post("/say", "200;;2000,48"), post("/say", "200;;2049"), post("/say", "200;;2048,1"), post("/say", "200;;100000,3,5000,7"),
	post("/say", "200;Content-Length: 2048;2048"), post("/say", "200;Content-Length: 2050;2049,1"), post("/say", "200;Content-Length: 100005;5,100000"),
	post("/say", "204;;"), post("/say", "204;;5"), post("/say", "304;;5"), post("/say", ";Content-Encoding: x;5"), post("/say", "200;Content-Encoding: x;5000"),
}

// endingRequests are answered without net/http, and end their connection.
var endingRequests = []string{
	post("/say", "200;Connection: close;5"), post("/say", "503;Connection: close|Content-Type: text/plain;5000"), post("/say", "200;Content-Length: 10;9"),
	post("/say", "200;Content-Length: 10;5,6"), post("/say", "200;Content-Length: 10;5,6,5"), post("/say", "200;Content-Length: 5000;4000"), post("/say", "panic"),
}

// oddRequests are net/http's.
var oddRequests = []string{
	"GET /echo HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET /else HTTP/1.1\r\nHost: localhost\r\n\r\n", post("/else", "x"), post("/echo?k=3", "x"), post("/echo/", "x"), post("//echo", "x"),
	strings.Replace(post("/echo", "x"), "1.1", "1.0", 1), strings.Replace(post("/echo", "x"), "1.1", "1.2", 1), strings.Replace(post("/echo", "x"), "POST", "post", 1), " " + post("/echo", "x"), "\r\n" + post("/echo", "x"),
	strings.Replace(post("/echo", "x"), "POST ", "POST  ", 1), strings.Replace(post("/echo", "x"), "/echo", "http://localhost/echo", 1), strings.ReplaceAll(post("/echo", "x"), "\r\n", "\n"),
	post("/echo", ""), "POST /echo HTTP/1.1\r\nHost: localhost\r\n\r\n", "POST /echo HTTP/1.1\r\nContent-Length: 1\r\n\r\nx", "POST /echo HTTP/1.1\r\n\r\n",
	post("/echo", "x", "Host: other"), post("/echo", "x", "Content-Length: 1"), post("/echo", "x", "Content-Length: 2"), post("/echo", "x", "Accept: a", "Accept: b"),
	post("/echo", "1\r\nx\r\n0\r\n\r\n", "Transfer-Encoding: chunked"), "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", post("/echo", "x", "Expect: 100-continue"),
	post("/echo", "x", "Connection: close"), post("/echo", "x", "Connection: keep-alive, upgrade", "Upgrade: h2c"), post("/echo", "x", "Origin: http://evil.example"), post("/echo", "x", "X-Other: 1"),
	post("/echo", "x", "Accept: a", " b"), post("/echo", "x", "Accept:a"), post("/echo", "x", "Accept:  a"), post("/echo", "x", "Accept: a "), post("/echo", "x", "Accept: "), post("/echo", "x", "Accept : a"),
	post("/echo", "x", "Accept: a\tb"), post("/echo", "x", "Accept: \xff"), post("/echo", "x", "Accept: a\x00b"), post("/echo", "x", "\u212aeep: 1"), post("/echo", "x", "Accept: a\rb"), post("/echo", "x", "Accept"), post("/echo", "x", ": a"),
	strings.Replace(post("/echo", "x"), "localhost", "local host", 1), strings.Replace(post("/echo", "x"), "localhost", "a/b", 1), strings.Replace(post("/echo", "x"), "Length: 1", "Length: 01", 1), strings.Replace(post("/echo", "x"), "Length: 1", "Length: +1", 1),
	strings.Replace(post("/echo", "x"), "Length: 1", "Length: 1, 1", 1), strings.Replace(post("/echo", "x"), "Length: 1", "Length: 0x1", 1), strings.Replace(post("/echo", "x"), "Length: 1", "Length: -1", 1), strings.Replace(post("/echo", "x"), "Length: 1", "Length: 99999999999999999999", 1),
	post("/echo", strings.Repeat("x", bodyMax+1)), post("/echo", strings.Repeat("x", 100_000)), post("/echo", "x", "Accept: "+strings.Repeat("x", requestMax)),
	post("/echo", "x") + "x", post("/echo", "x") + post("/echo", "y"), post("/echo", "x") + "\r\n" + post("/say", ";;5"), post("/say", "200;Connection: close;5") + post("/echo", "y"),
	strings.TrimSuffix(post("/echo", "xyz"), "yz"), "POST /echo HTTP/1.1\r\nHost: loc", "POST /ec", "x", "\x16\x03\x01\x02\x00",
}

// TestTwins sends the same bytes to net/http and to a Listener before it: all that comes back is the same but the date, and each
// request was answered where it should be.
func TestTwins(t *testing.T) {
	for _, kind := range []struct {
		name     string
		requests []string
		here     bool
	}{{"plain", plainRequests, true}, {"ending", endingRequests, true}, {"odd", oddRequests, false}} {
		for _, request := range kind.requests {
			t.Run(fmt.Sprintf("%s/%.60q", kind.name, request), func(t *testing.T) {
				t.Parallel()
				alone, before := serve(t, false, routes(), nil), serve(t, true, routes(), nil)
				want, got := alone.exchange(t, request), before.exchange(t, request)
				if !reflect.DeepEqual(answers(t, got), answers(t, want)) || !strings.Contains(want, "chunked") && got != want {
					t.Errorf("%.500q, net/http alone %.500q", got, want)
				}
				if kind.name == "ending" { // of itself, while its client would go on
					c := before.dial(t)
					io.WriteString(c, request)
					if out, err := io.ReadAll(c); err != nil {
						t.Errorf("%.300q, %v", out, err)
					}
				}
				if n := before.quick.Counts(); n.Answered > 0 != kind.here || n.HandedOver > 0 == kind.here {
					t.Errorf("%+v", n)
				}
			})
		}
	}
}

// TestSplit sends a request in two pieces, cut at each byte, and byte by byte: wherever it is answered, the answer is the same.
func TestSplit(t *testing.T) {
	alone, before := serve(t, false, routes(), nil), serve(t, true, routes(), nil)
	request := post("/echo", `{"a": 1}`, "Content-Type: application/json")
	want := alone.exchange(t, request)
	for i := range request {
		if got := before.exchange(t, request[:i], request[i:]); got != want {
			t.Fatalf("cut at %d: %q, want %q", i, got, want)
		}
	}
	if got := before.exchange(t, strings.Split(request, "")...); got != want {
		t.Errorf("byte by byte: %q, want %q", got, want)
	}
}

// TestKeptAlive sends all plain requests on one connection, twice and with odd ones behind, each behind the answer to the one before.
func TestKeptAlive(t *testing.T) {
	alone, before := serve(t, false, routes(), nil), serve(t, true, routes(), nil)
	list := slices.Concat(plainRequests, plainRequests)
	list = append(list, list[0], post("/echo", "y", "X-Other: 1"), list[0], endingRequests[0])
	a, b := alone.dial(t), before.dial(t)
	inA, inB := bufio.NewReader(a), bufio.NewReader(b)
	for i, request := range list {
		io.WriteString(a, request)
		io.WriteString(b, request)
		if want, got := readOne(t, inA), readOne(t, inB); got != want {
			t.Fatalf("request %d, %.60q: %.300q, net/http alone %.300q", i, request, got, want)
		}
	}
	if n := before.quick.Counts(); n.Answered != uint64(len(list)-3) || n.HandedOver != 1 {
		t.Errorf("%+v of %d requests", n, len(list))
	}
	for _, in := range []*bufio.Reader{inA, inB} {
		if _, err := in.ReadByte(); err != io.EOF {
			t.Errorf("behind an answer that ends the connection: %v", err)
		}
	}
}

// readOne reads an answer.
func readOne(t *testing.T, in *bufio.Reader) string {
	t.Helper()
	a, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	a.Header.Set("Date", "now")
	return fmt.Sprint(a.Status, a.Header, a.ContentLength, a.TransferEncoding, a.Close, string(body), err)
}
