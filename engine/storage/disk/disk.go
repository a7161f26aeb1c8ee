package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Disk is where files are written. A nil Disk is the system's own; [Hooked] makes one whose calls are
// observed, and [Failing] one for tests.
type Disk struct{ hook Hook }

// A Call names a call to the system that changes a file or a folder, or makes a change durable.
type Call string

// The calls.
const (
	CallCreate     Call = "create"
	CallWrite      Call = "write"
	CallTruncate   Call = "truncate"
	CallChmod      Call = "chmod"
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
	// Before is called before a call, which is not made and fails when Before returns an error.
	// Of a write that fails in this way the first half is made, as on a disk that is full.
	// After [ErrSkip] it is not made and succeeds, which is for syncs in tests that need no durability.
	Before(*Op) error
	// After is called after a call that succeeded.
	After(*Op)
}

// ErrSkip is returned by [Hook.Before] for a call that is to succeed without being made.
var ErrSkip = errors.New("skip this call")

// Hooked returns the system's disk with an observer of every call, such as one that counts them.
func Hooked(h Hook) *Disk { return &Disk{h} }

// Failing returns the system's disk, on which a call is not made, and fails, when fails returns
// an error for it and its path; of a write the first half is made. Fails is called from many
// goroutines at the same time.
func Failing(fails func(Call, string) error) *Disk { return Hooked(failing(fails)) }

type failing func(Call, string) error

func (f failing) Before(op *Op) error { return f(op.Call, op.Path) }
func (failing) After(*Op)             {}

// do makes a call, between the calls of the hook.
func (d *Disk) do(op *Op, call func() error) error {
	if d == nil {
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

// Unfinished returns the prefix of the temporary names under which path is written, in its folder.
func Unfinished(path string) string { return "." + filepath.Base(path) + ".tmp-" }

// Absent returns an error, which wraps [os.ErrExist], when something stands at path, and one when
// the folder that path would be in does not exist.
func Absent(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: %w: remove it first, or choose another name", path, os.ErrExist)
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	folder := filepath.Dir(filepath.Clean(path))
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s: its folder %s is not there: %w: make it first", path, folder, os.ErrNotExist)
	case err == nil && !info.IsDir():
		return fmt.Errorf("%s: %s is no folder", path, folder)
	}
	return err
}

// rename publishes the file or folder at from under the name to, and makes that name durable.
func (d *Disk) rename(from, to string) error {
	if err := d.do(&Op{Call: CallRename, Path: from, To: to}, func() error { return os.Rename(from, to) }); err != nil {
		return err
	}
	if err := d.SyncFolder(filepath.Dir(to)); err != nil {
		return &nameError{to, err}
	}
	return nil
}

// nameError reports that a rename was made but may be lost in a power cut.
type nameError struct {
	path string
	err  error
}

func (e *nameError) Error() string {
	return fmt.Sprintf("%s is there and whole, but its name may not outlast a power cut: %v", e.path, e.err)
}

func (e *nameError) Unwrap() error { return e.err }

// SyncFolder makes the names in the folder at path durable: those of files that were created,
// renamed or removed in it.
func (d *Disk) SyncFolder(path string) error {
	return d.do(&Op{Call: CallSyncFolder, Path: path}, func() error {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return syncDir(f)
	})
}

// Remove removes the file at path. The removal is durable after [Disk.SyncFolder] of its folder.
func (d *Disk) Remove(path string) error {
	return d.do(&Op{Call: CallRemove, Path: path}, func() error { return os.Remove(path) })
}

// Link gives the file at path a second name, on the same file system, where nothing may stand.
// The name is durable after [Disk.SyncFolder] of its folder.
func (d *Disk) Link(path, to string) error {
	return d.do(&Op{Call: CallLink, Path: path, To: to}, func() error { return os.Link(path, to) })
}

// Truncate cuts the file at path to length bytes and makes that durable.
func (d *Disk) Truncate(path string, length int64) error {
	f, err := d.OpenAppend(path, length)
	if err != nil {
		return err
	}
	return f.Close()
}

// ErrLocked is wrapped by the error of [Lock] where another process, or this one, has the lock.
var ErrLocked = errors.New("another process writes here")
