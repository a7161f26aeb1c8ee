//go:build unix && !linux

package memory

import "golang.org/x/sys/unix"

func allocate(size uint64) ([]byte, error) {
	return unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
}

// drop does nothing: this system does not release parts of a mapping.
func drop([]byte) {}
