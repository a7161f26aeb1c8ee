package live

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
)

// ErrNoIndex is wrapped by errors of [Open] if a path does not exist or is something else than an index. A damaged
// index is [store.ErrCorrupt] instead.
var ErrNoIndex = errors.New("no index")

// manifestPath returns the path of the manifest of the index in folder dir. It fails like [ReadManifest].
func manifestPath(d *disk.Disk, dir string) (string, error) {
	path := filepath.Join(dir, manifestName)
	info, err := d.Stat(path)
	switch {
	case err == nil && info.Mode().IsRegular():
		return path, nil
	case errors.Is(err, fs.ErrPermission):
		return "", err
	}
	info, err = os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", absence(dir)
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", notFolder(dir)
	}
	return "", notIndex(dir)
}

// absence returns the error for a path that does not exist.
func absence(dir string) error {
	clean := filepath.Clean(dir)
	entries, _ := os.ReadDir(filepath.Dir(clean))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), disk.TempPrefix(clean)) {
			return fmt.Errorf("%s: %w yet: %w: %s belongs to a build that is running or was killed: wait, or "+
				"remove it and build again",
				dir, ErrNoIndex, fs.ErrNotExist, e.Name())
		}
	}
	return fmt.Errorf("%s: %w: %w", dir, ErrNoIndex, fs.ErrNotExist)
}

// notFolder returns the error for the path of a file.
func notFolder(path string) error {
	dir := filepath.Dir(path)
	if _, err := os.Stat(filepath.Join(dir, manifestName)); err == nil {
		return fmt.Errorf("%s: is a part of an index: give its folder, %s", path, dir)
	}
	kind, known, err := store.Sniff(path)
	if err != nil {
		return err
	}
	content := "a file"
	if known {
		content = fmt.Sprintf("a file (%s)", kind)
	}
	return fmt.Errorf("%s: %w, but %s", path, ErrNoIndex, content)
}

// notIndex returns the error for a folder without a manifest.
func notIndex(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return fmt.Errorf("%s: %w, but an empty folder", dir, ErrNoIndex)
	}
	// Look for parts of an index.
	for _, e := range entries {
		name := e.Name()
		if name == manifestName || strings.HasSuffix(name, ".segment") || strings.HasPrefix(name, ".") && strings.Contains(name,
			".segment.tmp-") {
			return fmt.Errorf("%s: %w: %s exists, but the manifest is missing: building or copying the index was interrupted; "+
				"build or copy it again", dir, store.ErrCorrupt, name)
		}
	}
	more := ""
	if n := len(entries) - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("%s: %w, but a folder (%s%s)", dir, ErrNoIndex, entries[0].Name(), more)
}
