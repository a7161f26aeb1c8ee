package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Disk is what files are written to. Nil is the system's own; others are for tests.
type Disk struct {
	before func(Call, string) error
}

// A Call is one to the system about a file or a folder.
type Call string

// The calls.
const (
	CallCreate     Call = "create"
	CallWrite      Call = "write"
	CallTruncate   Call = "truncate"
	CallChmod      Call = "chmod"
	CallSync       Call = "sync"
	CallClose      Call = "close"
	CallRemove     Call = "remove" // of a file that is open still
	CallMkdir      Call = "mkdir"
	CallSyncFolder Call = "sync folder"
	CallRename     Call = "rename" // of what is unfinished
)

// Failing is the system's disk, but a call is not made, and fails, when fails gives an error
// for it and the path; of a write the first half is made. Fails must do for many goroutines.
func Failing(fails func(Call, string) error) *Disk { return &Disk{fails} }

// try is the error that a test wants of a call, nil anywhere else.
func (d *Disk) try(c Call, path string) error {
	if d == nil {
		return nil
	}
	if err := d.before(c, path); err != nil {
		return &fs.PathError{Op: string(c), Path: path, Err: err}
	}
	return nil
}

// Unfinished is what the names begin with under which path is written, in its folder.
func Unfinished(path string) string { return "." + filepath.Base(path) + ".tmp-" }

// Absent refuses a path at which something stands.
func Absent(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: %w: remove it first, or choose another name", path, os.ErrExist)
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	folder := filepath.Dir(filepath.Clean(path))
	info, err := os.Stat(folder)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s: not a folder", folder)
	}
	return err
}

// rename publishes what stands at from, and makes its name durable.
func (d *Disk) rename(from, to string) error {
	if err := d.try(CallRename, from); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	if err := d.syncFolder(filepath.Dir(to)); err != nil {
		return &nameError{to, err}
	}
	return nil
}

// nameError is a rename that was made, and may be lost in a power cut.
type nameError struct {
	path string
	err  error
}

func (e *nameError) Error() string {
	return fmt.Sprintf("%s is there and whole, but its name may not outlast a power cut: %v", e.path, e.err)
}

func (e *nameError) Unwrap() error { return e.err }

// syncFolder makes the names in a folder durable.
func (d *Disk) syncFolder(path string) error {
	if err := d.try(CallSyncFolder, path); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return syncDir(f)
}
