package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// What the tests of several commands need: to run one in this process, to look at what it
// left, and to fill its disk. Scripts (script_test.go) and killed processes
// (killed_test.go) run this test binary as ndd.

// runOn runs ndd with args, quietly, and writes through disk unless it is nil.
func runOn(ctx context.Context, disk func(io.Writer) io.Writer, args []string) error {
	g := &globals{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard, stop: func() {}, disk: disk}
	root := newRoot(g)
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}

// builtIndex is the folder of an index that ndd build makes of a file.
func builtIndex(t *testing.T, file string, flags ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "index")
	var log bytes.Buffer
	if status := run(t.Context(), append([]string{"build", "-o", dir, file}, flags...), nil, &log, &log); status != exitDone {
		t.Fatal(log.String())
	}
	return dir
}

// contents are the files below a folder, by path.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[rel] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A fullDisk counts what is written, and is full from the last-th write on, in whichever
// file and in the middle of it.
type fullDisk struct {
	mu           sync.Mutex
	writes, last int
}

type fullFile struct {
	disk *fullDisk
	to   io.Writer
}

func (d *fullDisk) on(w io.Writer) io.Writer { return fullFile{d, w} }

func (f fullFile) Write(p []byte) (int, error) {
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	if f.disk.writes++; f.disk.writes > f.disk.last {
		n, _ := f.to.Write(p[:len(p)/2])
		return n, syscall.ENOSPC
	}
	return f.to.Write(p)
}
