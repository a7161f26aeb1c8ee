package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ndd/cmd/ndd/cli"
	"ndd/engine/storage/disk"
)

// What the tests of several commands need: to run one in this process and to look at what it
// left. Scripts (script_test.go) and killed processes
// (killed_test.go) run this test binary as ndd.

// waitMax is how long a command may take, on whatever machine, that ends or becomes ready by itself.
const waitMax = 2 * time.Minute

// runOn runs ndd with args, quietly, and writes to d.
func runOn(ctx context.Context, d *disk.Disk, args []string) error {
	g := &cli.Globals{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Disk: d}
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
