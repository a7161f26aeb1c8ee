//go:build unix

package store

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"ndd/engine/memory"
)

// mapFile maps the first n bytes of f, to be read only.
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

// madviseHuge and madviseNotHuge are MADV_HUGEPAGE and MADV_NOHUGEPAGE, which package unix has for
// Linux only.
const (
	madviseHuge    = 14
	madviseNotHuge = 15
)

// adviseHuge asks Linux to read a mapped file in huge pages, when all of it may stay in memory: it
// reads 2 MiB at a time then. A refusal costs speed only.
func adviseHuge(b []byte) {
	if runtime.GOOS == "linux" && uint64(len(b)) >= batchBytes && (memory.Machine{}).Limit(0).Bytes >= uint64(len(b)) {
		unix.Madvise(b, madviseHuge)
	}
}

// adviseScattered asks the system to read single pages of a mapped file, or to read ahead again.
func adviseScattered(b []byte, scattered bool) {
	advice := unix.MADV_NORMAL
	if scattered {
		advice = unix.MADV_RANDOM
		if runtime.GOOS == "linux" {
			unix.Madvise(b, madviseNotHuge)
		}
	}
	unix.Madvise(b, advice)
}

// DontNeed takes the pages of a mapped file, from its first byte on, out of the process's memory. The next read of
// one brings it back from the system's cache of files, or from the disk.
func DontNeed(mapped []byte) {
	if len(mapped) > 0 {
		unix.Madvise(mapped, unix.MADV_DONTNEED) // a refusal costs memory only
	}
}

// adviseSoon asks the system to begin to read a part of a mapped file, which begins with a page.
func adviseSoon(b []byte) { unix.Madvise(b, unix.MADV_WILLNEED) }
