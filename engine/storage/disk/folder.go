package disk

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A Folder is a new folder that gets its name when it is complete, by [Folder.Commit], or is
// removed by [Folder.Abort], which may be deferred in any case. It is used by one goroutine.
type Folder struct {
	disk      *Disk
	path, tmp string
	files     int  // written so far
	replaces  bool // what stands at path
}

// syncEach is how many files of a folder are made durable one by one, at some milliseconds each.
// With more of them the whole file system is made durable once, at the end.
const syncEach = 32

// CreateFolder begins the folder at path, where nothing may stand, under a temporary name beside it.
func (d *Disk) CreateFolder(path string) (*Folder, error) {
	path = filepath.Clean(path)
	if err := Absent(path); err != nil {
		return nil, err
	}
	return d.createFolder(path)
}

// ReplaceFolder begins a folder that takes the place of the one at path, if there is one, when it is
// complete. It fails when something else stands there than a folder all of whose files are own, as
// [Replaceable] does, so that nobody loses a file that is no output.
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

// Replaceable returns nil when a folder may take the place of what stands at path: nothing, or a
// folder all of whose files, by their paths in it, are own. The error names what is not.
func Replaceable(path string, own func(name string) bool) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return Absent(path)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s: not a folder: remove it first, or choose another name", path)
	}
	return filepath.WalkDir(path, func(file string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if name, err := filepath.Rel(path, file); err != nil || !own(name) {
			return fmt.Errorf("%s: is not replaced, because it has another file, %s: remove it first, or choose another name", path, name)
		}
		return nil
	})
}

// createFolder makes the folder under its temporary name.
func (d *Disk) createFolder(path string) (*Folder, error) {
	folder := &Folder{disk: d, path: path}
	op := Op{Call: CallMkdir, Path: path}
	err := d.do(&op, func() (err error) {
		folder.tmp, err = os.MkdirTemp(filepath.Dir(path), Unfinished(path)+"*")
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
	if err := f.disk.do(&Op{Call: CallMkdir, Path: dir}, func() error { return os.MkdirAll(dir, 0o755) }); err != nil {
		return err
	}
	h, err := f.disk.createNamed(path)
	if err != nil {
		return err
	}
	defer h.file.Close()
	w := bufio.NewWriterSize(h, 1<<18)
	if err := fill(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if f.files++; f.files <= syncEach || syncAll == nil {
		if err := h.sync(); err != nil {
			return err
		}
	}
	return h.close()
}

// Commit makes the folder durable and gives it its name. After an error of what comes before
// that nothing is left of it.
func (f *Folder) Commit() error {
	defer f.Abort()
	if err := f.disk.chmod(f.tmp, 0o755); err != nil {
		return err
	}
	if err := f.sync(); err != nil {
		return err
	}
	if f.replaces {
		return f.replace()
	}
	return f.disk.rename(f.tmp, f.path)
}

// replace gives the folder the name that another has, which is removed. If the second of the two
// renames fails, the other gets its name back; a power cut between them leaves it under a hidden
// name that ends in .old, whole as it was.
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

// restore gives what was to be replaced its name back, if it has lost it, unless the new folder has that: then the name
// may not outlast a power cut, and the other folder is kept.
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

// sync makes the names in the folder and in its folders durable, and those files that Write has not.
func (f *Folder) sync() error {
	if f.files > syncEach && syncAll != nil {
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
		f.tmp = ""
	}
}
