package disk

import (
	"fmt"
	"os"
	"path/filepath"
)

// A File is a new file that gets its name when it is complete, by [File.Commit], or is removed by
// [File.Abort], which may be deferred in any case. It is used by one goroutine.
type File struct {
	handle
	path string
	done bool
}

// Create begins the file at path, under a temporary name beside it. A file that stands at path
// stays until Commit replaces it; anything else there is an error.
func (d *Disk) Create(path string) (*File, error) {
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s: is a directory", path)
	case err == nil && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: is a device or a pipe, which no file can replace: write to standard output and redirect it", path)
	}
	h, err := d.create(filepath.Dir(path), Unfinished(path)+"*")
	if err != nil {
		return nil, err
	}
	return &File{handle: h, path: path}, nil
}

// Commit makes the file durable and gives it its name. Where an error comes before the rename, the
// new file is removed.
func (f *File) Commit() error {
	defer f.Abort()
	tmp := f.file.Name()
	if err := f.disk.chmod(tmp, 0o644); err != nil {
		return err
	}
	if err := f.sync(); err != nil {
		return err
	}
	if err := f.close(); err != nil {
		return err
	}
	return f.disk.rename(tmp, f.path)
}

// Abort removes the file unless it was committed or removed before.
func (f *File) Abort() {
	if !f.done {
		f.done = true
		f.file.Close()
		os.Remove(f.file.Name()) // nothing is there after the rename
	}
}
