package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/storage/store"
)

// batchCorpus returns the arguments of a scan with so little memory that hits go to files.
func batchCorpus(t *testing.T, n, nq int) (args func(out string) []string) {
	t.Helper()
	set := sets.ByName("half equal", n, nq, 3, 9)
	f, q := writePrints(t, set.Base), writePrints(t, set.Queries)
	return func(out string) []string {
		return []string{"batch", "--scan", f, "--threads", "1", "--memory", "700KiB", "--force", "-o",
			filepath.Join(out, "hits.tsv"), q}
	}
}

// TestBatchCount checks that --count reports the totals of the hits of the same command without it, in an index and in
// a scan. A hit counts once for each document, or with --unique once for each fingerprint.
func TestBatchCount(t *testing.T) {
	set := sets.ByName("half equal", 1000, 300, 3, 9)
	queries := append(slices.Clone(set.Queries), set.Queries[:50]...)
	f, q := writePrints(t, set.Base), writePrints(t, queries)
	said := func(stdin bool, args ...string) (totals string) {
		t.Helper()
		in := ""
		if stdin {
			in = string(store.Bytes64(set.Base))
		}
		status, _, messages := onMachine(t, memory.Machine{}, in, append(args, q)...)
		if status != exitDone {
			t.Fatalf("%q: status %d, %s", args, status, messages)
		}
		_, totals, _ = strings.Cut("\n"+messages, "\nqueries ")
		return totals
	}
	hits := oracle.Search(set.Base, queries, 3)
	index := builtIndex(t, f)
	for _, c := range []struct {
		stdin bool
		args  []string
	}{
		{false, []string{"--scan", f}},
		{true, []string{"--scan", "-"}},
		{false, []string{"--scan", f, "--threads", "1", "--memory", "600KiB"}},
		{false, []string{"-i", index}},
	} {
		for i, unique := range []string{"--unique=false", "--unique"} {
			args := append([]string{"batch", "-v", unique}, c.args...)
			want := said(c.stdin, args...)
			got := said(c.stdin, append(args, "--count")...)
			if got != want {
				t.Errorf("%q: %q, want %q", args, got, want)
			}
			total := fmt.Sprintf(" hits %d\nndd: checksum %016x\n", len(hits), oracle.Checksum(hits))
			if i == 0 && !strings.Contains(got, total) {
				t.Errorf("%q: %q, and there are %d hits", args, got, len(hits))
			}
		}
	}
}

func TestBatchFaults(t *testing.T) {
	testFaults(t, long.Or(17, 3), 1, batchCorpus(t, 300, 400))
}

func TestBatchKilled(t *testing.T) {
	fingerprints, queries, moments := long.Or(300, 600), long.Or(400, 1500), long.Or(2, 10)
	killTest{moments: moments, args: batchCorpus(t, fingerprints, queries)}.test(t)
}
