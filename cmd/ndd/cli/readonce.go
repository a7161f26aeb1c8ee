package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ndd/engine/corpus/document"
	"ndd/engine/storage/object"
)

// ReadOnce returns wrong usage where inputs have a file twice, whose documents would all be there twice, and found to be duplicates: by the same
// path, by links, by patterns, or in a folder that is an input, too. The error names both. What cannot be looked at is left to who
// reads it.
func ReadOnce(inputs []string) error {
	n := named{paths: map[string]string{}, files: map[any]string{}, folders: map[string]string{}, resolved: map[string]string{}}
	for _, input := range inputs {
		for _, path := range matches(input) {
			as := path
			if path != input {
				as = fmt.Sprintf("%s (%s)", path, input)
			}
			if err := n.add(path, as); err != nil {
				return err
			}
		}
	}
	return n.within()
}

// matches returns the paths that a pattern stands for, and what is none as it is.
func matches(input string) []string {
	if _, err := os.Stat(input); object.Is(input) || !errors.Is(err, fs.ErrNotExist) || !strings.ContainsAny(input, "*?[") {
		return []string{input}
	}
	paths, err := filepath.Glob(input)
	if err != nil {
		return nil // whoever reads it says so
	}
	return paths
}

// named are the inputs so far, as they were named.
type named struct {
	paths    map[string]string // by the path itself, without links
	files    map[any]string    // by what the system knows a file by
	folders  map[string]string // by the path itself
	resolved map[string]string // folders without links, by folder
}

// add takes an input in, and returns an error if it is there.
func (n *named) add(path, as string) error {
	at := path
	info, err := os.Stat(path)
	switch {
	case object.Is(path):
		at = filepath.Clean(path)
		n.folders[at] = as // or one object, below which is none
	case path == document.Stdin || err != nil:
	case info.Mode().IsRegular():
		at = n.real(path)
		if id, ok := fileID(info); ok {
			if other, is := n.files[id]; is {
				return twice(other, as)
			}
			n.files[id] = as
		}
	case info.IsDir():
		at = n.real(path)
		n.folders[at] = as
	}
	if other, is := n.paths[at]; is {
		return twice(other, as)
	}
	n.paths[at] = as
	return nil
}

// twice is the error of an input that is there already.
func twice(one, other string) error {
	if one == other {
		return Usagef("%s is named twice: its documents would all be there twice; name it once", one)
	}
	return Usagef("%s and %s are the same: their documents would all be there twice; name one of them", one, other)
}

// real returns a path without links.
func (n *named) real(path string) string {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return realOf(path)
	}
	dir, name := filepath.Split(path)
	if _, ok := n.resolved[dir]; !ok {
		n.resolved[dir] = realOf(filepath.Clean(dir))
	}
	return filepath.Join(n.resolved[dir], name)
}

func realOf(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		path = p
	}
	if p, err := filepath.Abs(path); err == nil {
		path = p
	}
	return path
}

// within returns an error if an input is read with a folder that is another one. Hidden files and folders are not.
func (n *named) within() error {
	if len(n.folders) == 0 {
		return nil
	}
	for _, path := range slices.Sorted(maps.Keys(n.paths)) {
		for at := path; filepath.Dir(at) != at && !strings.HasPrefix(filepath.Base(at), "."); {
			at = filepath.Dir(at)
			if folder, is := n.folders[at]; is {
				return Usagef("%s is in %s, which is read whole: its documents would all be there twice; leave one of the two out", n.paths[path], folder)
			}
		}
	}
	return nil
}
