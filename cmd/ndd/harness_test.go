package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"example.org/ndd/cmd/ndd/cli"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
)

// waitMax bounds, on any machine, the time of a command that ends or becomes ready by itself.
const waitMax = 2 * time.Minute

// TestMain lets processes run this test binary as ndd: the folder of a link to it comes first in PATH. Most
// tests run commands in this process instead, which saves the 15 ms that a process takes to start.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "ndd" {
		main()
	}
	flag.Parse()
	oracle.MemoryTemp()
	self, err := os.Executable()
	bin, e := os.MkdirTemp("", "ndd-bin")
	if err != nil || e != nil {
		panic(fmt.Sprint(err, e))
	}
	if err := os.Symlink(self, filepath.Join(bin, "ndd")); err != nil {
		panic(err)
	}
	os.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	debug.SetGCPercent(400) // thousands of commands run here, and each creates all flags
	status := m.Run()
	os.RemoveAll(bin)
	os.Exit(status)
}

// onMachine runs ndd in this process on a simulated machine, and returns its exit status and output.
func onMachine(t *testing.T, m memory.Machine, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitMax)
	defer cancel()
	var out, messages bytes.Buffer
	g := &cli.Globals{Machine: m,
		Streams: cli.Streams{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &messages}}
	status = runWith(ctx, g, args)
	return status, out.String(), messages.String()
}

// ran runs ndd in this process, requires an exit status, and returns the output.
func ran(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	status, stdout, stderr := onMachine(t, memory.Machine{}, "", args...)
	if status != want {
		t.Fatalf("ndd %s: status %d, want %d: %s", strings.Join(args, " "), status, want, stderr)
	}
	return stdout, stderr
}

// runOn runs ndd with args in this process, without messages, and has it write to d.
func runOn(ctx context.Context, d *disk.Disk, args []string) error {
	g := &cli.Globals{Disk: d,
		Streams: cli.Streams{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}}
	g.Open()
	defer g.Close() // the test does not read lost output
	root := newRoot(g)
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}

// skipUnderRace skips a test of memory, because the race detector needs additional memory.
func skipUnderRace(t *testing.T) {
	t.Helper()
	if long.Race() {
		t.Skip("the race detector's memory counts: go test without -race runs this")
	}
}

// writeFile writes a file, and the folders above it, and returns its path.
func writeFile(t *testing.T, path string, data []byte) string {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(t, os.WriteFile(path, data, 0o644))
	return path
}

// gzipped returns data compressed by gzip.
func gzipped[T ~string | ~[]byte](data T) []byte {
	var to bytes.Buffer
	w := gzip.NewWriter(&to)
	w.Write([]byte(data))
	w.Close() // these calls do not fail in memory
	return to.Bytes()
}

// zstded returns data compressed by zstd.
func zstded(data []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err) // no option is given
	}
	defer w.Close()
	return w.EncodeAll(data, nil)
}

// writePrints writes raw fingerprints to a new file and returns its path.
func writePrints(t *testing.T, fingerprints []uint64) string {
	t.Helper()
	return writeFile(t, filepath.Join(t.TempDir(), "prints.bin"), store.Bytes64(fingerprints))
}

// randomPrints returns n fingerprints. Every tenth is one of 4,096 values.
func randomPrints(n int) []uint64 {
	rng := rand.New(rand.NewPCG(7, 7))
	fingerprints := make([]uint64, n)
	for i := range fingerprints {
		if fingerprints[i] = rng.Uint64(); i%10 == 0 {
			fingerprints[i] >>= 52
		}
	}
	return fingerprints
}

// builtIndex returns the folder of an index that ndd build makes of a file.
func builtIndex(t *testing.T, file string, flags ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "index")
	ran(t, exitDone, append([]string{"build", "-o", dir, file}, flags...)...)
	return dir
}

// copyOf returns a copy of a folder, which the test may change.
func copyOf(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	must.Do(t, os.CopyFS(to, os.DirFS(dir)))
	return to
}

// contents returns the files below a folder, by path.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	must.Do(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if d.Type() == os.ModeSymlink {
			files[rel], err = os.Readlink(path)
			return err
		}
		data, err := os.ReadFile(path)
		files[rel] = string(data)
		return err
	}))
	return files
}

// namesIn returns the names in a folder, hidden ones included.
func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must.Do(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
