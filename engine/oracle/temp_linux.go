package oracle

import (
	"os"

	"golang.org/x/sys/unix"
)

// MemoryTemp makes tests create their temporary files in memory, if there is space. Tests create tens of thousands of
// files. For each, ext4 searches for an unused inode number, which takes four fifths of the CPU time in the tests of
// the log. TMPDIR overrides the folder.
func MemoryTemp() {
	const folder, minimum = "/dev/shm", 4 << 30
	var fs unix.Statfs_t
	if os.Getenv("TMPDIR") == "" && unix.Statfs(folder, &fs) == nil && fs.Bavail*uint64(fs.Bsize) >= minimum &&
		unix.Access(folder, unix.W_OK) == nil {
		os.Setenv("TMPDIR", folder)
	}
}
