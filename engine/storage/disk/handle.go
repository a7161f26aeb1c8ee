package disk

import (
	"os"
	"path/filepath"
)

// A handle is an open file, and the disk that it is on.
type handle struct {
	file *os.File
	disk *Disk
}

// create makes a file with a new name of that pattern.
func (d *Disk) create(dir, pattern string) (handle, error) {
	err := d.try(CallCreate, filepath.Join(dir, pattern))
	if err != nil {
		return handle{}, err
	}
	f, err := os.CreateTemp(dir, pattern)
	return handle{f, d}, err
}

// Write appends. A failing one writes half, as a full disk does.
func (h handle) Write(p []byte) (int, error) {
	if err := h.disk.try(CallWrite, h.file.Name()); err != nil {
		n, _ := h.file.Write(p[:len(p)/2])
		return n, err
	}
	return h.file.Write(p)
}

func (h handle) sync() error {
	if err := h.disk.try(CallSync, h.file.Name()); err != nil {
		return err
	}
	return h.file.Sync()
}

// close closes the file in any case, once.
func (h handle) close() error {
	err := h.disk.try(CallClose, h.file.Name())
	if e := h.file.Close(); err == nil {
		err = e
	}
	return err
}

// chmod gives a file, or a folder, the rights that one has which is made with its own name.
func (d *Disk) chmod(path string, mode os.FileMode) error {
	if err := d.try(CallChmod, path); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}
