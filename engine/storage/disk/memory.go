package disk

import (
	"fmt"
	"io/fs"
	"sync"

	"example.org/ndd/engine/memory"
)

// A memoryTree holds the complete files of a disk in memory, by path, until they are removed or taken.
type memoryTree struct {
	mu    sync.Mutex
	files map[string]*memory.Buffer[uint8]
}

// InMemory returns a disk whose files are in memory outside the Go heap. It supports only the calls that a [File]
// needs: Create, Remove and [Disk.Take].
func InMemory() *Disk { return &Disk{memory: &memoryTree{files: map[string]*memory.Buffer[uint8]{}}} }

// IsInMemory reports whether [InMemory] made the disk.
func (d *Disk) IsInMemory() bool { return d != nil && d.memory != nil }

// Take returns the content of the file at path of a disk in memory, and removes the name. The caller frees the
// content.
func (d *Disk) Take(path string) (*memory.Buffer[uint8], error) {
	d.memory.mu.Lock()
	defer d.memory.mu.Unlock()
	b, ok := d.memory.files[path]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	delete(d.memory.files, path)
	return b, nil
}

// Reserve reserves memory for a file of that many bytes on a disk in memory, so that it grows without copies. Only
// written pages take memory. Commit releases the rest.
func (f *File) Reserve(bytes uint64) error {
	if f.memory == nil || bytes <= uint64(len(f.memory.Data)) {
		return nil
	}
	larger, err := memory.Make[uint8](int(bytes))
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	copy(larger.Data, f.memory.Data[:f.used])
	f.memory.Free()
	f.memory = larger
	return nil
}

// Write appends p.
func (f *File) Write(p []byte) (int, error) {
	if f.memory == nil {
		return f.handle.Write(p)
	}
	const smallest, large = 64 << 10, 16 << 20
	if need := f.used + len(p); need > len(f.memory.Data) {
		capacity := 2 * len(f.memory.Data)
		if capacity > large {
			capacity = len(f.memory.Data) * 5 / 4
		}
		if err := f.Reserve(uint64(max(need, capacity, smallest))); err != nil {
			return 0, err
		}
	}
	f.used += copy(f.memory.Data[f.used:], p)
	return len(p), nil
}
