package main

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

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

// A sharedDisk is full from the last-th write on, in whichever file.
type sharedDisk struct {
	mu           sync.Mutex
	writes, last int
}

type sharedFile struct {
	disk *sharedDisk
	to   io.Writer
}

func (d *sharedDisk) on(w io.Writer) io.Writer { return sharedFile{d, w} }

func (f sharedFile) Write(p []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.writes++; f.disk.writes > f.disk.last {
		n, _ := f.to.Write(p[:len(p)/2])
		return n, syscall.ENOSPC
	}
	return f.to.Write(p)
}

// A disk that is full at any write, of a temporary file, the output or its record,
// leaves nothing that is not whole, and a rerun gives the bytes of a run without
// trouble.
func TestBatchDiskFull(t *testing.T) {
	args := batchCorpus(t, 300, 400)
	whole := t.TempDir()
	disk := &sharedDisk{last: 1 << 30}
	if err := dedupOn(t.Context(), disk.on, args(whole)); err != nil {
		t.Fatal(err)
	}
	want := contents(t, whole)
	if len(want) != 2 || disk.writes < 20 {
		t.Fatalf("%d files in %d writes", len(want), disk.writes)
	}
	for last := range disk.writes {
		out := t.TempDir()
		err := dedupOn(t.Context(), (&sharedDisk{last: last}).on, args(out))
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
		if err := dedupOn(t.Context(), nil, args(out)); err != nil || !maps.Equal(contents(t, out), want) {
			t.Fatalf("the rerun differs: %v", err)
		}
	}
}

// A process that is killed leaves nothing under a final name that is not whole,
// one that is interrupted nothing at all, and a rerun gives the same bytes.
func TestBatchKilled(t *testing.T) {
	args := batchCorpus(t, 1200, 3000)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	start := func(out string) (*exec.Cmd, *bytes.Buffer) {
		stderr := new(bytes.Buffer)
		cmd := &exec.Cmd{Path: self, Args: append([]string{"ndd"}, args(out)...), Stderr: stderr}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, stderr
	}
	whole := t.TempDir()
	began := time.Now()
	if cmd, stderr := start(whole); cmd.Wait() != nil {
		t.Fatal(stderr)
	}
	took := time.Since(began)
	want := contents(t, whole)
	moments := 10
	if testing.Short() {
		moments = 2
	}
	for i := range 2 * moments {
		signal := []os.Signal{os.Kill, os.Interrupt}[i%2]
		out := t.TempDir()
		cmd, stderr := start(out)
		time.Sleep(took * time.Duration(i/2) / time.Duration(moments))
		cmd.Process.Signal(signal) // it may have ended
		err := cmd.Wait()
		// A process that has just begun has no handler yet.
		status := cmd.ProcessState.ExitCode()
		if signal == os.Interrupt && status != exitInterrupted && status != exitDone && status != -1 {
			t.Fatalf("interrupted: status %d, %v: %s", status, err, stderr)
		}
		for name := range want {
			if data, err := os.ReadFile(filepath.Join(out, name)); err == nil && string(data) != want[name] {
				t.Fatalf("%v: %s is there and not whole", signal, name)
			}
		}
		if left := contents(t, out); status == exitInterrupted && len(left) > 0 && left["hits.tsv"] != want["hits.tsv"] {
			t.Fatalf("interrupted: %d files are left", len(left))
		}
		if i < moments {
			if cmd, stderr := start(out); cmd.Wait() != nil {
				t.Fatal(stderr)
			}
			for name := range want {
				if data, err := os.ReadFile(filepath.Join(out, name)); err != nil || string(data) != want[name] {
					t.Fatalf("the rerun differs in %s: %v", name, err)
				}
			}
		}
	}
}
