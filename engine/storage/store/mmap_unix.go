//go:build unix

package store

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps n bytes of f read-only.
func mapFile(f *os.File, n int64) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	if int64(int(n)) != n {
		return nil, fmt.Errorf("%s: %d bytes do not fit this machine's address space", f.Name(), n)
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(n), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("%s: mmap: %w", f.Name(), err)
	}
	adviseHuge(b)
	return b, nil
}

func unmap(b []byte) error {
	if b == nil {
		return nil
	}
	return unix.Munmap(b)
}
