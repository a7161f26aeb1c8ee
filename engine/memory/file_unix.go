//go:build unix

package memory

import (
	"os"

	"golang.org/x/sys/unix"
)

// CanMapFile says whether [MapFile] works here.
const CanMapFile = true

// MapFile maps the first bytes of a file, which must be there, as memory that the system can write to
// the file and take back. The file may be closed then. A [Buffer] of an [Arena] unmaps it.
func MapFile(f *os.File, bytes uint64) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), 0, int(bytes), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

// release unmaps what [allocate] or [MapFile] has mapped.
func release(raw []byte) {
	if err := unix.Munmap(raw); err != nil {
		panic("memory: " + err.Error()) // freed twice
	}
}
