package disk

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
)

// A Folder is a new folder. [Folder.Commit] gives it its name; [Folder.Abort] removes it, and does nothing after
// Commit. Write may be called by several goroutines.
type Folder struct {
	disk      *Disk
	path, tmp string
	lock      *os.File     // lock of the temporary folder; may be nil
	files     atomic.Int64 // number of files written
	replaces  bool         // a folder at path is replaced
}

// syncEach is the maximum number of files that are synced one by one, at some milliseconds each. With more files,
// Commit syncs the whole file system once.
const syncEach = 32

// CreateFolder creates a folder with a temporary name next to path, and missing parents. It fails if path exists.
func (d *Disk) CreateFolder(path string) (*Folder, error) {
	path = filepath.Clean(path)
	if err := CheckAbsent(path); err != nil {
		return nil, err
	}
	return d.createFolder(path)
}

// ReplaceFolder creates a folder that replaces the one at path, if any, at Commit. It fails unless [CheckReplaceable]
// returns nil, so that only outputs are replaced.
func (d *Disk) ReplaceFolder(path string, isOwn func(name string) bool) (*Folder, error) {
	path = filepath.Clean(path)
	if err := CheckReplaceable(path, isOwn); err != nil {
		return nil, err
	}
	folder, err := d.createFolder(path)
	if err == nil {
		_, err := os.Lstat(path)
		folder.replaces = err == nil
	}
	return folder, err
}

// CheckReplaceable returns nil if path does not exist, or is a folder and own accepts all its files, by their paths
// in it. Otherwise the error names a file that own rejects.
func CheckReplaceable(path string, isOwn func(name string) bool) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return CheckAbsent(path)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s: is not a folder and is not replaced by one: choose another name", path)
	}
	return filepath.WalkDir(path, func(file string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if name, err := filepath.Rel(path, file); err != nil || !isOwn(name) {
			return fmt.Errorf("%s: is not replaced: it has %s, which this command does not write: choose another name", path, name)
		}
		return nil
	})
}

// createFolder creates the folder with its temporary name.
func (d *Disk) createFolder(path string) (*Folder, error) {
	if err := d.MakeParents(path); err != nil {
		return nil, err
	}
	folder := &Folder{disk: d, path: path}
	op := Op{Call: CallMkdir, Path: path}
	err := d.do(&op, func() (err error) {
		pattern := filepath.Join(filepath.Dir(path), TempPrefix(path)+tempMark+"*")
		folder.tmp, folder.lock, err = placeOf(d).makeTemp(pattern, func(path string) error { return os.Mkdir(path, 0o777) })
		op.Path = folder.tmp
		return err
	})
	if err != nil {
		return nil, err
	}
	return folder, nil
}

// Dir returns the folder's temporary path, for callers that create durable files in it themselves.
func (f *Folder) Dir() string { return f.tmp }

// Write creates the file name, a path relative to the folder, and its parent folders. Fill writes the content.
func (f *Folder) Write(name string, fill func(w *bufio.Writer) error) error {
	path := filepath.Join(f.tmp, name)
	dir := filepath.Dir(path)
	if err := f.disk.do(&Op{Call: CallMkdir, Path: dir}, func() error { return os.MkdirAll(dir, 0o777) }); err != nil {
		return err
	}
	h, err := f.disk.createNamed(path)
	if err != nil {
		return err
	}
	defer h.file.Close()
	w := bufio.NewWriterSize(&flushWriter{handle: h}, 1<<18)
	if err := fill(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if f.files.Add(1) <= syncEach || syncAll == nil {
		if err := h.sync(); err != nil {
			return err
		}
	}
	return h.close()
}

// Commit makes the folder durable and renames it to its path. If an earlier step fails, it removes the folder.
func (f *Folder) Commit() error {
	defer f.Abort()
	if err := f.sync(); err != nil {
		return err
	}
	if f.replaces {
		return f.replace()
	}
	return f.disk.rename(f.tmp, f.path)
}

// replace renames the folder to the path of the old one, and removes the old one. If the second rename fails, the old
// folder gets its name back. A power cut between the renames leaves the old folder complete, with a hidden name that
// ends in .old.
func (f *Folder) replace() error {
	oldPath := f.tmp + ".old"
	if err := f.disk.rename(f.path, oldPath); err != nil {
		return errors.Join(err, f.restore(oldPath))
	}
	if err := f.disk.rename(f.tmp, f.path); err != nil {
		return errors.Join(err, f.restore(oldPath))
	}
	return os.RemoveAll(oldPath)
}

// restore renames the old folder back, unless the new one is in place. In that case its name may not be durable, so
// the old folder is kept.
func (f *Folder) restore(oldPath string) error {
	if _, err := os.Lstat(oldPath); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if _, err := os.Lstat(f.path); err == nil {
		return fmt.Errorf("the old folder is at %s", oldPath)
	}
	if err := os.Rename(oldPath, f.path); err != nil {
		return fmt.Errorf("%s: the old folder is now at %s: %w", f.path, oldPath, err)
	}
	return nil
}

// sync makes the names in the folder durable, and the files that Write has not synced.
func (f *Folder) sync() error {
	if f.files.Load() > syncEach && syncAll != nil {
		return f.disk.do(&Op{Call: CallSync, Path: f.tmp}, func() error { return syncAll(f.tmp) })
	}
	return filepath.WalkDir(f.tmp, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		return f.disk.SyncFolder(path)
	})
}

// Abort removes the folder unless it was committed or aborted.
func (f *Folder) Abort() {
	if f.tmp != "" {
		os.RemoveAll(f.tmp) // fails after the rename, when the name no longer exists
		f.lock.Close()
		f.tmp = ""
	}
}
