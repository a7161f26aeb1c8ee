package server

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ndd/engine"
	"ndd/engine/memory"
	"ndd/engine/storage/disk"
)

// value returns a figure of the metrics' text.
func value(t *testing.T, text, name string) float64 {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindStringSubmatch(text)
	if m == nil {
		t.Errorf("no %s", name)
		return -1
	}
	v, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Error(err)
	}
	return v
}

// The metrics follow what requests do: queries by endpoint, the log and its syncs, segments and tables, memory, latency and waiting.
func TestMetrics(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	if err := engine.Create(dir, 3, engine.Options{}); err != nil {
		t.Fatal(err)
	}
	figures := NewDiskFigures()
	x, err := engine.Open(t.Context(), dir, engine.OpenOptions{Write: true, Disk: disk.Hooked(figures)})
	if err != nil {
		t.Fatal(err)
	}
	b := startOptions(t, x, &Options{Limits: Limits{Queue: waitMax}, Disk: figures, Folder: dir, Budget: memory.NewBudget(memory.Set(1 << 30))})
	for i := range 3 {
		ask[any](t, b, "/v1/insert", fmt.Sprintf(`{"id": "%d", "fingerprint": "%016x"}`, i, i))
	}
	logged := scrapeText(t, b)
	if err := x.Live().Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	ask[any](t, b, "/v1/query", `{"fingerprint": "0000000000000000"}`)
	ask[any](t, b, "/v1/check-and-insert", `{"documents": [{"id": "a", "fingerprint": "0000000000000000"}, {"id": "b", "fingerprint": "0000000000000000"}]}`)
	if status, body := b.send(t, "POST /v1/batch", "", strings.Repeat("\x00", 8*5)); status != http.StatusOK {
		t.Fatal(body)
	}
	text := scrapeText(t, b)
	for name, want := range map[string]float64{
		`ndd_queries_total{endpoint="/v1/query"}`: 1, `ndd_queries_total{endpoint="/v1/check-and-insert"}`: 2, `ndd_queries_total{endpoint="/v1/batch"}`: 5,
		`ndd_index_segments`: 1, `ndd_index_documents`: 3, `ndd_index_unflushed`: 0, `ndd_index_merging`: 0,
		`ndd_memory_bytes_limit{purpose="index"}`: 1 << 30, `ndd_memory_bytes_limit{purpose="requests"}`: 512 << 20, `ndd_memory_bytes{purpose="requests"}`: 0,
		`ndd_http_request_seconds_count{endpoint="POST /v1/insert"}`: 3, `ndd_gate_wait_seconds_count{gate="insert"}`: 4, `ndd_gate_queue{gate="query"}`: 0, `ndd_connections_limit`: 4096,
	} {
		if got := value(t, text, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	for _, name := range []string{`ndd_table_bytes{table="0"}`, `ndd_table_bytes{table="1"}`, `ndd_segment_file_bytes`, `ndd_disk_written_bytes_total{file="log"}`, `ndd_disk_written_bytes_total{file="other"}`, `ndd_disk_sync_seconds_sum{file="log"}`} {
		if value(t, text, name) <= 0 {
			t.Errorf("%s is 0", name)
		}
	}
	page, err := os.ReadFile("../help/operations.txt")
	if err != nil {
		t.Fatal(err)
	}
	told := regexp.MustCompile(`\bndd_[a-z_]+`).FindAllString(string(page), -1)
	for _, name := range told {
		if !strings.Contains(text, "\n"+name+"{") && !strings.Contains(text, "\n"+name+" ") && !strings.Contains(text, "\n"+name+"_count{") {
			t.Errorf("ndd help operations has %s watched, which is no metric", name)
		}
	}
	if len(told) < 10 {
		t.Errorf("ndd help operations names %d metrics", len(told))
	}
	if n := value(t, text, `ndd_disk_sync_seconds_count{file="log"}`); n < 3 {
		t.Errorf("%v syncs of the log for 3 inserts", n)
	}
	if before, after := value(t, logged, "ndd_log_bytes"), value(t, text, "ndd_log_bytes"); before <= 0 || after >= before {
		t.Errorf("the log has %v bytes, and %v when all is in a segment", before, after)
	}
}

// scrapeText returns what the admin listener says at /metrics.
func scrapeText(t *testing.T, b *bench) string {
	t.Helper()
	front := b.Config.Handler
	defer func() { b.Config.Handler = front }()
	b.Config.Handler = b.adminHandler(true, false)
	_, text := b.send(t, "GET /metrics", "", "")
	return text
}
