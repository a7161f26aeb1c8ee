package memory

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// allocate maps size bytes, with huge pages if available. Pages take memory when they are written.
func allocate(size uint64) ([]byte, error) {
	mapping, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err == nil && size >= hugeBytes {
		unix.Madvise(mapping, unix.MADV_HUGEPAGE) // without huge pages it is only slower
	}
	return mapping, err
}

// drop releases the whole pages of b, which are not read again.
func drop(b []byte) {
	const page = 4096 // minimum page size; a refusal only wastes memory
	if skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (page - 1); skip < len(b) {
		unix.Madvise(b[skip:], unix.MADV_DONTNEED)
	}
}
