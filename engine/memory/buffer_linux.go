package memory

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// allocate maps size bytes, in huge pages where the kernel has some. The memory is there when it is written to.
func allocate(size uint64) ([]byte, error) {
	raw, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err == nil && size >= hugeBytes {
		unix.Madvise(raw, unix.MADV_HUGEPAGE) // a refusal costs speed only
	}
	return raw, err
}

// drop lets the system have the whole pages of b back; they are not read any more.
func drop(b []byte) {
	const page = 4096 // at least; a refusal costs memory only
	if skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (page - 1); skip < len(b) {
		unix.Madvise(b[skip:], unix.MADV_DONTNEED)
	}
}
