//go:build unix

package live

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/store"
)

// TestNoFiles replaces each file of an index by a pipe, and by a folder. Opening returns an error that names the file,
// and does not wait.
func TestNoFiles(t *testing.T) {
	x, dir := newFolder(t)
	insertNumbered(t, x, 0, 10)
	must.Do(t, x.Flush(t.Context()))
	insertNumbered(t, x, 10, 20)
	must.Do(t, x.end())
	entries, err := os.ReadDir(dir)
	must.Do(t, err)
	kinds := map[string]func(path string) error{
		"pipe":   func(path string) error { return unix.Mkfifo(path, 0o600) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
	}
	seen := ""
	for _, e := range entries {
		seen += filepath.Ext(e.Name())
		for kind, create := range kinds {
			path := filepath.Join(dir, e.Name())
			aside := filepath.Join(t.TempDir(), "aside")
			must.Do(t, os.Rename(path, aside))
			must.Do(t, create(path))
			for _, write := range []bool{false, true} {
				y, err := Open(t.Context(), dir, OpenOptions{Write: write})
				if e.Name() == "lock" { // only writers need the lock
					if write == (err == nil) {
						t.Errorf("%s as %s, write %v: %v", e.Name(), kind, write, err)
					}
				} else if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), e.Name()) {
					t.Errorf("%s as %s: %v", e.Name(), kind, err)
				}
				if err == nil {
					must.Do(t, y.Close())
				}
			}
			must.Do(t, os.Remove(path))
			must.Do(t, os.Rename(aside, path))
		}
	}
	if !strings.Contains(seen, ".segment") || !strings.Contains(seen, ".wal") || !strings.Contains(seen, ".documents") {
		t.Errorf("the index has %s", seen)
	}
	openFolder(t, dir, OpenOptions{Write: true})
}
