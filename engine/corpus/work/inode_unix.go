//go:build linux || darwin || freebsd

package work

import "golang.org/x/sys/unix"

// inodeOf returns the inode of a file and the time of its last change, which users cannot set.
func inodeOf(path string) (inode uint64, changed int64) {
	var s unix.Stat_t
	if unix.Stat(path, &s) != nil {
		return 0, 0
	}
	return uint64(s.Ino), s.Ctim.Nano()
}
