package main

import "golang.org/x/sys/unix"

// mapHuge maps n bytes and asks for huge pages.
func mapHuge(n int) ([]byte, error) {
	mem, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	return mem, unix.Madvise(mem, unix.MADV_HUGEPAGE)
}
