package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// A Disk writes files. A nil Disk is the system's own. [Hooked] returns one whose calls are observed, [WithFailures]
// one for tests, [Lock.Disk] one for a locked folder, and [InMemory] one in memory.
type Disk struct {
	hook   Hook
	place  place
	memory *memoryTree // the files of a disk in memory, or nil
}

// A Call names a call to the system that changes a file or a folder, or makes a change durable.
type Call string

// The calls.
const (
	CallCreate     Call = "create"
	CallWrite      Call = "write"
	CallTruncate   Call = "truncate"
	CallSync       Call = "sync" // for a folder: sync of its whole file system
	CallClose      Call = "close"
	CallRemove     Call = "remove"
	CallMkdir      Call = "mkdir"
	CallSyncFolder Call = "sync folder" // makes the names in a folder durable
	CallRename     Call = "rename"
	CallLink       Call = "link"
)

// An Op is a call with its arguments.
type Op struct {
	Call    Call
	Path    string // real name of the file at the time of the call
	NewPath string // new name, for rename and link
	Offset  int64  // position of a write, -1 to append; new length for truncate
	Data    []byte // content of a write, valid until the call ends
}

// A Hook observes the calls of a Disk. Many goroutines call its methods at the same time. Both methods receive the
// same Op.
type Hook interface {
	// Before is called before a call. If it returns an error, the call fails without being made. A write that fails
	// in this way writes its first half, like a full disk. After [ErrSkip] the call succeeds without being made:
	// tests that need no durability skip syncs with it.
	Before(*Op) error
	// After is called after a call that succeeded.
	After(*Op)
}

// ErrSkip is returned by [Hook.Before] to skip a call and report success.
var ErrSkip = errors.New("skip this call")

// Hooked returns the system's disk with a hook that observes every call.
func Hooked(h Hook) *Disk { return &Disk{hook: h} }

// WithFailures returns the system's disk. A call fails, without being made, if fail returns an error for it and its
// path. A failed write writes its first half. Many goroutines call fail at the same time.
func WithFailures(fail func(Call, string) error) *Disk { return Hooked(failFunc(fail)) }

type failFunc func(Call, string) error

func (f failFunc) Before(op *Op) error { return f(op.Call, op.Path) }
func (failFunc) After(*Op)             {}

// do makes a call between the two calls of the hook.
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

// TempPrefix returns the prefix of the temporary names of path. Such a file is in the folder of path.
func TempPrefix(path string) string { return "." + filepath.Base(path) + ".tmp-" }

// CheckAbsent returns an error that wraps [os.ErrExist] if path exists. It returns another error if a parent is not a
// folder. [Disk.MakeParents] creates missing parents.
func CheckAbsent(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: %w: choose another name", path, os.ErrExist)
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	folder := filepath.Dir(filepath.Clean(path))
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, os.ErrNotExist) && folder != filepath.Dir(folder):
		return CheckAbsent(folder)
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s: %s is not a folder", path, folder)
	}
	return err
}

// CheckParent returns an error if the parent folder of path does not exist, for example because its disk is not
// mounted.
func CheckParent(path string) error {
	parent := filepath.Dir(filepath.Clean(path))
	if _, err := os.Stat(parent); errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: the folder %s does not exist: make it, or mount its disk", path, parent)
	}
	return nil // the caller's next call reports other errors
}

// MakeParents durably creates the missing parent folders of path.
func (d *Disk) MakeParents(path string) error {
	folder := filepath.Dir(filepath.Clean(path))
	if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
		return nil // the caller's next call reports other errors
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

// rename renames a file or folder and makes the new name durable.
func (d *Disk) rename(source, target string) error {
	if err := d.do(&Op{Call: CallRename, Path: source, NewPath: target}, func() error { return placeOf(d).rename(source, target) }); err != nil {
		return err
	}
	if err := d.SyncFolder(filepath.Dir(target)); err != nil {
		return fmt.Errorf("%s is complete, but a power cut may undo its new name: %w", target, err)
	}
	return nil
}

// SyncFolder makes the names in the folder at path durable: files that were created, renamed or removed.
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
	return d.do(&Op{Call: CallRemove, Path: path}, func() error { return placeOf(d).remove(path) })
}

// Link gives the file at path a second name, on the same file system. It fails if that name exists. The name is
// durable after [Disk.SyncFolder] of its folder.
func (d *Disk) Link(path, target string) error {
	return d.do(&Op{Call: CallLink, Path: path, NewPath: target}, func() error { return placeOf(d).link(path, target) })
}

// IsUnwritable reports whether err says that the disk is full or read-only. Existing files can be read, and the call
// may succeed later.
func IsUnwritable(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EROFS)
}

// Open opens the file or folder at path for reading.
func (d *Disk) Open(path string) (*os.File, error) { return placeOf(d).open(path, os.O_RDONLY, 0) }

// Stat describes the file or folder at path.
func (d *Disk) Stat(path string) (os.FileInfo, error) { return placeOf(d).stat(path) }

// ReadFile returns the content of the file at path.
func (d *Disk) ReadFile(path string) ([]byte, error) {
	f, err := d.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// ReadDir returns the entries of the folder at path, sorted by name.
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
