package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ndd/engine"
	"ndd/engine/corpus/ndf"
	"ndd/engine/index/segment"
	"ndd/engine/index/worker"
	"ndd/engine/storage/store"
	"ndd/numa"
	"ndd/permute"
)

// TestNodes asks an index whose tables are spread, and reads the memory nodes'
// figures; without it, or while it loads, there are none.
func TestNodes(t *testing.T) {
	dir := t.TempDir()
	base := filepath.Join(dir, "base.bin")
	if err := os.WriteFile(base, store.Bytes64([]uint64{1, 2, 4, 1 << 63}), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := ndf.Open(base)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	design, err := permute.Named("halves", 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := engine.Build(t.Context(), filepath.Join(dir, "index"), []*ndf.File{f}, engine.BuildOptions{Options: segment.Options{Design: design}}); err != nil {
		t.Fatal(err)
	}
	metrics := func(b *bench) string {
		handler := b.Config.Handler
		defer func() { b.Config.Handler = handler }()
		b.Config.Handler = b.adminHandler(true, false)
		status, body := b.send(t, "GET /metrics", "", "")
		if status != 200 {
			t.Errorf("/metrics: %d", status)
		}
		return body
	}
	b := start(t, nil, "")
	if strings.Contains(metrics(b), "ndd_node") {
		t.Error("figures of nodes before there is an index")
	}
	x, err := engine.Open(t.Context(), filepath.Join(dir, "index"), engine.OpenOptions{Spread: &worker.Options{Host: numa.New(numa.Options{}), Workers: 3}})
	if err != nil {
		t.Fatal(err)
	}
	b.serve(x)
	for range 3 {
		if status, body := b.send(t, "POST /v1/query", "application/json", `{"fingerprint": "0000000000000003"}`); status != 200 || !strings.Contains(body, "0000000000000001") {
			t.Fatal(status, body)
		}
	}
	body := metrics(b)
	for _, want := range []string{
		`ndd_table_copies 1`, `ndd_nodes_without `, `ndd_node_tables{node="0"} `, `ndd_node_table_bytes{node="0"} `, `ndd_node_pages{node="0"} `,
		`ndd_node_workers{node="0"} 3`, `ndd_node_workers_away_total{node="0"} 0`,
	} {
		if !strings.Contains(body, "\n"+want) {
			t.Errorf("no %q in the metrics", want)
		}
	}
	queries := 0
	r, _ := x.Live().Spread()
	for _, n := range r.Nodes {
		queries += int(n.Queries)
	}
	if queries < 3 {
		t.Errorf("%+v", r)
	}
}
