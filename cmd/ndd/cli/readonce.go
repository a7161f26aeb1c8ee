package cli

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/storage/object"
)

// ReadOnce returns wrong usage if inputs name a file twice: by the same path, a link, a pattern, or a folder that is
// an input, too. All its documents would be duplicates. The error has both names. ReadOnce ignores files that it
// cannot inspect; reading them reports the error.
func ReadOnce(inputs []string) error {
	n := newInputSet()
	for _, in := range inputs {
		paths, _ := input.Matches(in) // reading it reports the error
		for _, path := range paths {
			as := path
			if path != in {
				as = fmt.Sprintf("%s (%s)", path, in)
			}
			if err := n.add(path, as); err != nil {
				return err
			}
		}
	}
	return n.checkNested()
}

// ReadTwice returns an error if an input can be read only once, for a flag that reads inputs twice.
func ReadTwice(flag string, inputs []string) error {
	if i := slices.IndexFunc(inputs, input.ReadOnce); i >= 0 {
		return Usagef("%s reads documents twice, and a pipe (%s) can be read only once: write it to a file first", flag,
			inputs[i])
	}
	return nil
}

// An inputSet has the inputs of a command, with the names that the user gave.
type inputSet struct {
	paths    map[string]string // name by path without links
	files    map[stamp][]file  // files by stamp; several may be one file with several names
	folders  map[string]string // name by path without links
	resolved map[string]string // path without links by folder
}

func newInputSet() *inputSet {
	return &inputSet{paths: map[string]string{}, files: map[stamp][]file{}, folders: map[string]string{},
		resolved: map[string]string{}}
}

// A stamp has the size and the time of a file. All names of a file have the same stamp, and few other files have it.
type stamp struct{ size, time int64 }

func stampOf(info fs.FileInfo) stamp { return stamp{info.Size(), info.ModTime().UnixNano()} }

// A file is an input with its name.
type file struct {
	fs.FileInfo
	name string
}

// add records an input; it returns an error if the input is known already.
func (n *inputSet) add(path, name string) error {
	info, err := os.Stat(path)
	if path == input.Stdin || err != nil {
		info = nil
	}
	return n.addFile(path, info, name)
}

// addFile is add with the file information of the path. It is nil if the path is no file.
func (n *inputSet) addFile(path string, info fs.FileInfo, name string) error {
	realPath := path
	switch {
	case object.Is(path):
		realPath = filepath.Clean(path)
		n.folders[realPath] = name // it may be a prefix or a single object
	case info == nil:
	case info.Mode().IsRegular():
		realPath = n.realPath(path)
		current := stampOf(info)
		for _, f := range n.files[current] {
			if os.SameFile(f.FileInfo, info) {
				return duplicateError(f.name, name)
			}
		}
		n.files[current] = append(n.files[current], file{info, name})
	case info.IsDir():
		realPath = n.realPath(path)
		n.folders[realPath] = name
	}
	if other, is := n.paths[realPath]; is {
		return duplicateError(other, name)
	}
	n.paths[realPath] = name
	return nil
}

// duplicateError returns the error about an input with two names.
func duplicateError(first, second string) error {
	if first == second {
		return Usagef("%s is given twice, so its documents would be read twice: give it once", first)
	}
	return Usagef("%s and %s are the same file, so its documents would be read twice: give one of them", first, second)
}

// realPath returns the path without links. It remembers the folders.
func (n *inputSet) realPath(path string) string {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return input.RealPath(path)
	}
	dir, name := filepath.Split(path)
	if _, ok := n.resolved[dir]; !ok {
		n.resolved[dir] = input.RealPath(filepath.Clean(dir))
	}
	return filepath.Join(n.resolved[dir], name)
}

// checkNested returns an error if an input is in a folder that is another input. Hidden files and folders are
// allowed, because reading a folder omits them.
func (n *inputSet) checkNested() error {
	if len(n.folders) == 0 {
		return nil
	}
	for _, path := range slices.Sorted(maps.Keys(n.paths)) {
		for folder := path; filepath.Dir(folder) != folder && !strings.HasPrefix(filepath.Base(folder), "."); {
			folder = filepath.Dir(folder)
			if folder, is := n.folders[folder]; is {
				return Usagef("%s is in %s, which is read whole, so its documents would be read twice: leave one of the two "+
					"out", n.paths[path], folder)
			}
		}
	}
	return nil
}
