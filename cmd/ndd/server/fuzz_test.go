package server

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// FuzzBodies sends anything to every endpoint that takes a body: no answer is
// a failure of the server, and none is without a reason.
func FuzzBodies(f *testing.F) {
	for _, c := range malformed {
		if _, path, ok := strings.Cut(c.what, " /v1/"); ok && len(c.body) < 4<<10 {
			f.Add("/v1/"+path, c.contentType, []byte(c.body))
		}
	}
	f.Add("/v1/query", "text/html", []byte("<html><meta charset=utf-16><p>"+pageA))
	f.Add("/v1/insert", "application/json", []byte(`{"documents": [{"id": "a", "html": "<p>`+pageA+`"}]}`))
	f.Add("/v1/insert?id=a", "text/plain", []byte(pageA))
	f.Add("/v1/check-and-insert?id=a&k=1&limit=2", "text/html", []byte("<p>"+pageA))
	f.Add("/v1/compare?k=1", "application/json", []byte(`{"a": {"text": "`+pageA+`"}, "b": {"html": "<p>`+pageB+`"}}`))
	f.Add("/v1/delete", "application/json", []byte(`{"ids": ["a", "b"]}`))
	f.Add("/v1/delete", "application/json", []byte(`{"fingerprint": "0000000000000000"}`))
	f.Add("/v1/check-and-insert", "application/json", []byte(`{"id": "a", "text": "`+pageA+`", "k": 0, "limit": 1}`))
	f.Add("/v1/batch?k=1&unique=1", "", []byte("1234567812345678"))

	x := newIndex(f, 3, defaultRecipe(), []uint64{0})
	defer x.Close()
	s, err := newService(&Options{Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		f.Fatal(err)
	}
	s.serve(x)
	h := s.handler(true)
	f.Fuzz(func(t *testing.T, path, contentType string, body []byte) {
		if !strings.HasPrefix(path, "/v1/") {
			return
		}
		r, err := http.NewRequest("POST", "http://localhost"+path, strings.NewReader(string(body)))
		if err != nil {
			return // no URL
		}
		r.Header.Set("Content-Type", contentType)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code >= 500 || w.Code == http.StatusTooManyRequests {
			t.Fatalf("%s, %s, %q: %d %s", path, contentType, body, w.Code, w.Body)
		}
		if w.Code >= 400 && w.Header().Get("Content-Type") != "application/problem+json" {
			t.Fatalf("%s, %s, %q: %d without a problem: %s", path, contentType, body, w.Code, w.Body)
		}
		if what := s.held(); what != "" {
			t.Fatal("not given back: " + what)
		}
	})
}

// FuzzURLs sends anything as path, parameters and headers, by both methods: no answer is a failure of the server.
func FuzzURLs(f *testing.F) {
	for _, url := range []string{"/", "/docs", "/ui/main.js", "/livez", "/readyz", "/openapi.json", "/v1/stats", "/v1/activity", "/v1/distribution", "/v1/stats?x=1",
		"/v1/query?k=3&limit=1", "/v1/insert?id=a&ttl=90d&on_conflict=keep", "/v1/check-and-insert?id=%00", "/v1/batch?unique=maybe&k=-1", "/v1/compare?k=99999999999999999999", "//", "/ui/../v1/stats", "/%2e%2e"} {
		f.Add(url, "a", "text/plain")
		f.Add(url, "", "")
	}
	x := newIndex(f, 3, defaultRecipe(), []uint64{0})
	defer x.Close()
	s, err := newService(&Options{Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		f.Fatal(err)
	}
	s.serve(x)
	h := s.handler(true)
	f.Fuzz(func(t *testing.T, url, id, accept string) {
		for _, method := range []string{"GET", "POST"} {
			r, err := http.NewRequest(method, "http://localhost"+url, strings.NewReader(pageA))
			if err != nil || r.URL.Host != "localhost" {
				return // no URL of ours
			}
			r.Header.Set(idHeader, id)
			r.Header.Set("Accept", accept)
			r.Header.Set("Content-Type", "text/plain")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code >= 500 || w.Code == http.StatusTooManyRequests {
				t.Fatalf("%s %s: %d %s", method, url, w.Code, w.Body)
			}
		}
	})
}
