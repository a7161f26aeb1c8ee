package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/disk"
)

// TestMetricsOnTheMainPort checks that /metrics on the main port names the admin address, and every answer of both
// listeners has the header nosniff.
func TestMetricsOnTheMainPort(t *testing.T) {
	b := startOptions(t, newIndex(t, 3, nil, []uint64{0}), &Options{Admin: "127.0.0.1:7745"})
	b.wants(t, http.StatusNotFound, "GET /metrics", "", "", "http://127.0.0.1:7745/metrics (--admin)")
	for _, what := range []string{"GET /", "GET /livez", "GET /openapi.json", "GET /none", "/v1/query", "/v1/batch",
		"GET /v1/stats", "GET /metrics"} {
		if what == "GET /metrics" {
			b.Config.Handler = b.adminHandler(true)
		}
		if _, header, _ := b.do(t, b.request(t, what, "", "12345678")); header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", what, header)
		}
	}
	b.options.Admin = ""
	b.Config.Handler = b.handler(true)
	b.wants(t, http.StatusNotFound, "GET /metrics", "", "", "--admin off")
}

// TestChangesAreCounted checks that the metrics count near-duplicates that were not inserted, replaced documents and
// expired documents. The access log has the id and the outcome of each.
func TestChangesAreCounted(t *testing.T) {
	t.Parallel() // it waits for a time to live
	b := start(t, newIndex(t, 3, nil, []uint64{0}), "")
	var log journal
	b.accessLog = newAccessLog(&log)
	for _, c := range []struct{ what, body, id, outcome string }{
		{"/v1/insert", `{"id": "a", "fingerprint": "00000000000000ff"}`, "a", "inserted"},
		{"/v1/insert", `{"id": "a", "fingerprint": "000000000000ffff"}`, "a", "replaced"},
		{"/v1/insert?on_conflict=keep", `{"id": "a", "fingerprint": "00000000000000ff"}`, "a", "kept"},
		{"/v1/check-and-insert", `{"id": "b", "fingerprint": "000000000000fffe"}`, "b", "near-duplicate"},
		{"/v1/check-and-insert?ttl=1s", `{"id": "c", "fingerprint": "ffffffff00000000"}`, "c", "inserted"},
		{"/v1/delete", `{"id": "none"}`, "none", "not there"},
		{"/v1/delete", `{"id": "a"}`, "a", "deleted"},
	} {
		b.wants(t, http.StatusOK, c.what, "", c.body)
		must.Eventually(t, "the line", func() bool {
			lines := strings.Split(strings.TrimSpace(log.String()), "\n")
			return strings.Contains(lines[len(lines)-1], fmt.Sprintf(`"id":%q,"outcome":%q`, c.id, c.outcome))
		})
	}
	for _, want := range []string{"ndd_near_duplicates_total 1", "ndd_replaced_documents_total 1",
		"ndd_inserted_documents_total 3", "ndd_deleted_documents_total 1"} {
		must.Eventually(t, want, func() bool { return strings.Contains(scrape(b.service), "\n"+want+"\n") })
	}
}

// value returns a figure of the metrics' text.
func value(t *testing.T, text, name string) (v float64) {
	t.Helper()
	_, after, _ := strings.Cut(text, "\n"+name+" ")
	if _, err := fmt.Sscan(after, &v); err != nil {
		t.Errorf("no %s: %v", name, err)
	}
	return v
}

// TestMetrics checks that the metrics follow the requests: queries by endpoint, the log and its syncs, segments and
// tables, memory, latency and waiting requests.
func TestMetrics(t *testing.T) {
	figures := NewDiskFigures()
	x, dir := durable(t, nil, disk.Hooked(figures))
	b := startOptions(t, x, &Options{hooks: hooks{limit: bounds{Queue: waitMax}.set},
		Storage: Storage{Disk: figures, Folder: dir, Budget: memory.NewBudget(memory.Set(1 << 30))}})
	for i := range 3 {
		ask[any](t, b, "/v1/insert", fmt.Sprintf(`{"id": "%d", "fingerprint": "%016x"}`, i, i))
	}
	logged := scrape(b.service)
	must.Do(t, live.Unwrap(x).Flush(t.Context()))
	ask[any](t, b, "/v1/query", `{"fingerprint": "0000000000000000"}`)
	ask[any](t, b, "/v1/check-and-insert",
		`{"documents": [{"id": "a", "fingerprint": "0000000000000000"}, {"id": "b", "fingerprint": "0000000000000000"}]}`)
	b.wants(t, http.StatusOK, "/v1/batch", "", strings.Repeat("\x00", 8*5))
	text := scrape(b.service)
	for name, want := range map[string]float64{
		`ndd_queries_total{endpoint="/v1/query"}`: 1, `ndd_queries_total{endpoint="/v1/check-and-insert"}`: 2,
		`ndd_queries_total{endpoint="/v1/batch"}`: 5,
		`ndd_index_segments`:                      1, `ndd_index_documents`: 3, `ndd_index_unflushed`: 0,
		`ndd_memory_bytes_limit{purpose="index"}`: 1 << 30, `ndd_memory_bytes_limit{purpose="requests"}`: 512 << 20,
		`ndd_memory_bytes{purpose="requests"}`:                       0,
		`ndd_http_request_seconds_count{endpoint="POST /v1/insert"}`: 3, `ndd_gate_wait_seconds_count{gate="insert"}`: 4,
		`ndd_gate_queue{gate="query"}`: 0, `ndd_connections_limit`: 4096,
		`ndd_http_requests_total{endpoint="POST /v1/insert",status="200"}`: 3,
	} {
		if got := value(t, text, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	for _, name := range []string{`ndd_segment_file_bytes`, `ndd_disk_sync_seconds_sum{file="log"}`} {
		if value(t, text, name) <= 0 {
			t.Errorf("%s is 0", name)
		}
	}
	page, err := os.ReadFile("../help/operations.md")
	must.Do(t, err)
	told := regexp.MustCompile(`\bndd_[a-z_]+`).FindAllString(string(page), -1)
	for _, name := range told {
		if !strings.Contains(text, "\n"+name+"{") && !strings.Contains(text, "\n"+name+" ") && !strings.Contains(text,
			"\n"+name+"_count{") {
			t.Errorf("ndd help operations has %s watched, which is no metric", name)
		}
	}
	if len(told) < 10 {
		t.Errorf("ndd help operations names %d metrics", len(told))
	}
	if n := value(t, text, `ndd_disk_sync_seconds_count{file="log"}`); n < 3 {
		t.Errorf("%v syncs of the log for 3 inserts", n)
	}
	if before, after := value(t, logged, "ndd_log_bytes"), value(t, text, "ndd_log_bytes"); before <= 0 ||
		after >= before {
		t.Errorf("the log has %v bytes, and %v when all is in a segment", before, after)
	}
}

// scrape returns what /metrics has.
func scrape(s *service) string {
	w := httptest.NewRecorder()
	s.metrics.handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}
