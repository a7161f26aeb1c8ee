package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ndd/cmd/ndd/client"
	"ndd/cmd/ndd/server"
	"ndd/engine"
	"ndd/engine/corpus/simhash"
	"ndd/engine/oracle"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

const (
	textA = "the quick brown fox jumps over the lazy dog while seven wizards brew strong coffee beneath a pale moon"
	textB = "an entirely different article on how sourdough bread rises slowly inside a cold stone kitchen at dawn"
)

// serve runs a real server of an empty index, and returns a client of it.
func serve(t *testing.T, o engine.Options) *client.Client {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	ready, told := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- server.Run(ctx, server.Options{Listen: "127.0.0.1:0", Version: "test",
			Output: server.Output{Ready: told, Log: slog.New(slog.DiscardHandler)},
			Load:   func(context.Context, *server.Loading) (*engine.Index, error) { return engine.New(3, o) }})
	}()
	line := make([]byte, 4096)
	n, err := ready.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	pool := &http.Transport{}
	t.Cleanup(func() {
		pool.CloseIdleConnections()
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return client.New(regexp.MustCompile(`http://[0-9.:]+`).FindString(string(line[:n])),
		client.Options{HTTP: &http.Client{Transport: pool}})
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// A crawler's day: what is new is stored, what is near is not, what is stored is found, compared
// and deleted.
func TestCalls(t *testing.T) {
	recipe := simhash.Default()
	c, ctx := serve(t, engine.Options{Recipe: &recipe}), t.Context()
	if err := c.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	decide, insert, count, near := must[*client.Decision](t), must[*client.Insertion](t), must[int](t),
		must[*client.Neighbours](t)
	a := decide(c.CheckAndInsert(ctx, client.Document{ID: "https://a.example/?x=1&y=2", Text: textA},
		client.CheckOptions{}))
	if !a.Inserted || a.ID != "https://a.example/?x=1&y=2" || *a.Number != 0 || a.K != 3 {
		t.Errorf("%+v", a)
	}
	again := decide(c.CheckAndInsert(ctx, client.Document{ID: "b", HTML: "<p>" + textA},
		client.CheckOptions{QueryOptions: client.QueryOptions{K: new(0), Limit: 1}}))
	if again.Inserted || again.K != 0 || again.Hits[0].IDs[0] != a.ID || again.Fingerprint != a.Fingerprint {
		t.Errorf("%+v", again)
	}
	list := must[[]client.Decision](t)(c.CheckAndInsertAll(ctx, []client.Document{{ID: "c", Text: textB},
		{ID: "d", Text: "short"}, {ID: "e", Text: textB}}, client.CheckOptions{}))
	if !list[0].Inserted || list[1].Status != 422 || !strings.Contains(list[1].Error, "too short") ||
		list[2].Inserted || list[2].Hits[0].IDs[0] != "c" {
		t.Errorf("%+v", list)
	}
	one := insert(c.Insert(ctx, client.Document{ID: "f", Fingerprint: "00000000000000ff"},
		client.StoreOptions{TTL: time.Hour}))
	taken, err := c.Insert(ctx, client.Document{ID: "f", Fingerprint: "00000000000000fe"},
		client.StoreOptions{OnConflict: "error"})
	var p *client.Problem
	if !one.Inserted || taken != nil || !errors.As(err, &p) || p.Status != http.StatusConflict || client.Unknown(err) {
		t.Errorf("%+v %+v %v", one, taken, err)
	}
	all := must[[]client.Insertion](t)(c.InsertAll(ctx, []client.Document{{ID: "f", Fingerprint: "00000000000000fe"},
		{Fingerprint: "0000000000000000"}}, client.StoreOptions{}))
	if !all[0].Replaced || all[1].Status != 422 {
		t.Errorf("%+v", all)
	}
	if n := near(c.Query(ctx, client.Document{ID: "unused", Fingerprint: "00000000000000ff"},
		client.QueryOptions{})); n.Documents != 1 || n.Hits[0].Distance != 1 || n.Hits[0].IDs[0] != "f" {
		t.Errorf("%+v", n)
	}
	var rows []string
	for r, err := range c.Batch(ctx, []uint64{0xfe, 1 << 40, 0xff}, new(1), true) {
		rows = append(rows, fmt.Sprint(r, " ", err))
	}
	if got, want := strings.Join(rows, ", "), "{0 00000000000000fe 0 f} <nil>, {2 00000000000000fe 1 f} "+
		"<nil>"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if s := must[*client.Stats](t)(c.Stats(ctx)); s.Documents != 3 || s.K != 3 || s.Durable || s.Version != "test" {
		t.Errorf("%+v", s)
	}
	if n := count(c.Delete(ctx, "f", "none")) + 10*count(c.DeleteFingerprint(ctx, a.Fingerprint)); n != 11 {
		t.Errorf("%d deleted", n)
	}
}

// TestList finds, lists and deletes documents by their IDs.
func TestList(t *testing.T) {
	c, ctx := serve(t, engine.Options{}), t.Context()
	ids := []string{"https://a.example/", "https://a.example/x?y=%20 z", "https://b.example/", "../x", "\u00e9"}
	var list []client.Document
	for i, id := range ids {
		list = append(list, client.Document{ID: id, Fingerprint: fmt.Sprintf("%016x", i), TTL: "90d"})
	}
	must[[]client.Insertion](t)(c.InsertAll(ctx, list, client.StoreOptions{}))
	for i, id := range ids {
		if d, ok, err := c.Find(ctx, id); d != (client.Stored{ID: id, Number: uint64(i)}) || !ok || err != nil {
			t.Errorf("%s: %+v, %v, %v", id, d, ok, err)
		}
	}
	if d, ok, err := c.Find(ctx, "nobody"); ok || err != nil {
		t.Errorf("%+v, %v, %v", d, ok, err)
	}
	listed := func(prefix string) (found []string) {
		for d, err := range c.List(ctx, prefix) {
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, d.ID)
		}
		return found
	}
	if got := listed(""); fmt.Sprint(got) != fmt.Sprint(ids) {
		t.Errorf("%q", got)
	}
	if got := listed("https://a"); len(got) != 2 {
		t.Errorf("%q", got)
	}
	if n := must[int](t)(c.DeletePrefix(ctx, "https://a.example/")); n != 2 {
		t.Errorf("%d deleted", n)
	}
	if got := listed(""); fmt.Sprint(got) != fmt.Sprint(ids[2:]) {
		t.Errorf("%q", got)
	}
}

// Empty lists are no calls.
func TestNothing(t *testing.T) {
	c, ctx := client.New("http://127.0.0.1:1", client.Options{}), t.Context()
	a, err := c.InsertAll(ctx, nil, client.StoreOptions{})
	b, err2 := c.CheckAndInsertAll(ctx, nil, client.CheckOptions{})
	n, err3 := c.Delete(ctx)
	for range c.Batch(ctx, nil, nil, false) {
		t.Error("a row")
	}
	if err = errors.Join(err, err2, err3); err != nil || len(a)+len(b)+n != 0 {
		t.Error(a, b, n, err)
	}
}

// What a call is answered with, how often it is made, and how the error is told.
func TestTries(t *testing.T) {
	refuse := func(status int, retry string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if retry != "" {
				w.Header().Set("Retry-After", retry)
			}
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"title": "No", "status": %d, "detail": "not now", 
				"errors": [{"location": "body.k", "message": "too much"}]}`, status)
		}
	}
	cut := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	for _, c := range []struct {
		name    string
		answer  http.HandlerFunc // to the first calls
		first   int32
		tries   int
		change  bool
		calls   int32
		problem int
		unknown bool
		text    string
	}{
		{"too much to do, once", refuse(429, "1"), 1, 0, true, 2, 0, false, ""},
		{"starting, once", refuse(503, "1"), 1, 0, false, 2, 0, false, ""},
		{"too much to do, always", refuse(429, "1"), 9, 2, true, 2, 429, false, "429 No: not now; body.k: too much"},
		{"damaged", refuse(503, ""), 9, 0, false, 1, 503, false, "503"},
		{"wrong", refuse(422, ""), 9, 0, false, 1, 422, false, "422"},
		{"of a proxy", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "<html>", http.StatusBadGateway) }, 9,
			0, false, 1, 502, false, "502 Bad Gateway"},
		{"a query is cut off", cut, 2, 0, false, 3, 0, false, ""},
		{"a change is cut off", cut, 2, 0, true, 1, 0, true, "no answer"},
		{"no JSON", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{") }, 9, 0, false, 1, 0, false,
			"an answer that is none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "Bearer secret" {
					t.Errorf("token %q", r.Header.Get("Authorization"))
				}
				if calls.Add(1) <= c.first {
					c.answer(w, r)
					return
				}
				fmt.Fprint(w, "{}")
			}))
			defer s.Close()
			x := client.New(s.URL+"/", client.Options{Token: "secret", Tries: c.tries, HTTP: s.Client()})
			var err error
			if began := time.Now(); c.change {
				_, err = x.Insert(t.Context(), client.Document{}, client.StoreOptions{})
			} else if _, err = x.Stats(t.Context()); c.calls == 2 && time.Since(began) < time.Second {
				t.Errorf("tried again after %v", time.Since(began))
			}
			var p *client.Problem
			if errors.As(err, &p); (p != nil) != (c.problem > 0) || p != nil && p.Status != c.problem {
				t.Errorf("problem %+v", p)
			}
			if calls.Load() != c.calls || (err != nil) != (c.text != "") || err != nil && !strings.Contains(err.Error(),
				c.text) || client.Unknown(err) != c.unknown {
				t.Errorf("%d calls, %v", calls.Load(), err)
			}
		})
	}
}

// A call that waits to be made again ends with its context.
func TestContext(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := client.New(s.URL, client.Options{HTTP: &http.Client{Transport: endingTransport{s.Client().Transport,
		cancel}}}).Stats(ctx)
	var p *client.Problem
	if !errors.Is(err, context.Canceled) || !errors.As(err, &p) || p.RetryAfter != time.Hour {
		t.Error(err)
	}
}

// An endingTransport ends a context when an answer has come.
type endingTransport struct {
	http.RoundTripper
	cancel context.CancelFunc
}

func (e endingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	a, err := e.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer a.Body.Close()
	data, err := io.ReadAll(a.Body)
	a.Body = io.NopCloser(bytes.NewReader(data))
	time.AfterFunc(20*time.Millisecond, e.cancel) // as it waits, or before: the error is the same
	return a, err
}

// TestBatchLongID: the longest ID that an index may have is read, though each byte of it is
// escaped.
func TestBatchLongID(t *testing.T) {
	long := strings.Repeat("\x01", 32<<10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(client.Row{Fingerprint: "0000000000000001", ID: long})
	}))
	defer s.Close()
	n := 0
	for row, err := range client.New(s.URL, client.Options{HTTP: s.Client()}).Batch(t.Context(), []uint64{1}, nil, false) {
		if n++; err != nil || row.ID != long {
			t.Fatalf("%d bytes, %v", len(row.ID), err)
		}
	}
	if n != 1 {
		t.Errorf("%d rows", n)
	}
}

// An answer that breaks off is not taken for a whole one.
func TestBatchBreaksOff(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, `{"query": 0, "id": "a"}`)
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	defer s.Close()
	rows, failed := 0, error(nil)
	for _, err := range client.New(s.URL, client.Options{HTTP: s.Client()}).Batch(t.Context(), []uint64{0}, nil, false) {
		if rows++; err != nil {
			failed = err
		}
	}
	if rows != 2 || failed == nil || !strings.Contains(failed.Error(), "broke off") {
		t.Errorf("%d rows, %v", rows, failed)
	}
}

// Times are sent as the server takes them, and never shorter.
func TestTTL(t *testing.T) {
	var path atomic.Value
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path.Store(r.URL.RawQuery)
		fmt.Fprint(w, "{}")
	}))
	defer s.Close()
	c := client.New(s.URL, client.Options{HTTP: s.Client()})
	for d, want := range map[time.Duration]string{time.Millisecond: "ttl=1s", time.Second: "ttl=1s",
		90 * 24 * time.Hour: "ttl=129600m", 90*24*time.Hour + 1: "ttl=129601m",
		20 * 365 * 24 * time.Hour: "ttl=175200h", 290 * 365 * 24 * time.Hour: "ttl=forever", -1: "ttl=forever", 0: ""} {
		if _, err := c.Insert(t.Context(), client.Document{}, client.StoreOptions{TTL: d}); err != nil ||
			path.Load() != want {
			t.Errorf("%v: %v, want %v; %v", d, path.Load(), want, err)
		}
	}
}
