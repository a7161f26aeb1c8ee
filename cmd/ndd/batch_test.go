package main

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"ndd/engine/disk"
	"ndd/engine/oracle/faults"
	"ndd/engine/oracle/sets"
	"ndd/engine/store"
)

// batchCorpus is F, of which half is equal, Q, and the arguments of a scan with so
// little memory that hits go to files.
func batchCorpus(t *testing.T, n, nq int) (args func(out string) []string) {
	t.Helper()
	dir := t.TempDir()
	set := sets.All(n, nq, 3, 9)[10]
	if set.Name != "half equal" {
		t.Fatal(set.Name)
	}
	for name, prints := range map[string][]uint64{"f.bin": set.Base, "q.bin": set.Queries} {
		if err := os.WriteFile(filepath.Join(dir, name), store.Bytes64(prints), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return func(out string) []string {
		return []string{"batch", "--scan", filepath.Join(dir, "f.bin"), "--threads", "1", "--memory", "700KiB", "--shard", "0/1",
			"-o", filepath.Join(out, "hits.tsv"), filepath.Join(dir, "q.bin")}
	}
}

// A disk that fails at any call, of a temporary file, the output or its record, leaves nothing
// that is not whole, and a rerun gives the bytes of a run without trouble.
func TestBatchFaults(t *testing.T) {
	args := batchCorpus(t, 300, 400)
	sound := t.TempDir()
	if err := runOn(t.Context(), nil, args(sound)); err != nil {
		t.Fatal(err)
	}
	want := contents(t, sound)
	step := 3
	if testing.Short() {
		step = 17
	}
	var out string
	calls := faults.Each(t, step, func(d *disk.Disk) error {
		out = t.TempDir()
		return runOn(t.Context(), d, args(out))
	}, func(f faults.Fault, whole bool) {
		left := contents(t, out)
		if data, ok := left["hits.tsv"]; len(left) > 1 && !whole || len(left) > 0 && (!ok || data != want["hits.tsv"]) {
			t.Fatalf("%+v: %d files are left", f, len(left))
		}
		if err := runOn(t.Context(), nil, args(out)); err != nil || !maps.Equal(contents(t, out), want) {
			t.Fatalf("%+v: the rerun differs: %v", f, err)
		}
	})
	if len(want) != 2 || calls < 60 {
		t.Fatalf("%d files in %d calls", len(want), calls)
	}
}

func TestBatchKilled(t *testing.T) {
	prints, queries := 600, 1500
	if testing.Short() {
		prints, queries = 300, 400
	}
	testKilled(t, 10, batchCorpus(t, prints, queries), func(out string, want map[string]string) {
		if left := contents(t, out); len(left) > 0 && left["hits.tsv"] != want["hits.tsv"] {
			t.Fatalf("interrupted: %d files are left", len(left))
		}
	})
}
