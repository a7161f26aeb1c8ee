package disk

import (
	"os"
	"path/filepath"
)

// A handle is an open file and the disk that it is on.
type handle struct {
	file *os.File
	disk *Disk
}

// create makes a file with a new name of that pattern.
func (d *Disk) create(dir, pattern string) (h handle, err error) {
	op := Op{Call: CallCreate, Path: filepath.Join(dir, pattern)}
	err = d.do(&op, func() error {
		f, err := os.CreateTemp(dir, pattern)
		if err == nil {
			h, op.Path = handle{f, d}, f.Name()
		}
		return err
	})
	return h, err
}

// createNamed makes a new file at path, where nothing may stand.
func (d *Disk) createNamed(path string) (h handle, err error) {
	err = d.do(&Op{Call: CallCreate, Path: path}, func() error {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		h = handle{f, d}
		return err
	})
	return h, err
}

// Write appends p.
func (h handle) Write(p []byte) (int, error) { return h.write(p, -1, h.file.Write) }

// write writes p with the given method, at offset at for the hook.
func (h handle) write(p []byte, at int64, method func([]byte) (int, error)) (n int, err error) {
	made := false
	err = h.disk.do(&Op{Call: CallWrite, Path: h.file.Name(), Offset: at, Data: p}, func() (err error) {
		made = true
		n, err = method(p)
		return err
	})
	if !made {
		n, _ = method(p[:len(p)/2])
	}
	return n, err
}

func (h handle) sync() error {
	return h.disk.do(&Op{Call: CallSync, Path: h.file.Name()}, h.file.Sync)
}

// close closes the file in any case, once.
func (h handle) close() error {
	made := false
	err := h.disk.do(&Op{Call: CallClose, Path: h.file.Name()}, func() error {
		made = true
		return h.file.Close()
	})
	if !made {
		h.file.Close()
	}
	return err
}

// chmod gives a file or a folder the permissions that one has which is created under its own name.
func (d *Disk) chmod(path string, mode os.FileMode) error {
	return d.do(&Op{Call: CallChmod, Path: path}, func() error { return os.Chmod(path, mode) })
}
