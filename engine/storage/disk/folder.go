package disk

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
)

// A Folder is a new folder that gets its name when it is complete, by [Folder.Commit], or is
// removed by [Folder.Abort], which may be deferred in any case. Write may be called by several
// goroutines.
type Folder struct {
	disk      *Disk
	path, tmp string
	lock      *os.File     // of the temporary folder; may be nil
	files     atomic.Int64 // written so far
	replaces  bool         // what stands at path
}

// syncEach is the number of files of a folder that are synced one by one, at some milliseconds
// each. With more of them the whole file system is synced once, at the end.
const syncEach = 32

// CreateFolder begins the folder at path, where nothing may stand, under a temporary name beside
// it. It makes the folders above.
func (d *Disk) CreateFolder(path string) (*Folder, error) {
	path = filepath.Clean(path)
	if err := Absent(path); err != nil {
		return nil, err
	}
	return d.createFolder(path)
}

// ReplaceFolder begins a folder that replaces the one at path, if any, when it is complete. It
// fails unless [Replaceable] returns nil, so that only outputs are replaced.
func (d *Disk) ReplaceFolder(path string, own func(name string) bool) (*Folder, error) {
	path = filepath.Clean(path)
	if err := Replaceable(path, own); err != nil {
		return nil, err
	}
	folder, err := d.createFolder(path)
	if err == nil {
		_, err := os.Lstat(path)
		folder.replaces = err == nil
	}
	return folder, err
}

// Replaceable returns nil if a folder may replace the file or folder at path: nothing, or a folder
// all of whose files, by their paths in it, are own. The error names another file.
func Replaceable(path string, own func(name string) bool) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return Absent(path)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s: is no folder, and is not replaced by one: choose another name", path)
	}
	return filepath.WalkDir(path, func(file string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if name, err := filepath.Rel(path, file); err != nil || !own(name) {
			return fmt.Errorf("%s: is not replaced, because ndd did not make %s in it: choose another name", path, name)
		}
		return nil
	})
}

// createFolder makes the folder under its temporary name.
func (d *Disk) createFolder(path string) (*Folder, error) {
	if err := d.MakeParents(path); err != nil {
		return nil, err
	}
	folder := &Folder{disk: d, path: path}
	op := Op{Call: CallMkdir, Path: path}
	err := d.do(&op, func() (err error) {
		pattern := filepath.Join(filepath.Dir(path), Unfinished(path)+made+"*")
		folder.tmp, folder.lock, err = d.makeTemp(pattern, func(path string) error { return os.Mkdir(path, 0o777) })
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

// Write creates the file called name, a path relative to the folder, with what fill writes, and the
// folders that it is in.
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
	w := bufio.NewWriterSize(&flushed{handle: h}, 1<<18)
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

// Commit makes the folder durable and gives it its name. If an earlier step fails it removes the
// folder.
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

// replace gives the folder the name of the old one, which it removes. If the second rename fails
// the old folder gets its name back; a power cut between the two leaves it whole under a hidden
// name that ends in .old.
func (f *Folder) replace() error {
	old := f.tmp + ".old"
	if err := f.disk.rename(f.path, old); err != nil {
		return errors.Join(err, f.restore(old))
	}
	if err := f.disk.rename(f.tmp, f.path); err != nil {
		return errors.Join(err, f.restore(old))
	}
	return os.RemoveAll(old)
}

// restore renames the old folder back unless the new one is already in place: then its name may not
// be durable, and the old folder is kept.
func (f *Folder) restore(old string) error {
	if _, err := os.Lstat(old); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if _, err := os.Lstat(f.path); err == nil {
		return fmt.Errorf("what it replaces is at %s", old)
	}
	if err := os.Rename(old, f.path); err != nil {
		return fmt.Errorf("%s: what stood there is now at %s: %w", f.path, old, err)
	}
	return nil
}

// sync makes the folder's names durable, and the files that Write has not synced.
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

// Abort removes the folder unless it was committed or removed before.
func (f *Folder) Abort() {
	if f.tmp != "" {
		os.RemoveAll(f.tmp) // nothing is there after the rename
		f.lock.Close()
		f.tmp = ""
	}
}
