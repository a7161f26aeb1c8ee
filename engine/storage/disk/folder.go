package disk

import (
	"bufio"
	"os"
	"path/filepath"
)

// A Folder is a new folder that gets its name when it is complete, by [Folder.Commit], or is
// removed by [Folder.Abort], which may be deferred in any case. It is used by one goroutine.
type Folder struct {
	disk      *Disk
	path, tmp string
	files     int // written so far
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

// sync makes the names in the folder and in its folders durable, and those files that Write has not.
func (f *Folder) sync() error {
	if f.files > syncEach && canSyncAll {
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
