package disk

import (
	"bufio"
	"os"
	"path/filepath"
)

// A Folder is a new folder that gets its name when it is complete: call [Folder.Commit], or
// [Folder.Abort], which may be deferred in any case.
type Folder struct {
	disk      *Disk
	path, tmp string
	files     int // written so far
}

// syncEach is how many files are made durable one by one, at some milliseconds
// each. With more, the file system is, at the end.
const syncEach = 32

// CreateFolder begins the folder at path, where nothing may stand.
func (d *Disk) CreateFolder(path string) (*Folder, error) {
	path = filepath.Clean(path)
	if err := Absent(path); err != nil {
		return nil, err
	}
	if err := d.try(CallMkdir, path); err != nil {
		return nil, err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(path), Unfinished(path)+"*")
	if err != nil {
		return nil, err
	}
	return &Folder{disk: d, path: path, tmp: tmp}, nil
}

// Dir is where the folder is until it has its name, for who makes durable files in it.
func (f *Folder) Dir() string { return f.tmp }

// Write makes a file of the folder, or of folders in it.
func (f *Folder) Write(name string, fill func(w *bufio.Writer) error) error {
	path := filepath.Join(f.tmp, name)
	if err := f.disk.try(CallMkdir, filepath.Dir(path)); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := f.disk.try(CallCreate, path); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	h := handle{file, f.disk}
	w := bufio.NewWriterSize(h, 1<<18)
	if err := fill(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if f.files++; f.files <= syncEach || !canSyncAll {
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
	return f.disk.rename(f.tmp, f.path)
}

// sync makes the names in the folder and its folders durable, and the files
// where that has been left.
func (f *Folder) sync() error {
	if f.files > syncEach && canSyncAll {
		if err := f.disk.try(CallSync, f.tmp); err != nil {
			return err
		}
		return syncAll(f.tmp)
	}
	return filepath.WalkDir(f.tmp, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		return f.disk.syncFolder(path)
	})
}

// Abort removes the folder, unless it was committed or removed before.
func (f *Folder) Abort() {
	if f.tmp != "" {
		os.RemoveAll(f.tmp) // nothing is there after the rename
		f.tmp = ""
	}
}
