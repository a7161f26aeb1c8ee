package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncDir makes the names in a folder durable.
func syncDir(d *os.File) error { return d.Sync() }

const canSyncAll = true

// syncAll makes everything durable that was written to the file system of dir.
func syncAll(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return os.NewSyscallError("syncfs", unix.Syncfs(int(f.Fd())))
}
