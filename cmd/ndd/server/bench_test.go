package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"ndd/engine/oracle/sets"
)

// BenchmarkQuery is a query without the network: guard, JSON, engine, JSON.
func BenchmarkQuery(b *testing.B) {
	base, queries := sets.Planted(1<<15, 1024)
	s := start(b, newIndex(b, 3, defaultRecipe(), base), "")
	quoted := fmt.Sprintf(`{"text": %q}`, strings.Repeat(pageA+" "+pageB+" ", 25)) // 5 KB
	for _, c := range []struct {
		name string
		body func(i int) string
	}{
		{"fingerprint", func(i int) string { return fmt.Sprintf(`{"fingerprint": "%016x"}`, queries[i%len(queries)]) }},
		{"text", func(int) string { return quoted }},
	} {
		b.Run("subject="+c.name+"/n=32768/k=3", func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				exchange(b, s.Config.Handler, "/v1/query", c.body(i))
			}
		})
	}
}

// BenchmarkInsert adds a document a request.
func BenchmarkInsert(b *testing.B) {
	s := start(b, newIndex(b, 3, nil, nil), "")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		exchange(b, s.Config.Handler, "/v1/insert", fmt.Sprintf(`{"id": "document-%d", "fingerprint": "%016x"}`, i,
			uint64(i)*0x9e3779b97f4a7c15))
	}
}

// exchange sends a request past the network; it must be answered 200.
func exchange(b *testing.B, h http.Handler, path, body string) []byte {
	r := httptest.NewRequest("POST", "http://localhost"+path, strings.NewReader(body))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		b.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Body.Bytes()
}
