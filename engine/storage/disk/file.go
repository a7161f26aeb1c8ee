package disk

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"ndd/engine/memory"
)

// A File is a new file that gets its name when it is complete, by [File.Commit], or is removed by
// [File.Abort], which may be deferred in any case. It is used by one goroutine.
type File struct {
	handle
	path   string
	done   bool
	memory *memory.Buffer[uint8] // the file, with spare room at its end; nil for one that is not in memory
	used   int                   // bytes of it
}

// Create begins the file at path, under a temporary name beside it. A file that stands at path
// stays until Commit replaces it; anything else there is an error.
func (d *Disk) Create(path string) (*File, error) { return d.begin(path, 0o666) }

// CreatePrivate is Create of a file that only its owner may read.
func (d *Disk) CreatePrivate(path string) (*File, error) { return d.begin(path, 0o600) }

// begin begins a file with these permissions, less the umask.
func (d *Disk) begin(path string, perm os.FileMode) (*File, error) {
	if d.IsInMemory() {
		return &File{path: path, handle: handle{disk: d}, memory: &memory.Buffer[uint8]{}}, nil
	}
	switch info, err := d.Stat(path); {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s: is a directory", path)
	case err == nil && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: is a device or a pipe, which no file can replace: write to standard output and "+
			"redirect it", path)
	}
	h, err := d.create(filepath.Dir(path), Unfinished(path)+made+"*", perm)
	if err != nil {
		return nil, err
	}
	return &File{handle: h, path: path}, nil
}

// WriteAt overwrites written bytes at byte offset at.
func (f *File) WriteAt(p []byte, at int64) (int, error) {
	return f.write(p, at, func(p []byte) (int, error) { return f.file.WriteAt(p, at) })
}

// Commit makes the file durable and gives it its name. Where an error comes before the rename, the
// new file is removed.
func (f *File) Commit() error {
	defer f.Abort()
	if f.memory != nil {
		f.memory.Trim(f.used)
		f.disk.memory.mu.Lock()
		defer f.disk.memory.mu.Unlock()
		f.disk.memory.files[f.path], f.memory, f.done = f.memory, nil, true
		return nil
	}
	tmp := f.file.Name()
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
		if f.memory != nil {
			f.memory.Free()
			return
		}
		f.file.Close()
		t, name := f.disk.at(f.file.Name())
		t.Remove(name) // nothing is there after the rename
		f.lock.Close()
	}
}

// A handle is an open file and the disk that it is on.
type handle struct {
	file *os.File
	disk *Disk
	lock *os.File // of a file with a temporary name; may be nil
}

// create makes a file with a new name of that pattern and these permissions, less the umask.
func (d *Disk) create(dir, pattern string, perm os.FileMode) (h handle, err error) {
	op := Op{Call: CallCreate, Path: filepath.Join(dir, pattern)}
	h.disk = d
	err = d.do(&op, func() error {
		path, lock, err := d.makeTemp(op.Path, func(path string) (err error) {
			h.file.Close() // of an earlier try
			h.file, err = d.openFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
			return err
		})
		h.lock, op.Path = lock, cmp.Or(path, op.Path)
		return err
	})
	return h, err
}

// createNamed makes a new file at path, where nothing may stand.
func (d *Disk) createNamed(path string) (h handle, err error) {
	err = d.do(&Op{Call: CallCreate, Path: path}, func() error {
		f, err := d.openFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		h = handle{file: f, disk: d}
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

// An AppendFile is a new file that has its own name from the beginning and grows at its end, as the
// files of a log do. It is used by one goroutine at a time.
type AppendFile struct{ handle }

// CreateAppend creates the file at path, where nothing may stand. Its name is durable after
// [Disk.SyncFolder] of its folder.
func (d *Disk) CreateAppend(path string) (*AppendFile, error) {
	h, err := d.createNamed(path)
	if err != nil {
		return nil, err
	}
	return &AppendFile{h}, nil
}

// OpenAppend opens the file at path to append at offset length, after cutting it there durably.
func (d *Disk) OpenAppend(path string, length int64) (*AppendFile, error) {
	file, err := d.openFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	f := &AppendFile{handle{file: file, disk: d}}
	err = d.do(&Op{Call: CallTruncate, Path: path, Offset: length}, func() error { return file.Truncate(length) })
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		_, err = file.Seek(length, io.SeekStart)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return f, nil
}

// Sync makes everything written durable. After an error only what an earlier Sync covered may be
// relied on: a later Sync may succeed without having written the rest.
func (f *AppendFile) Sync() error { return f.sync() }

// Close closes the file, also where it returns an error. It does not make it durable.
func (f *AppendFile) Close() error { return f.close() }

// A Temp is a temporary file. Where the system allows that, its name is removed as soon as it is
// open, so that it is gone when the process is, however that ends. It is used by one goroutine,
// but for reading through [Temp.File].
type Temp struct {
	handle
	named bool // its name is not removed yet
}

// Temp creates a temporary file in the folder dir. Purpose is a part of its name.
func (d *Disk) Temp(dir, purpose string) (*Temp, error) {
	h, err := d.create(dir, ".ndd-"+purpose+".tmp-"+made+"*", 0o600)
	if err != nil {
		return nil, err
	}
	t := &Temp{h, true}
	t.remove() // where it cannot be while it is open, Close does it
	t.lock.Close()
	return t, nil
}

func (t *Temp) remove() error {
	if !t.named {
		return nil
	}
	err := t.disk.Remove(t.file.Name())
	t.named = err != nil
	return err
}

// File returns the open file, to read or to map it.
func (t *Temp) File() *os.File { return t.file }

// Rewind makes the file empty, and Write begin at its start.
func (t *Temp) Rewind() error {
	err := t.disk.do(&Op{Call: CallTruncate, Path: t.file.Name()}, func() error { return t.file.Truncate(0) })
	if err != nil {
		return err
	}
	_, err = t.file.Seek(0, 0)
	return err
}

// Close closes the file and removes it.
func (t *Temp) Close() error { return errors.Join(t.close(), t.remove()) }
