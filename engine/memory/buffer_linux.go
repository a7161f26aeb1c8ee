package memory

import (
	"errors"
	"runtime"
	"unsafe"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// populateBytes is what one system call populates: some 50 ms without a chance
// to be interrupted.
const populateBytes = 256 << 20

// allocate maps size bytes, populated, from raw[from] on.
func allocate(size uint64) (raw []byte, from int, err error) {
	extra := uint64(0)
	if size >= hugeBytes {
		extra = hugeBytes // to align in; never touched, so never there
	}
	if raw, err = unix.Mmap(-1, 0, int(size+extra), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS); err != nil {
		return nil, 0, err
	}
	if extra > 0 {
		from = -int(address(raw)) & (hugeBytes - 1)
		unix.Madvise(raw[from:from+int(size)], unix.MADV_HUGEPAGE) // a refusal costs speed only
	}
	if err := populate(raw[from:from+int(size)], madvise); err != nil {
		release(raw)
		return nil, 0, err
	}
	return raw, from, nil
}

// madvise populates b.
func madvise(b []byte) error { return unix.Madvise(b, unix.MADV_POPULATE_WRITE) }

// populate makes every page be there, on all processors; advise populates a
// part. Kernels before 5.14 do not know how: then pages are written.
func populate(b []byte, advise func([]byte) error) error {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for len(b) > 0 {
		part := b[:min(len(b), populateBytes)]
		b = b[len(part):]
		group.Go(func() error {
			for {
				switch err := advise(part); {
				case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
				case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM):
					touch(part)
					return nil
				default:
					return err
				}
			}
		})
	}
	return group.Wait()
}

// touch writes to each page.
func touch(b []byte) {
	for i := 0; i < len(b); i += 4096 {
		b[i] = 0
	}
}

// release unmaps what [allocate] has mapped.
func release(raw []byte) {
	if err := unix.Munmap(raw); err != nil {
		panic("memory: " + err.Error()) // freed twice
	}
}

// drop lets the system have the whole pages of b back; they are not read any
// more.
func drop(b []byte) {
	const page = 4096 // at least; a refusal costs memory only
	if skip := -int(address(b)) & (page - 1); skip < len(b) {
		unix.Madvise(b[skip:], unix.MADV_DONTNEED)
	}
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
