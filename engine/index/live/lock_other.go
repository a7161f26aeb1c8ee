//go:build !linux && !darwin && !freebsd

package live

import (
	"errors"
	"os"
	"path/filepath"
)

const lockName = "lock"

// ErrLocked is wrapped where another process, or this one, writes to the index already.
var ErrLocked = errors.New("the index is open for writing elsewhere")

// lockFolder opens the lock file; this system has no locks that end with the process.
func lockFolder(dir string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o644)
}

func (f *folder) unlock() { f.lock.Close() }

func freeBytes(string) (uint64, bool) { return 0, false }
