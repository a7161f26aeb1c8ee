//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncDir makes the names in a folder durable.
func syncDir(d *os.File) error { return d.Sync() }

const canSyncAll = false

func syncAll(string) error { return nil }

// flock locks a file for this process, or returns ErrLocked.
func flock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK {
		return ErrLocked
	}
	return os.NewSyscallError("flock", err)
}
