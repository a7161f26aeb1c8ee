package spill

import (
	"cmp"
	"os"

	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/disk"
)

// Memory returns a function for [memory.Arena.Map]. It allocates memory in temporary files in the folder dir, or in
// the system's default folder. The pages are in the file cache of the system, which writes them to the disk if it
// needs memory. Messages contain task. If the memory does not fit, each random access that misses the
// cache costs one page of 4 KiB:
//
//	everything in the cache    a fault for each page that is touched first, about 1 us
//	read from a disk           some 100 us
//
// The file is completely written before it is mapped, so that a full disk is an [Error] and not a fault.
func Memory(d *disk.Disk, dir, task string) func(bytes uint64) ([]byte, error) {
	dir = cmp.Or(dir, os.TempDir())
	return func(bytes uint64) (b []byte, err error) {
		file, err := d.Temp(dir, task)
		if err == nil {
			zeros := make([]byte, min(bytes, zeroBytes))
			for offset := uint64(0); offset < bytes && err == nil; offset += zeroBytes {
				_, err = file.Write(zeros[:min(bytes-offset, zeroBytes)])
			}
			if err == nil {
				b, err = memory.MapFile(file.File(), bytes)
			}
			err = cmp.Or(err, file.Close())
		}
		if err != nil {
			return nil, &Error{Task: task, Dir: dir, Err: err}
		}
		return b, nil
	}
}

// zeroBytes is the size of one write.
const zeroBytes = 1 << 20
