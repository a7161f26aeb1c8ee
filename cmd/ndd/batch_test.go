package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ndd/engine/oracle"
	"ndd/engine/oracle/faults"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/store"
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

// TestBatchCount: what --count says is what it says of the hits that are written, whatever they are
// found in. A hit counts once for each document, or with --unique for each fingerprint.
func TestBatchCount(t *testing.T) {
	dir := t.TempDir()
	f, q := filepath.Join(dir, "f.bin"), filepath.Join(dir, "q.bin")
	set := sets.All(1000, 300, 3, 9)[10] // half equal
	queries := append(slices.Clone(set.Queries), set.Queries[:50]...)
	for name, prints := range map[string][]uint64{f: set.Base, q: queries} {
		if err := os.WriteFile(name, store.Bytes64(prints), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	said := func(stdin bool, args ...string) (kept bool, totals string) {
		t.Helper()
		in := bytes.NewReader(nil)
		if stdin {
			in = bytes.NewReader(store.Bytes64(set.Base))
		}
		var stderr bytes.Buffer
		if status := run(t.Context(), append(args, "--checksum", q), in, io.Discard, &stderr); status != exitDone {
			t.Fatalf("%q: status %d, %s", args, status, &stderr)
		}
		_, totals, _ = strings.Cut("\n"+stderr.String(), "\nqueries ")
		return !strings.Contains(stderr.String(), "no hits (they are only counted)"), totals
	}
	hits := oracle.Search(set.Base, queries, 3)
	index, huffman := builtIndex(t, f), builtIndex(t, f, "--layout", "huffman")
	for _, c := range []struct {
		stdin bool
		args  []string
		kept  [2]bool // without and with --unique
	}{
		{false, []string{"--scan", f}, [2]bool{false, true}},
		{true, []string{"--scan", "-"}, [2]bool{false, true}},
		{false, []string{"--scan", f, "--threads", "1", "--memory", "600KiB"}, [2]bool{false, true}},
		{false, []string{"--scan", index}, [2]bool{false, false}},
		{false, []string{"--scan", huffman}, [2]bool{false, false}},
		{false, []string{"-i", index}, [2]bool{true, true}},
	} {
		for i, unique := range []string{"--unique=false", "--unique"} {
			args := append([]string{"batch", "-v", unique}, c.args...)
			_, want := said(c.stdin, args...)
			kept, got := said(c.stdin, append(args, "--count")...)
			if got != want || kept != c.kept[i] {
				t.Errorf("%q: %q, want %q; hits kept: %v", args, got, want, kept)
			}
			if i == 0 && !strings.Contains(got, fmt.Sprintf(" hits %d\nchecksum %016x\n", len(hits), oracle.Checksum(hits))) {
				t.Errorf("%q: %q, and there are %d hits", args, got, len(hits))
			}
		}
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
	if len(want) != 2 || calls < 40 {
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
