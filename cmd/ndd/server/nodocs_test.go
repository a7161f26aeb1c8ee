package server

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"ndd/engine"
	"ndd/engine/corpus/ndf"
	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/permute"
)

// An index that keeps fingerprints only is asked for them: its hits have no ids.
func TestIndexWithoutDocuments(t *testing.T) {
	path := filepath.Join(t.TempDir(), "base.bin")
	if err := os.WriteFile(path, []byte(little([]uint64{5, 7, 1 << 40})), 0o644); err != nil {
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
	o := segment.Options{Design: design, NoDocs: true, Table: table.Options{Layout: table.LayoutPlanar}}
	if err := engine.Build(t.Context(), dir, []*ndf.File{file}, engine.BuildOptions{Options: o}); err != nil {
		t.Fatal(err)
	}
	x, err := engine.Open(context.Background(), dir, engine.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b := start(t, x, "")
	got := ask[Neighbours](t, b, "/v1/query", `{"fingerprint": "0000000000000005", "k": 1}`)
	if len(got.Hits) != 2 || got.Hits[0].Distance != 0 || got.Hits[1].Distance != 1 || len(got.Hits[0].IDs)+len(got.Hits[1].IDs) != 0 || got.Hits[0].IDs == nil {
		t.Errorf("%+v", got)
	}
}
