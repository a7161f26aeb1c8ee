package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// A place finds files by their paths, without a hook. Paths in the locked folder lead to the folder that was opened
// once, even if it was renamed. All other paths lead to the whole file system, and so do all paths of the zero value.
type place struct {
	dir  string   // path of the locked folder
	root *os.Root // the locked folder, or nil
}

// placeOf returns the place of the files of d, which may be nil.
func placeOf(d *Disk) place {
	if d == nil {
		return place{}
	}
	return d.place
}

// A tree has the file operations of [os.Root]: names are relative to a folder.
type tree interface {
	OpenFile(name string, flag int, perm os.FileMode) (*os.File, error)
	Stat(name string) (os.FileInfo, error)
	Lstat(name string) (os.FileInfo, error)
	Remove(name string) error
	Rename(source, target string) error
	Link(source, target string) error
}

// paths is the tree of the whole file system. Its names are paths.
type paths struct{}

func (paths) OpenFile(path string, flag int, perm os.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, perm)
}
func (paths) Stat(path string) (os.FileInfo, error)  { return os.Stat(path) }
func (paths) Lstat(path string) (os.FileInfo, error) { return os.Lstat(path) }
func (paths) Remove(path string) error               { return os.Remove(path) }
func (paths) Rename(source, target string) error     { return os.Rename(source, target) }
func (paths) Link(source, target string) error       { return os.Link(source, target) }

// resolve returns the tree that contains path, and its name there.
func (p place) resolve(path string) (tree, string) {
	switch {
	case p.root == nil:
	case filepath.Clean(path) == p.dir:
		return p.root, "."
	case filepath.Dir(path) == p.dir:
		return p.root, filepath.Base(path)
	}
	return paths{}, path
}

// withPath returns err with path in its *fs.PathError, instead of the name within the folder.
func withPath(err error, path string) error {
	if e, ok := err.(*fs.PathError); ok {
		e.Op, e.Path = strings.TrimSuffix(e.Op, "at"), path
	}
	return err
}

// ErrSpecial is wrapped by errors of opening a pipe or a device.
var ErrSpecial = errors.New("a pipe or a device where a file is needed")

// refuseSpecial returns an error if path is neither a file nor a folder.
func (p place) refuseSpecial(path string) error {
	if info, err := p.stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return &fs.PathError{Op: "open", Path: path, Err: ErrSpecial}
	}
	return nil // the open itself reports other errors
}

// open opens a file or a folder. It reads the type first, because opening a pipe waits for its other end.
func (p place) open(path string, flag int, perm os.FileMode) (*os.File, error) {
	if err := p.refuseSpecial(path); err != nil {
		return nil, err
	}
	t, name := p.resolve(path)
	f, err := t.OpenFile(name, flag, perm)
	return f, withPath(err, path)
}

func (p place) stat(path string) (os.FileInfo, error) {
	t, name := p.resolve(path)
	info, err := t.Stat(name)
	return info, withPath(err, path)
}

func (p place) remove(path string) error {
	t, name := p.resolve(path)
	return withPath(t.Remove(name), path)
}

func (p place) rename(source, target string) error {
	t, name := p.resolve(source)
	if u, other := p.resolve(target); u == t {
		return t.Rename(name, other)
	}
	return os.Rename(source, target)
}

// link gives a file a second name. From the locked folder to another one it links the path, and then checks the
// result. It fails with [errors.ErrUnsupported] if the path no longer leads to the file.
func (p place) link(source, target string) error {
	if err := p.refuseSpecial(source); err != nil {
		return err
	}
	t, name := p.resolve(source)
	if u, other := p.resolve(target); u == t {
		return t.Link(name, other)
	}
	err := os.Link(source, target)
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	want, errStat := t.Lstat(name)
	if errStat != nil {
		return withPath(errStat, source)
	}
	if got, e := os.Lstat(target); err == nil && e == nil && os.SameFile(want, got) {
		return nil
	} else if err == nil {
		os.Remove(target)
	}
	return &os.LinkError{Op: "link", Old: source, New: target, Err: errors.ErrUnsupported}
}

// makeTemp creates a file or a folder by makeAt and claims it. Its path is the pattern with a random number instead
// of the star.
func (p place) makeTemp(pattern string, makeAt func(path string) error) (path string, lock *os.File, err error) {
	prefix, suffix, _ := strings.Cut(pattern, "*")
	for range 1000 {
		path = fmt.Sprintf("%s%d%s", prefix, rand.Uint32(), suffix)
		if err = makeAt(path); errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", nil, err
		}
		if lock, ok := p.claim(path); ok { // if not ok, Sweep of another process removed it
			return path, lock, nil
		}
	}
	return "", nil, fmt.Errorf("%s: found no free name", pattern)
}

// claim locks an incomplete file or folder, so that Sweep skips it until the lock is closed. The lock is nil on
// systems without locks. ok is false if another process has locked or removed it.
func (p place) claim(path string) (lock *os.File, ok bool) {
	f, err := p.open(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, !errors.Is(err, fs.ErrNotExist)
	}
	if err = tryLock(f); err == nil {
		opened, e := f.Stat()
		current, e2 := p.stat(path)
		if e == nil && e2 == nil && os.SameFile(opened, current) {
			return f, true
		}
		err = ErrLocked
	}
	f.Close()
	return nil, !errors.Is(err, ErrLocked)
}
