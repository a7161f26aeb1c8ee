package disk

import (
	"errors"
	"os"
)

// A Temp is a temporary file. Where the system allows that it has no name any more once it is
// open: it is gone when the process is, however that ends.
type Temp struct {
	handle
	named bool // still
}

// Temp makes a temporary file in the folder dir, or in that of the system for such files
// where it is empty. Purpose is a part of its name.
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
	err := t.disk.try(CallRemove, t.file.Name())
	if err == nil {
		err = os.Remove(t.file.Name())
	}
	t.named = err != nil
	return err
}

// File is the open file, to read or to map.
func (t *Temp) File() *os.File { return t.file }

// WriteAt writes at a place of its own. It may be called from many goroutines.
func (t *Temp) WriteAt(p []byte, at int64) (int, error) {
	if err := t.disk.try(CallWrite, t.file.Name()); err != nil {
		n, _ := t.file.WriteAt(p[:len(p)/2], at)
		return n, err
	}
	return t.file.WriteAt(p, at)
}

// Rewind makes the file empty.
func (t *Temp) Rewind() error {
	if err := t.disk.try(CallTruncate, t.file.Name()); err != nil {
		return err
	}
	if err := t.file.Truncate(0); err != nil {
		return err
	}
	_, err := t.file.Seek(0, 0)
	return err
}

// Close gives the file back. Nil has none.
func (t *Temp) Close() error {
	if t == nil {
		return nil
	}
	return errors.Join(t.close(), t.remove())
}
