package disk

import (
	"errors"
	"os"
)

// A Temp is a temporary file. Where the system allows that, its name is removed as soon as it is
// open, so that it is gone when the process is, however that ends. It is used by one goroutine,
// but for [Temp.WriteAt] and reading through [Temp.File].
type Temp struct {
	handle
	named bool // its name is not removed yet
}

// Temp creates a temporary file in the folder dir, or in the system's folder for such files when
// dir is empty. Purpose is a part of its name.
func (d *Disk) Temp(dir, purpose string) (*Temp, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	h, err := d.create(dir, ".ndd-"+purpose+".tmp-*")
	if err != nil {
		return nil, err
	}
	t := &Temp{h, true}
	t.remove() // where it cannot be while it is open, Close does it
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

// WriteAt writes p at byte offset at. It may be called from many goroutines at the same time.
func (t *Temp) WriteAt(p []byte, at int64) (int, error) {
	return t.write(p, at, func(p []byte) (int, error) { return t.file.WriteAt(p, at) })
}

// Rewind makes the file empty, and Write begin at its start.
func (t *Temp) Rewind() error {
	err := t.disk.do(&Op{Call: CallTruncate, Path: t.file.Name()}, func() error { return t.file.Truncate(0) })
	if err != nil {
		return err
	}
	_, err = t.file.Seek(0, 0)
	return err
}

// Close closes the file and removes it. Closing a nil Temp does nothing.
func (t *Temp) Close() error {
	if t == nil {
		return nil
	}
	return errors.Join(t.close(), t.remove())
}
