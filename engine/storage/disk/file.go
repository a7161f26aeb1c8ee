package disk

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"example.org/ndd/engine/memory"
)

// A File is a new file. [File.Commit] gives it its name; [File.Abort] removes it, and does nothing after Commit. It
// is used by one goroutine.
type File struct {
	handle
	path   string
	done   bool
	memory *memory.Buffer[uint8] // content with spare space at its end; nil if the file is on disk
	used   int                   // bytes of memory in use
}

// Create creates a file with a temporary name in the folder of path. Commit replaces a file at path. Create fails if
// path is not a regular file.
func (d *Disk) Create(path string) (*File, error) { return d.begin(path, 0o666) }

// CreatePrivate is like Create, but only the owner may read the file.
func (d *Disk) CreatePrivate(path string) (*File, error) { return d.begin(path, 0o600) }

// begin creates a file with permissions perm, less the umask.
func (d *Disk) begin(path string, perm os.FileMode) (*File, error) {
	if d.IsInMemory() {
		return &File{path: path, handle: handle{disk: d}, memory: &memory.Buffer[uint8]{}}, nil
	}
	switch info, err := d.Stat(path); {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s: is a directory", path)
	case err == nil && !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: is a device or a pipe and cannot be replaced: write to standard output and "+
			"redirect it", path)
	}
	h, err := d.create(filepath.Dir(path), TempPrefix(path)+tempMark+"*", perm)
	if err != nil {
		return nil, err
	}
	return &File{handle: h, path: path}, nil
}

// WriteAt overwrites bytes that were already written.
func (f *File) WriteAt(p []byte, offset int64) (int, error) {
	return f.write(p, offset, func(p []byte) (int, error) { return f.file.WriteAt(p, offset) })
}

// Commit makes the file durable and renames it to its path. After an error before the rename it removes the file.
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

// Abort removes the file unless it was committed or aborted.
func (f *File) Abort() {
	if !f.done {
		f.done = true
		if f.memory != nil {
			f.memory.Free()
			return
		}
		f.file.Close()
		placeOf(f.disk).remove(f.file.Name()) // fails after the rename, when the name no longer exists
		f.lock.Close()
	}
}

// A handle is an open file with its disk.
type handle struct {
	file *os.File
	disk *Disk
	lock *os.File // lock of a file with a temporary name; may be nil
}

// create creates a file whose name matches pattern, with permissions perm less the umask.
func (d *Disk) create(dir, pattern string, perm os.FileMode) (h handle, err error) {
	op := Op{Call: CallCreate, Path: filepath.Join(dir, pattern)}
	h.disk = d
	err = d.do(&op, func() error {
		path, lock, err := placeOf(d).makeTemp(op.Path, func(path string) (err error) {
			h.file.Close() // from an earlier attempt
			h.file, err = placeOf(d).open(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
			return err
		})
		h.lock, op.Path = lock, cmp.Or(path, op.Path)
		return err
	})
	return h, err
}

// createNamed creates a file. It fails if path exists.
func (d *Disk) createNamed(path string) (h handle, err error) {
	err = d.do(&Op{Call: CallCreate, Path: path}, func() error {
		f, err := placeOf(d).open(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
		h = handle{file: f, disk: d}
		return err
	})
	return h, err
}

// Write appends p.
func (h handle) Write(p []byte) (int, error) { return h.write(p, -1, h.file.Write) }

// write writes p by method. The offset is for the hook.
func (h handle) write(p []byte, offset int64, method func([]byte) (int, error)) (n int, err error) {
	called := false
	err = h.disk.do(&Op{Call: CallWrite, Path: h.file.Name(), Offset: offset, Data: p}, func() (err error) {
		called = true
		n, err = method(p)
		return err
	})
	if !called {
		n, _ = method(p[:len(p)/2])
	}
	return n, err
}

func (h handle) sync() error {
	return h.disk.do(&Op{Call: CallSync, Path: h.file.Name()}, h.file.Sync)
}

// close closes the file even if the hook returns an error.
func (h handle) close() error {
	called := false
	err := h.disk.do(&Op{Call: CallClose, Path: h.file.Name()}, func() error {
		called = true
		return h.file.Close()
	})
	if !called {
		h.file.Close()
	}
	return err
}

// An AppendFile is a new file that has its final name from the beginning and is appended to, such as a log. It is
// used by one goroutine at a time.
type AppendFile struct{ handle }

// CreateAppend creates the file at path. It fails if path exists. The name is durable after [Disk.SyncFolder] of its
// folder.
func (d *Disk) CreateAppend(path string) (*AppendFile, error) {
	h, err := d.createNamed(path)
	if err != nil {
		return nil, err
	}
	return &AppendFile{h}, nil
}

// OpenAppend opens the file at path, truncates it durably to length, and appends there.
func (d *Disk) OpenAppend(path string, length int64) (*AppendFile, error) {
	file, err := placeOf(d).open(path, os.O_WRONLY, 0)
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

// Sync makes all written bytes durable. After an error only the bytes that an earlier Sync covered are durable: a
// later Sync may succeed without having written the rest.
func (f *AppendFile) Sync() error { return f.sync() }

// Close closes the file even if it returns an error. It does not make the file durable.
func (f *AppendFile) Close() error { return f.close() }

// A Temp is a temporary file. If the system allows it, the name is removed as soon as the file is open, so that the
// file disappears with the process. It is used by one goroutine, except for reads through [Temp.File].
type Temp struct {
	handle
	named bool // the name still exists
}

// Temp creates a temporary file in the folder dir. Its name contains purpose.
func (d *Disk) Temp(dir, purpose string) (*Temp, error) {
	h, err := d.create(dir, ".ndd-"+purpose+".tmp-"+tempMark+"*", 0o600)
	if err != nil {
		return nil, err
	}
	t := &Temp{h, true}
	t.remove() // Close tries again if an open file cannot be removed
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

// Rewind truncates the file to 0 bytes. The next Write begins at its start.
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
