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

// Found is what stands where an index was looked for.
type Found string

// What may be found.
const (
	FoundNothing      Found = "nothing"
	FoundUnfinished   Found = "an index that is being built, or whose building was ended"
	FoundFingerprints Found = "a fingerprint file"
	FoundPart         Found = "a part of an index"
	FoundFile         Found = "another file"
	FoundEmpty        Found = "an empty folder"
	FoundFolder       Found = "a folder that has an index in it"
	FoundPrints       Found = "a folder of fingerprint files"
	FoundOther        Found = "a folder of other things"
)

// A NoIndexError says what stands where an index was looked for. It wraps [ErrNoIndex], and
// [fs.ErrNotExist] where nothing stands there.
type NoIndexError struct {
	Path   string // that was given
	Found  Found
	Beside string // what is to be looked at instead, where there is something: a path
	why    string
}

func (e *NoIndexError) Error() string { return e.Path + ": " + e.why }

// Unwrap returns what the error is about.
func (e *NoIndexError) Unwrap() []error {
	if e.Found == FoundNothing || e.Found == FoundUnfinished {
		return []error{ErrNoIndex, fs.ErrNotExist}
	}
	return []error{ErrNoIndex}
}

// ManifestPath returns where the manifest of the index in folder dir is. When there is none, the
// error is a [NoIndexError], or wraps [store.ErrCorrupt] where parts of an index are.
func ManifestPath(dir string) (string, error) {
	path := filepath.Join(dir, manifestName)
	info, err := os.Stat(path)
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
			return &NoIndexError{dir, FoundUnfinished, filepath.Join(filepath.Dir(clean), e.Name()),
				fmt.Sprintf("%v yet: %v, but %s is beside it: a build that goes on, or was killed", ErrNoIndex, fs.ErrNotExist, e.Name())}
		}
	}
	return &NoIndexError{dir, FoundNothing, "", fmt.Sprintf("%v: %v", ErrNoIndex, fs.ErrNotExist)}
}

// notFolder returns the error for a path at which a file stands.
func notFolder(path string) error {
	kind, known, err := store.Sniff(path)
	switch {
	case err != nil:
		return err
	case known && kind == store.KindFingerprints, isPrints(path):
		return &NoIndexError{path, FoundFingerprints, "", fmt.Sprintf("%v, but a fingerprint file", ErrNoIndex)}
	case known:
		return &NoIndexError{path, FoundPart, filepath.Dir(path), fmt.Sprintf("%v, but a part of one (%s)", ErrNoIndex, kind)}
	}
	return &NoIndexError{path, FoundFile, "", fmt.Sprintf("%v, but a file", ErrNoIndex)}
}

// notIndex returns the error for a folder without a manifest.
func notIndex(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		return &NoIndexError{dir, FoundEmpty, "", fmt.Sprintf("%v, but an empty folder", ErrNoIndex)}
	}
	prints := ""
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasSuffix(name, ".segment"), strings.HasPrefix(name, ".") && strings.Contains(name, ".segment.tmp-"),
			name == manifestName:
			return fmt.Errorf("%s: %w: %s is there and no manifest file: an index that was not built or copied to its end; build or copy it again",
				dir, store.ErrCorrupt, name)
		case e.IsDir() && isFile(filepath.Join(dir, name, manifestName)):
			inner := filepath.Join(dir, name, manifestName)
			return &NoIndexError{dir, FoundFolder, filepath.Dir(inner), fmt.Sprintf("%v, but a folder that has one: %s", ErrNoIndex, inner)}
		case prints == "" && isPrints(name):
			prints = filepath.Join(dir, name)
		}
	}
	if prints != "" {
		return &NoIndexError{dir, FoundPrints, prints, fmt.Sprintf("%v, but a folder of fingerprint files", ErrNoIndex)}
	}
	more := ""
	if n := len(entries) - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return &NoIndexError{dir, FoundOther, "", fmt.Sprintf("%v, but a folder of other things (%s%s)", ErrNoIndex, entries[0].Name(), more)}
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
