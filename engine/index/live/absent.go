package live

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ndd/engine/storage/disk"
	"ndd/engine/storage/store"
)

// ErrNoIndex is what the error of [Open] wraps when there is no index at a path, be there nothing
// or something else. A damaged index is one: its error wraps [store.ErrCorrupt].
var ErrNoIndex = errors.New("no index")

// noIndex returns an error for a path that holds no index. found describes its contents, and the
// way to an index. The error wraps [ErrNoIndex].
func noIndex(path, found string, args ...any) error {
	return fmt.Errorf("%s: %w, but %s", path, ErrNoIndex, fmt.Sprintf(found, args...))
}

// ManifestPath returns where the manifest of the index in folder dir is. When there is none, the
// error wraps [ErrNoIndex], or [store.ErrCorrupt] if there are parts of an index.
func ManifestPath(dir string) (string, error) { return manifestPath(nil, dir) }

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

// absence returns the error for a path at which nothing stands.
func absence(dir string) error {
	clean := filepath.Clean(dir)
	entries, _ := os.ReadDir(filepath.Dir(clean))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), disk.Unfinished(clean)) {
			return fmt.Errorf("%s: %w yet: %w, but %s is beside it, of a build that goes on or was killed: wait for it, or "+
				"remove that and build again",
				dir, ErrNoIndex, fs.ErrNotExist, e.Name())
		}
	}
	return fmt.Errorf("%s: %w: %w", dir, ErrNoIndex, fs.ErrNotExist)
}

// notFolder returns the error for a path at which a file stands.
func notFolder(path string) error {
	kind, known, err := store.Sniff(path)
	switch {
	case err != nil:
		return err
	case known && kind == store.KindFingerprints, isPrints(path):
		return noIndex(path, "a fingerprint file: 'ndd build -o INDEX %s' makes one of it", path)
	case known:
		return noIndex(path, "a part of one (%s): give its folder, %s", kind, filepath.Dir(path))
	}
	return noIndex(path, "a file: an index is a folder that 'ndd build' made")
}

// notIndex returns the error for a folder without a manifest.
func notIndex(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return noIndex(dir, "an empty folder: 'ndd build' makes a new one")
	}
	if kind, known, err := store.Sniff(filepath.Join(dir, "copies")); err == nil && known && kind == store.KindCopies {
		return noIndex(dir, "one of 'ndd copies build', for 'ndd copies --against'")
	}
	prints := ""
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasSuffix(name, ".segment"), strings.HasPrefix(name, ".") && strings.Contains(name, ".segment.tmp-"),
			name == manifestName:
			return fmt.Errorf("%s: %w: %s is there and no manifest file: an index that was not built or copied to its end; "+
				"build or copy it again",
				dir, store.ErrCorrupt, name)
		case e.IsDir() && isFile(filepath.Join(dir, name, manifestName)):
			inner := filepath.Join(dir, name, manifestName)
			return noIndex(dir, "a folder that has one: %s", filepath.Dir(inner))
		case prints == "" && isPrints(name):
			prints = filepath.Join(dir, name)
		}
	}
	if prints != "" {
		return noIndex(dir, "a folder of fingerprint files: 'ndd build -o INDEX %s' makes one", prints)
	}
	more := ""
	if n := len(entries) - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return noIndex(dir, "a folder of other things (%s%s): if they are documents, 'ndd fingerprint -o pages.ndf %s' and "+
		"'ndd build -o INDEX pages.ndf' make one",
		entries[0].Name(), more, dir)
}

// isPrints reports whether a name is that of a fingerprint file.
func isPrints(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".ndf" || ext == ".bin"
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

const manifestName = "manifest"
