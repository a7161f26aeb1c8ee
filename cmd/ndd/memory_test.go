package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"ndd/cmd/ndd/cli"
	"ndd/engine/memory"
	"ndd/engine/oracle"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
)

// on runs ndd on a machine.
func on(t *testing.T, m memory.Machine, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitMax)
	defer cancel()
	var out, err bytes.Buffer
	g := &cli.Globals{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &err, Machine: m}
	status = runWith(ctx, g, args)
	return status, out.String(), err.String()
}

// TestPreloadRefused is at the command what TestOpenTooLarge is in the engine: an index that does not fit is refused with what
// it needs, what there is and what to do, by its manifest alone: its segment need not even be there.
func TestPreloadRefused(t *testing.T) {
	golden := filepath.Join("..", "..", "testdata", "golden", "v1")
	dir := filepath.Join(t.TempDir(), "index")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(golden, "planar"))); err != nil {
		t.Fatal(err)
	}
	segment := filepath.Join(dir, "00000001.segment")
	info, err := os.Stat(segment)
	if err != nil {
		t.Fatal(err)
	}
	size, pages := uint64(info.Size()), filepath.Join(golden, "pages.ndf")
	small, large := oracle.Machine(t, size-1), oracle.Machine(t, size)
	if status, out, said := on(t, large, "batch", "--preload", "-i", dir, pages); status != exitDone || out == "" {
		t.Fatalf("status %d: %s", status, said)
	}
	if status, out, said := on(t, small, "batch", "-i", dir, pages); status != exitDone || out == "" {
		t.Errorf("mapped: status %d: %s", status, said)
	}
	if err := os.Remove(segment); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"batch", "--preload", "-i", dir, pages},
		{"batch", "--preload", "--checksums", "fast", "-i", dir, pages},
		{"query", "--preload", "-i", dir, "0123456789abcdef"},
		{"serve", "--preload", "-i", dir, "--listen", "127.0.0.1:0", "--admin", "off"},
	} {
		small, large, need := small, large, "69 KiB"
		if args[0] == "serve" { // whose limit is that of the program, too
			small, large, need = oracle.Machine(t, size-1+memory.Program), oracle.Machine(t, size+memory.Program), "32 MiB"
		}
		status, out, said := on(t, small, args...)
		want := fmt.Sprintf("ndd: the index %s needs up to %[2]s of memory, and there are %[2]s (left by the memory limit of control group /job): without --preload the files are mapped instead\n", dir, need)
		if status != exitFailed || out != "" || !strings.HasSuffix(said, want) {
			t.Errorf("%v: status %d, %q, %q, want %q", args, status, out, said, want)
		}
		if status, _, said := on(t, large, args...); status != exitCorrupt || !strings.Contains(said, "it is missing") {
			t.Errorf("%v, with memory enough: status %d, %q", args, status, said)
		}
	}
}

// TestPreloadRefusedHere asks this machine, which has no petabyte, and, of a process with a
// limit of its own, not a gigabyte either.
func TestPreloadRefusedHere(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // others do not say what they have
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ndd := filepath.Join(t.TempDir(), "ndd")
	if err := os.Symlink(self, ndd); err != nil {
		t.Fatal(err)
	}
	build, _ := debug.ReadBuildInfo()
	race := slices.Contains(build.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) // it reserves more than the limit
	for _, c := range []struct {
		bytes uint64
		limit string // KiB
		want  string
	}{
		{1 << 50, "unlimited", "needs up to 1.0 PiB of memory, and there are "},
		{1 << 40, "1500000", "(left by the process's limit, ulimit -d)"},
	} {
		if race && c.limit != "unlimited" {
			continue
		}
		dir := t.TempDir()
		manifest := fmt.Sprintf(`{"k": 3, "recipe": null, "segments": [{"file": "00000001.segment", "id": "000102030405060708090a0b0c0d0e0f", "bytes": %d, "documents": 1}]}`, c.bytes)
		data := store.AppendFile(nil, store.KindManifest, store.Identity{Generation: 1}, []store.Section{{Name: "manifest", Data: []byte(manifest)}})
		if err := os.WriteFile(filepath.Join(dir, "manifest"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		var out, said bytes.Buffer
		cmd := exec.Command("sh", "-c", `ulimit -d `+c.limit+`; exec "$0" query --preload -i "$1" 0`, ndd, dir)
		cmd.Stdout, cmd.Stderr = &out, &said
		cmd.Run()
		if cmd.ProcessState.ExitCode() != exitFailed || out.Len() > 0 || !strings.Contains(said.String(), c.want) ||
			!strings.Contains(said.String(), "without --preload") {
			t.Errorf("status %d, %q, %q, want %q", cmd.ProcessState.ExitCode(), &out, &said, c.want)
		}
	}
}

// TestDedupLittle: documents are compared where there is little memory, which is said before they are
// read, and what to do where there is less.
func TestDedupLittle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	line := `{"text": "rivers carry stones from the mountains to the plain and the further the smaller"}` + "\n"
	if err := os.WriteFile(path, []byte(strings.Repeat(line, 3)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		memory uint64
		flags  []string
		status int
		want   string
	}{
		{200 << 20, nil, exitFailed, "reading needs up to 352 MiB of memory, and there are 200 MiB (left by the memory limit of control group /job): a lower --max-document than 64MiB needs less\n"},
		{200 << 20, []string{"--max-document", "8MiB"}, exitDone, "memory: up to 104 MiB to read documents"},
		{200 << 20, []string{"--max-document", "8MiB", "--verify", "jaccard>=0.5"}, exitDone, "memory: up to 125 MiB to read documents"},
		{8 << 30, nil, exitDone, "memory: up to 608 MiB to read documents"},
		{8 << 30, []string{"--max-document", "1GiB"}, exitDone, "memory: up to 5.0 GiB to read documents"},
	} {
		status, out, said := on(t, oracle.Machine(t, c.memory), append([]string{"dedup", "-v", path}, c.flags...)...)
		if status != c.status || !strings.Contains(said, c.want) || (out == "") != (status != exitDone) {
			t.Errorf("%d, %q: status %d, %q, %s, want %s", c.memory, c.flags, status, out, said, c.want)
		}
	}
}

// TestBatchLittle: a sweep takes fewer threads and matches at a time where there is little memory, and
// none where it does not fit even so.
func TestBatchLittle(t *testing.T) {
	dir := t.TempDir()
	base, queries := sets.Planted(20_000, 10_000)
	f, q := filepath.Join(dir, "f.bin"), filepath.Join(dir, "q.bin")
	for name, prints := range map[string][]uint64{f: base, q: queries} {
		if err := os.WriteFile(name, store.Bytes64(prints), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	index := builtIndex(t, f, "--design", "halves", "--layout", "planar") // whatever is fast here now
	_, all, _ := on(t, oracle.Machine(t, 8<<30), "batch", "-i", index, q)
	for _, c := range []struct {
		memory uint64
		flags  []string
		want   string
	}{
		{8 << 30, nil, "matches 1.0 GiB (fewer queries at a time if there are more), answers 480 MiB, the program 32 MiB"},
		{400 << 20, nil, "ndd: memory allows 8 threads"},
		{400 << 20, nil, "memory at most 381 MiB beside the index and the queries: sorted queries 781 KiB, matches 92 MiB"},
		{100 << 20, nil, "ndd: memory allows 1 thread\n"},
		{90 << 20, nil, "answering 10,000 queries needs up to 97 MiB of memory, and there are 90 MiB (left by the memory limit of control group /job): " +
			"give a lower --memory than 32 MiB, or answer a part of the queries with --shard i/N"},
		{90 << 20, []string{"--memory", "1MiB"}, "matches 1.0 MiB"},
	} {
		args := append([]string{"batch", "--verbose", "--threads", "15", "-i", index, q}, c.flags...)
		status, out, said := on(t, oracle.Machine(t, c.memory), args...)
		refused := strings.Contains(c.want, "needs up to")
		if !strings.Contains(said, c.want) || refused != (status == exitFailed) || !refused && (out != all || out == "") {
			t.Errorf("%d, %q: status %d, %s, want %s", c.memory, c.flags, status, said, c.want)
		}
	}
}

// TestScanNothing: where nothing is left, a scan says so, and takes no default.
func TestScanNothing(t *testing.T) {
	f := filepath.Join(t.TempDir(), "f.bin")
	if err := os.WriteFile(f, make([]byte, 800), 0o644); err != nil {
		t.Fatal(err)
	}
	status, out, said := on(t, oracle.Machine(t, 0), "batch", "--scan", f, f)
	if status != exitFailed || out != "" || !strings.Contains(said, "answering 100 queries at a time needs up to") {
		t.Errorf("status %d, %q, %s", status, out, said)
	}
}
