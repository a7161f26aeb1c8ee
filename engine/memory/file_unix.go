//go:build unix

package memory

import (
	"os"

	"golang.org/x/sys/unix"
)

// CanMapFile reports whether this system supports [MapFile].
const CanMapFile = true

// MapFile maps the first bytes of a file, which must exist. The system can write this memory to the file and reuse
// it. The caller may close the file. A [Buffer] of an [Arena] unmaps the memory.
func MapFile(f *os.File, bytes uint64) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), 0, int(bytes), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

// release unmaps memory of [allocate] or [MapFile].
func release(mapping []byte) {
	if err := unix.Munmap(mapping); err != nil {
		panic("memory: " + err.Error()) // freed twice
	}
}
