//go:build unix

package store

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"example.org/ndd/engine/memory"
)

// mapFile maps the first n bytes of f read-only.
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

// madviseHuge and madviseNotHuge are MADV_HUGEPAGE and MADV_NOHUGEPAGE. Package unix defines them only for Linux.
const (
	madviseHuge    = 14
	madviseNotHuge = 15
)

// adviseHuge asks Linux to read a mapped file in huge pages of 2 MiB, if memory has space for the whole file. A
// refusal only costs speed.
func adviseHuge(b []byte) {
	if runtime.GOOS == "linux" && uint64(len(b)) >= batchBytes && (memory.Machine{}).Limit(0).Bytes >= uint64(len(b)) {
		unix.Madvise(b, madviseHuge)
	}
}

// adviseRandom asks the system to read single pages of a mapped file, or to read ahead again.
func adviseRandom(b []byte, random bool) {
	advice := unix.MADV_NORMAL
	if random {
		advice = unix.MADV_RANDOM
		if runtime.GOOS == "linux" {
			unix.Madvise(b, madviseNotHuge)
		}
	}
	unix.Madvise(b, advice)
}

// DontNeed removes the pages of a mapped file from the memory of the process. The slice begins at the start of the
// file. The next read gets a page back from the file cache of the system, or from the disk.
func DontNeed(mapped []byte) {
	if len(mapped) > 0 {
		unix.Madvise(mapped, unix.MADV_DONTNEED) // a refusal only wastes memory
	}
}

// adviseWillNeed asks the system to start reading a part of a mapped file. The part begins on a page.
func adviseWillNeed(b []byte) { unix.Madvise(b, unix.MADV_WILLNEED) }
