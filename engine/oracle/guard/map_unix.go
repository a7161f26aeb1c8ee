//go:build unix

package guard

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mapGuarded maps size bytes, rounded up to whole pages, between two pages
// without access.
func mapGuarded(size int) (mem []byte, free func() error, err error) {
	page := os.Getpagesize()
	body := max(1, (size+page-1)/page) * page
	mapping, err := unix.Mmap(-1, 0, body+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, nil, fmt.Errorf("map %d bytes: %w", body+2*page, err)
	}
	for _, fence := range [][]byte{mapping[:page], mapping[page+body:]} {
		if err := unix.Mprotect(fence, unix.PROT_NONE); err != nil {
			return nil, nil, fmt.Errorf("fence off a page: %w", err)
		}
	}
	return mapping[page : page+body : page+body], func() error { return unix.Munmap(mapping) }, nil
}

func protect(mem []byte, readOnly bool) error {
	prot := unix.PROT_READ | unix.PROT_WRITE
	if readOnly {
		prot = unix.PROT_READ
	}
	return unix.Mprotect(mem, prot)
}
