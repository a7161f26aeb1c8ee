package spill

import (
	"cmp"
	"os"

	"ndd/engine/memory"
	"ndd/engine/storage/disk"
)

// Memory returns a function for [memory.Arena.Map]: memory in temporary files in the folder dir, or in
// the system's folder for these. It is in the system's cache of files, which the system writes to
// the disk where it needs the room; what names it in messages. So memory that does not fit a limit costs
// a page of the file, 4 KiB, for each access out of order that finds none in the cache:
//
//	everything in the cache    a fault for each page that is touched first, about 1 us
//	read from a disk           some 100 us
//
// The whole file is written before it is mapped, so that a full disk is an [Error] and not a fault.
func Memory(d *disk.Disk, dir, what string) func(bytes uint64) ([]byte, error) {
	dir = cmp.Or(dir, os.TempDir())
	return func(bytes uint64) (b []byte, err error) {
		file, err := d.Temp(dir, what)
		if err == nil {
			zeros := make([]byte, min(bytes, zeroBytes))
			for at := uint64(0); at < bytes && err == nil; at += zeroBytes {
				_, err = file.Write(zeros[:min(bytes-at, zeroBytes)])
			}
			if err == nil {
				b, err = memory.MapFile(file.File(), bytes)
			}
			err = cmp.Or(err, file.Close())
		}
		if err != nil {
			return nil, &Error{What: what, Dir: dir, Err: err}
		}
		return b, nil
	}
}

// zeroBytes are written at a time.
const zeroBytes = 1 << 20
