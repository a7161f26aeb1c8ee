package main

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"syscall"
	"testing"

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

// A disk that is full at any write, of a temporary file, the output or its record,
// leaves nothing that is not whole, and a rerun gives the bytes of a run without
// trouble.
func TestBatchDiskFull(t *testing.T) {
	args := batchCorpus(t, 300, 400)
	whole := t.TempDir()
	disk := &fullDisk{last: 1 << 30}
	if err := runOn(t.Context(), disk.on, args(whole)); err != nil {
		t.Fatal(err)
	}
	want := contents(t, whole)
	if len(want) != 2 || disk.writes < 20 {
		t.Fatalf("%d files in %d writes", len(want), disk.writes)
	}
	step := 1
	if testing.Short() {
		step = 5
	}
	for last := 0; last < disk.writes; last += step {
		out := t.TempDir()
		err := runOn(t.Context(), (&fullDisk{last: last}).on, args(out))
		if !errors.Is(err, syscall.ENOSPC) || exitStatus(t.Context(), err) != exitFailed {
			t.Fatalf("full after %d writes: %v", last, err)
		}
		left := contents(t, out)
		if data, ok := left["hits.tsv"]; len(left) > 1 || len(left) == 1 && (!ok || data != want["hits.tsv"]) {
			t.Fatalf("full after %d writes: %d files are left", last, len(left))
		}
		if last%5 > 0 {
			continue
		}
		if err := runOn(t.Context(), nil, args(out)); err != nil || !maps.Equal(contents(t, out), want) {
			t.Fatalf("the rerun differs: %v", err)
		}
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
