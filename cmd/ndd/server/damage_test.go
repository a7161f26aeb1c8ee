package server

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"ndd/engine"
	"ndd/engine/corpus/ndf"
	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
	"ndd/permute"
)

// TestIndexLosesItsEnd truncates a served index: every
// query and batch is answered with 503, the process lives, and the rest of the
// server too.
func TestIndexLosesItsEnd(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // which refuses to truncate a file that is in use
	}
	prints := sets.Uniform(200_000, 5)
	path := filepath.Join(t.TempDir(), "base.bin")
	if err := os.WriteFile(path, store.Bytes64(prints), 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := ndf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	design, err := permute.Named("halves", 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "index")
	o := segment.Options{Design: design, Table: table.Options{Layout: table.LayoutPlanar}}
	if err := engine.Build(t.Context(), dir, []*ndf.File{file}, engine.BuildOptions{Options: o}); err != nil {
		t.Fatal(err)
	}
	x, err := engine.Open(t.Context(), dir, engine.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b := start(t, x, "")
	query := func(f uint64) (int, string) {
		return b.send(t, "POST /v1/query", "application/json", fmt.Sprintf(`{"fingerprint": "%016x"}`, f))
	}
	if status, body := query(prints[0]); status != http.StatusOK || !strings.Contains(body, fmt.Sprintf("%016x", prints[0])) {
		t.Fatalf("%d %s", status, body)
	}
	if err := os.Truncate(filepath.Join(dir, "00000001.segment"), 8192); err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		if status, body := query(prints[i]); status != http.StatusServiceUnavailable || !strings.Contains(body, "cannot be read any more") {
			t.Fatalf("query %d: %d %s", i, status, body)
		}
		body := string(store.Bytes64(prints[i : i+20]))
		if status, said := b.send(t, "POST /v1/batch", "application/octet-stream", body); status != http.StatusServiceUnavailable {
			t.Fatalf("batch %d: %d %s", i, status, said)
		}
	}
	for range 10 {
		if status, _ := b.send(t, "GET /readyz", "", ""); status != http.StatusServiceUnavailable {
			t.Errorf("readyz: %d", status)
		}
	}
	if _, figures := scrape(t, b.service); !strings.Contains(figures, "\nndd_ready 0\n") {
		t.Error("the metrics say that it is ready")
	}
	if log := b.journal.String(); strings.Count(log, "the index is damaged") != 1 || strings.Count(log, "level=ERROR") != 1 {
		t.Errorf("damage was not logged once:\n%.2000s", log)
	}
	if status, _ := b.send(t, "GET /livez", "", ""); status != http.StatusOK {
		t.Errorf("livez: %d", status)
	}
}
