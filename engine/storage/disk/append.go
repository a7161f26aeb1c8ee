package disk

import (
	"io"
	"os"
)

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

// OpenAppend opens the file at path, cuts it to length bytes and makes that durable, to write on from
// there.
func (d *Disk) OpenAppend(path string, length int64) (*AppendFile, error) {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	f := &AppendFile{handle{file, d}}
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

// Sync makes what was written durable. After an error it is unknown what of it is, and a later
// Sync may succeed without having written it: nothing of the file may be relied on then but what
// an earlier Sync covered.
func (f *AppendFile) Sync() error { return f.sync() }

// Close closes the file, also where it returns an error. It does not make it durable.
func (f *AppendFile) Close() error { return f.close() }
