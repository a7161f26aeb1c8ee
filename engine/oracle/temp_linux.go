package oracle

import (
	"os"

	"golang.org/x/sys/unix"
)

// MemoryTemp has tests make their temporary files in memory, if there is room. Tests make and remove files by the ten
// thousand, and each new file makes ext4 search for a number that was not in use lately: in the tests of the log that is
// four fifths of the processor time. TMPDIR names another folder.
func MemoryTemp() {
	const folder, least = "/dev/shm", 4 << 30
	var fs unix.Statfs_t
	if os.Getenv("TMPDIR") == "" && unix.Statfs(folder, &fs) == nil && fs.Bavail*uint64(fs.Bsize) >= least &&
		unix.Access(folder, unix.W_OK) == nil {
		os.Setenv("TMPDIR", folder)
	}
}
