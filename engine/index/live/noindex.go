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

// A NoIndexError describes the file or folder at a path that is no index. It is [ErrNoIndex].
type NoIndexError struct {
	Path     string
	PathKind PathKind
	Detail   string // further description
}

// PathKind is the kind of the file or folder.
type PathKind string

// The values of Found.
const (
	PathFingerprints      PathKind = "a fingerprint file"
	PathSignatures        PathKind = "a signature file"
	PathPart              PathKind = "a part of one"
	PathFile              PathKind = "a file"
	PathEmpty             PathKind = "an empty folder"
	PathParent            PathKind = "a folder that has one"
	PathFingerprintFolder PathKind = "a folder of fingerprint files" // Detail is one of them
	PathOther             PathKind = "a folder of other things"
)

// Error names the path and what it is.
func (e *NoIndexError) Error() string {
	text := fmt.Sprintf("%s: %v, but %s", e.Path, ErrNoIndex, e.PathKind)
	switch e.PathKind {
	case PathPart, PathOther:
		text += " " + e.Detail
	case PathParent:
		text += ": " + e.Detail
	}
	return text
}

// Is reports whether target is [ErrNoIndex].
func (e *NoIndexError) Is(target error) bool { return target == ErrNoIndex }

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
	kind, known, err := store.Sniff(path)
	switch {
	case err != nil:
		return err
	case known && kind == store.KindFingerprints, isFingerprintFile(path):
		return &NoIndexError{Path: path, PathKind: PathFingerprints}
	case known && kind == store.KindSignatures:
		return &NoIndexError{Path: path, PathKind: PathSignatures}
	case known:
		return &NoIndexError{path, PathPart, fmt.Sprintf("(%s): give its folder, %s", kind, filepath.Dir(path))}
	}
	return &NoIndexError{Path: path, PathKind: PathFile}
}

// notIndex returns the error for a folder without a manifest.
func notIndex(dir string) error {
	// List the folder.
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return &NoIndexError{Path: dir, PathKind: PathEmpty}
	}
	// Look for a file or a folder that explains it.
	fingerprints := ""
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasSuffix(name, ".segment"), strings.HasPrefix(name, ".") && strings.Contains(name, ".segment.tmp-"),
			name == manifestName:
			return fmt.Errorf("%s: %w: %s exists, but the manifest is missing: building or copying the index was interrupted; "+
				"build or copy it again",
				dir, store.ErrCorrupt, name)
		case e.IsDir() && isFile(filepath.Join(dir, name, manifestName)):
			return &NoIndexError{dir, PathParent, filepath.Join(dir, name)}
		case fingerprints == "" && isFingerprintFile(name):
			fingerprints = filepath.Join(dir, name)
		}
	}
	// Describe the folder by its content.
	if fingerprints != "" {
		return &NoIndexError{dir, PathFingerprintFolder, fingerprints}
	}
	advice := ""
	if n := len(entries) - 1; n > 0 {
		advice = fmt.Sprintf(" and %d more", n)
	}
	return &NoIndexError{dir, PathOther, fmt.Sprintf("(%s%s)", entries[0].Name(), advice)}
}

// isFingerprintFile reports whether a name is the name of a fingerprint file.
func isFingerprintFile(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".ndf" || ext == ".bin"
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
