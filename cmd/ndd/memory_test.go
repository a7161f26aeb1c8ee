package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
)

// TestPreloadRefused checks that --preload refuses an index that does not fit in memory. The error has the required and
// the available memory, and advice. Only the manifest is read: the segment may be missing.
func TestPreloadRefused(t *testing.T) {
	golden := filepath.Join("..", "..", "testdata", "golden", "v1")
	dir := copyOf(t, filepath.Join(golden, "planar"))
	segment := filepath.Join(dir, "00000001.segment")
	info, err := os.Stat(segment)
	must.Do(t, err)
	size, pages := uint64(info.Size()), filepath.Join(golden, "pages.ndf")
	small, large := oracle.Machine(t, size-1), oracle.Machine(t, size)
	if status, _, messages := onMachine(t, large, "", "query", "--preload", "-i", dir,
		"0123456789abcdef"); status != exitDone {
		t.Fatalf("status %d: %s", status, messages)
	}
	if status, out, messages := onMachine(t, small, "", "batch", "-i", dir, pages); status != exitDone || out == "" {
		t.Errorf("mapped: status %d: %s", status, messages)
	}
	must.Do(t, os.Remove(segment))
	for _, args := range [][]string{
		{"query", "--preload", "--checksums", "fast", "-i", dir, "0123456789abcdef"},
		{"query", "--preload", "-i", dir, "0123456789abcdef"},
	} {
		status, out, messages := onMachine(t, small, "", args...)
		want := fmt.Sprintf("ndd: the index %s needs up to 70 KiB of memory, and there are 69 KiB (left by the memory "+
			"limit of control group /job): without --preload the files are mapped instead\n", dir)
		if status != exitFailed || out != "" || !strings.HasSuffix(messages, want) {
			t.Errorf("%v: status %d, %q, %q, want %q", args, status, out, messages, want)
		}
		if status, _, messages := onMachine(t, large, "", args...); status != exitCorrupt ||
			!strings.Contains(messages, "it is missing") {
			t.Errorf("%v, with memory enough: status %d, %q", args, status, messages)
		}
	}
}

// TestLittle checks that dedup works with little memory, and announces it before it reads documents. With less memory,
// the error has advice. Without free memory, a scan fails instead of using a default.
func TestLittle(t *testing.T) {
	line := `{"text": "rivers carry stones from the mountains to the plain and the further the smaller"}` + "\n"
	path := writeFile(t, filepath.Join(t.TempDir(), "a.jsonl"), []byte(strings.Repeat(line, 3)))
	dedup, fingerprints := []string{"dedup", "-v", path}, writePrints(t, make([]uint64, 100))
	for _, c := range []struct {
		memory      uint64
		args, flags []string
		status      int
		want        string
	}{
		{33 << 20, dedup, []string{"-k", "3"}, exitFailed, " of memory, and there are 33 MiB (left by the memory limit of " +
			"control group /job): a lower --max-document than 64MiB needs less\n"},
		{200 << 20, dedup, []string{"-k", "3"}, exitDone, "reading took up to 200 MiB of memory"},
		{200 << 20, dedup, []string{"-k", "3", "--max-document", "8MiB"}, exitDone,
			"reading took up to 174 MiB of memory"},
		{200 << 20, dedup, []string{"--max-document", "8MiB", "--verify", "jaccard>=0.5"}, exitDone,
			"reading took up to 174 MiB of memory"},
		{8 << 30, dedup, []string{"-k", "3"}, exitDone, "reading took up to 608 MiB of memory"},
		{8 << 30, dedup, []string{"-k", "3", "--max-document", "1GiB"}, exitDone,
			"reading took up to 5.0 GiB of memory"},
		{0, []string{"batch", "--scan", fingerprints, fingerprints}, nil, exitFailed, "answering 100 queries at a time needs up to"},
	} {
		status, out, messages := onMachine(t, oracle.Machine(t, c.memory), "", slices.Concat(c.args, c.flags)...)
		if status != c.status || !strings.Contains(messages, c.want) || (out == "") != (status != exitDone) {
			t.Errorf("%d, %q %q: status %d, %q, %s, want %s", c.memory, c.args, c.flags, status, out, messages, c.want)
		}
	}
}

// TestBatchLittle checks that with little memory, a batch uses fewer threads and fewer matches at a time. It fails if
// even that does not fit.
func TestBatchLittle(t *testing.T) {
	base, queries := sets.Planted(20_000, 10_000)
	f, q := writePrints(t, base), writePrints(t, queries)
	index := builtIndex(t, f, "--design", "halves", "--layout", "planar") // fixed, so that the choice does not depend on this machine
	_, all, _ := onMachine(t, oracle.Machine(t, 8<<30), "", "batch", "-i", index, q)
	for _, c := range []struct {
		memory uint64
		flags  []string
		want   string
	}{
		{8 << 30, nil, "matches 1.0 GiB (fewer queries at a time if there are more), answers 480 MiB, the program 32 MiB"},
		{400 << 20, nil, "ndd: memory allows 8 threads"},
		{400 << 20, nil, "memory at most 381 MiB without the index and the queries: sorted queries 781 KiB, matches 92 MiB"},
		{100 << 20, nil, "ndd: memory allows 1 thread\n"},
		{90 << 20, nil, "answering 10,000 queries needs up to 97 MiB of memory, and there are 90 MiB (left by the memory " +
			"limit of control group /job): " +
			"give a lower --memory than 32 MiB, or answer a part of the queries with --shard i/N"},
		{90 << 20, []string{"--memory", "1MiB"}, "matches 1.0 MiB"},
	} {
		args := append([]string{"batch", "--verbose", "--threads", "15", "-i", index, q}, c.flags...)
		status, out, messages := onMachine(t, oracle.Machine(t, c.memory), "", args...)
		refused := strings.Contains(c.want, "needs up to")
		if !strings.Contains(messages, c.want) || refused != (status == exitFailed) || !refused && (out != all || out == "") {
			t.Errorf("%d, %q: status %d, %s, want %s", c.memory, c.flags, status, messages, c.want)
		}
	}
}
