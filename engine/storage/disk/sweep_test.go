package disk

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"example.org/ndd/engine/oracle/must"
)

// TestSweep removes the files of killed processes. It keeps incomplete files of live processes and all other files.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	inDir := func(name string) string { return filepath.Join(dir, name) }
	var d *Disk
	folder, err := d.CreateFolder(inDir("folder"))
	must.Do(t, err)
	defer folder.Abort()
	if folder.lock == nil {
		needsLocks(t)
	}
	file, err := d.Create(inDir("file"))
	must.Do(t, err)
	defer file.Abort()
	must.Do(t, folder.Write("a/b", func(w *bufio.Writer) error { return nil }))
	for _, name := range []string{".left.tmp-ndd12/in", ".left.tmp-12/in", "left.tmp-ndd12/in",
		".replaced.tmp-ndd12.old/in"} {
		must.Do(t, os.MkdirAll(inDir(name), 0o755))
	}
	must.Do(t, os.WriteFile(inDir(".file.tmp-ndd12"), nil, 0o600))
	removed := Sweep(dir)
	slices.Sort(removed)
	if want := []string{inDir(".file.tmp-ndd12"), inDir(".left.tmp-ndd12")}; !slices.Equal(removed, want) {
		t.Errorf("removed %q, want %q", removed, want)
	}
	for _, path := range removed {
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	}
	must.Do(t, errors.Join(folder.Commit(), file.Commit()))
	if removed := Sweep(dir); removed != nil {
		t.Errorf("removed %q", removed)
	}
}

// TestClaimAgain sweeps a name and creates it again before its first owner has locked it: the first owner gets no
// lock.
func TestClaimAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if lock, ok := (place{}).claim(path); ok || lock != nil {
		t.Error("nothing is there")
	}
	must.Do(t, os.WriteFile(path, nil, 0o600))
	lock, ok := (place{}).claim(path)
	if lock == nil {
		needsLocks(t)
	}
	if repeated, pair := (place{}).claim(path); !ok || pair || repeated != nil {
		t.Error("claimed twice")
	}
	lock.Close()
}

// needsLocks ends a test that found no lock: it fails on Linux and macOS, which have locks of
// folders, and is skipped elsewhere.
func needsLocks(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "linux" || runtime.GOOS == "darwin" {
		t.Fatal("no lock was taken")
	}
	t.Skip("needs a system with locks of folders, as Linux, where every run has it")
}
