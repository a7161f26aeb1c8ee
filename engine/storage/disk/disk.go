package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// A Disk is where files are written. A nil Disk is the system's own; [Hooked] makes one whose calls
// are observed, [Failing] one for tests, [Lock.Disk] one for a locked folder, and [InMemory] one in
// memory.
type Disk struct {
	hook   Hook
	dir    string      // path of the locked folder
	root   *os.Root    // the locked folder; nil for none
	memory *memoryTree // nil for a disk that is none in memory
}

// A Call names a call to the system that changes a file or a folder, or makes a change durable.
type Call string

// The calls.
const (
	CallCreate     Call = "create"
	CallWrite      Call = "write"
	CallTruncate   Call = "truncate"
	CallSync       Call = "sync" // of a file; of a folder, its whole file system
	CallClose      Call = "close"
	CallRemove     Call = "remove"
	CallMkdir      Call = "mkdir"
	CallSyncFolder Call = "sync folder" // the names in it
	CallRename     Call = "rename"
	CallLink       Call = "link"
)

// An Op is a call with its arguments.
type Op struct {
	Call   Call
	Path   string // when it is made, the file's real name
	To     string // rename and link: the new name
	Offset int64  // write: where, -1 behind what was written last; truncate: the length
	Data   []byte // write; valid until the call ends
}

// A Hook observes the calls of a Disk. Its methods are called from many goroutines at the same
// time, with the same Op before and after a call.
type Hook interface {
	// Before is called before a call, which is not made and fails when Before returns an error. Of
	// a write that fails in this way the first half is made, as on a disk that is full. After
	// [ErrSkip] it is not made and succeeds, which is for syncs in tests that need no durability.
	Before(*Op) error
	// After is called after a call that succeeded.
	After(*Op)
}

// ErrSkip is returned by [Hook.Before] for a call that is to succeed without being made.
var ErrSkip = errors.New("skip this call")

// Hooked returns the system's disk with an observer of every call, such as one that counts them.
func Hooked(h Hook) *Disk { return &Disk{hook: h} }

// Failing returns the system's disk, on which a call is not made, and fails, when fails returns
// an error for it and its path; of a write the first half is made. Fails is called from many
// goroutines at the same time.
func Failing(fails func(Call, string) error) *Disk { return Hooked(failing(fails)) }

type failing func(Call, string) error

func (f failing) Before(op *Op) error { return f(op.Call, op.Path) }
func (failing) After(*Op)             {}

// do makes a call, between the calls of the hook.
func (d *Disk) do(op *Op, call func() error) error {
	if d == nil || d.hook == nil {
		return call()
	}
	switch err := d.hook.Before(op); {
	case errors.Is(err, ErrSkip):
		call = func() error { return nil }
	case err != nil:
		return &fs.PathError{Op: string(op.Call), Path: op.Path, Err: err}
	}
	if err := call(); err != nil {
		return err
	}
	d.hook.After(op)
	return nil
}

// Unfinished returns the prefix of the temporary names, beside path, under which path is written.
func Unfinished(path string) string { return "." + filepath.Base(path) + ".tmp-" }

// Absent returns an error, which wraps [os.ErrExist], if something is at path, and another if a
// folder above is none. Folders above that do not exist are made by [Disk.MakeParents].
func Absent(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: %w: choose another name", path, os.ErrExist)
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	folder := filepath.Dir(filepath.Clean(path))
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, os.ErrNotExist) && folder != filepath.Dir(folder):
		return Absent(folder)
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s: %s is no folder", path, folder)
	}
	return err
}

// WantParent returns an error if the folder that path is in does not exist, as on a disk that is not
// mounted.
func WantParent(path string) error {
	parent := filepath.Dir(filepath.Clean(path))
	if _, err := os.Stat(parent); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: the folder %s does not exist: make it, or mount its disk", path, parent)
	}
	return nil // another error comes again
}

// MakeParents makes the folders above path that do not exist, durably.
func (d *Disk) MakeParents(path string) error {
	folder := filepath.Dir(filepath.Clean(path))
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		return nil // another error comes again
	}
	if err := d.MakeParents(folder); err != nil {
		return err
	}
	op := &Op{Call: CallMkdir, Path: folder}
	if err := d.do(op, func() error { return os.Mkdir(folder, 0o777) }); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return d.SyncFolder(filepath.Dir(folder))
}

// rename publishes the file or folder at from under the name to, and makes that name durable.
func (d *Disk) rename(from, to string) error {
	if err := d.do(&Op{Call: CallRename, Path: from, To: to}, func() error { return d.move(from, to) }); err != nil {
		return err
	}
	if err := d.SyncFolder(filepath.Dir(to)); err != nil {
		return fmt.Errorf("%s is there and whole, but its name may not outlast a power cut: %w", to, err)
	}
	return nil
}

// SyncFolder makes the names in the folder at path durable: those of files that were created,
// renamed or removed in it.
func (d *Disk) SyncFolder(path string) error {
	return d.do(&Op{Call: CallSyncFolder, Path: path}, func() error {
		f, err := d.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return syncDir(f)
	})
}

// Remove removes the file at path. The removal is durable after [Disk.SyncFolder] of its folder.
func (d *Disk) Remove(path string) error {
	if d.IsInMemory() {
		b, err := d.Take(path)
		b.Free()
		return err
	}
	return d.do(&Op{Call: CallRemove, Path: path}, func() error {
		t, name := d.at(path)
		return by(t.Remove(name), path)
	})
}

// Link gives the file at path a second name, on the same file system, where nothing may stand.
// The name is durable after [Disk.SyncFolder] of its folder.
func (d *Disk) Link(path, to string) error {
	return d.do(&Op{Call: CallLink, Path: path, To: to}, func() error { return d.link(path, to) })
}

// A tree opens, makes, renames and removes files by their names in a folder, as [os.Root] does.
type tree interface {
	OpenFile(name string, flag int, perm os.FileMode) (*os.File, error)
	Stat(name string) (os.FileInfo, error)
	Lstat(name string) (os.FileInfo, error)
	Remove(name string) error
	Rename(from, to string) error
	Link(from, to string) error
}

// paths is the tree of all files, by their paths.
type paths struct{}

func (paths) OpenFile(path string, flag int, perm os.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, perm)
}
func (paths) Stat(path string) (os.FileInfo, error)  { return os.Stat(path) }
func (paths) Lstat(path string) (os.FileInfo, error) { return os.Lstat(path) }
func (paths) Remove(path string) error               { return os.Remove(path) }
func (paths) Rename(from, to string) error           { return os.Rename(from, to) }
func (paths) Link(from, to string) error             { return os.Link(from, to) }

// at returns the tree that has the file at path, and its name there: the locked folder, or all
// files.
func (d *Disk) at(path string) (tree, string) {
	if d != nil && d.root != nil {
		switch {
		case filepath.Clean(path) == d.dir:
			return d.root, "."
		case filepath.Dir(path) == d.dir:
			return d.root, filepath.Base(path)
		}
	}
	return paths{}, path
}

// by returns err, of a call for the file at path, with that path in place of a name in a folder.
func by(err error, path string) error {
	if e, ok := err.(*fs.PathError); ok {
		e.Op, e.Path = strings.TrimSuffix(e.Op, "at"), path
	}
	return err
}

// ErrSpecial is wrapped by the errors of opening what is neither a file nor a folder.
var ErrSpecial = errors.New("a pipe or a device where a file is needed")

// Unwritable reports whether an error says that the disk is full or read-only: what was written can
// be read, and the call may succeed later.
func Unwritable(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EROFS)
}

// refuseSpecial returns an error if neither a file nor a folder is at path.
func (d *Disk) refuseSpecial(path string) error {
	if info, err := d.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return &fs.PathError{Op: "open", Path: path, Err: ErrSpecial}
	}
	return nil // another error comes again
}

// openFile opens a file or a folder. The call that opens a pipe waits for its other end, so the type
// is read first.
func (d *Disk) openFile(path string, flag int, perm os.FileMode) (*os.File, error) {
	if err := d.refuseSpecial(path); err != nil {
		return nil, err
	}
	t, name := d.at(path)
	f, err := t.OpenFile(name, flag, perm)
	return f, by(err, path)
}

// Open opens the file or folder at path for reading.
func (d *Disk) Open(path string) (*os.File, error) { return d.openFile(path, os.O_RDONLY, 0) }

// Stat describes the file or folder at path.
func (d *Disk) Stat(path string) (os.FileInfo, error) {
	t, name := d.at(path)
	info, err := t.Stat(name)
	return info, by(err, path)
}

// ReadFile returns the content of the file at path.
func (d *Disk) ReadFile(path string) ([]byte, error) {
	f, err := d.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// ReadDir returns the entries of the folder at path, by name.
func (d *Disk) ReadDir(path string) ([]os.DirEntry, error) {
	f, err := d.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// makeTemp makes a file or a folder, whose path is the pattern with a random number in place of its
// star, and claims it.
func (d *Disk) makeTemp(pattern string, makeAt func(path string) error) (path string, lock *os.File, err error) {
	before, after, _ := strings.Cut(pattern, "*")
	for range 1000 {
		path = fmt.Sprintf("%s%d%s", before, rand.Uint32(), after)
		if err = makeAt(path); errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", nil, err
		}
		if lock, ok := d.claim(path); ok { // otherwise it was swept
			return path, lock, nil
		}
	}
	return "", nil, fmt.Errorf("%s: no name is free", pattern)
}

// move renames a file within a folder.
func (d *Disk) move(from, to string) error {
	t, name := d.at(from)
	if u, other := d.at(to); u == t {
		return t.Rename(name, other)
	}
	return os.Rename(from, to)
}

// link gives a file a second name. Out of the locked folder it links the file's path, and fails
// with [errors.ErrUnsupported] if that no longer leads to the file.
func (d *Disk) link(from, to string) error {
	if err := d.refuseSpecial(from); err != nil {
		return err
	}
	t, name := d.at(from)
	if u, other := d.at(to); u == t {
		return t.Link(name, other)
	}
	err := os.Link(from, to)
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	want, failed := t.Lstat(name)
	if failed != nil {
		return by(failed, from)
	}
	if got, e := os.Lstat(to); err == nil && e == nil && os.SameFile(want, got) {
		return nil
	} else if err == nil {
		os.Remove(to)
	}
	return &os.LinkError{Op: "link", Old: from, New: to, Err: errors.ErrUnsupported}
}
