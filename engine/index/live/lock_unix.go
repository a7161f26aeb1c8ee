//go:build linux || darwin || freebsd

package live

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// lockName is a file that whoever writes to an index holds a lock on: the system takes that back
// when the process ends, however it does. The file stays, with the number of the last process.
const lockName = "lock"

// ErrLocked is wrapped where another process, or this one, writes to the index already.
var ErrLocked = errors.New("the index is open for writing elsewhere")

// lockFolder takes the lock of an index folder.
func lockFolder(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		defer f.Close()
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		holder := make([]byte, 20)
		n, _ := f.ReadAt(holder, 0)
		return nil, fmt.Errorf("%s: %w: by process %s", dir, ErrLocked, strings.TrimSpace(string(holder[:n])))
	}
	f.Truncate(0)
	fmt.Fprintf(f, "%d\n", os.Getpid()) // for people only
	return f, nil
}

func (f *folder) unlock() { f.lock.Close() }

// freeBytes returns how much more may be written to the file system of dir.
func freeBytes(dir string) (uint64, bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return uint64(s.Bavail) * uint64(s.Bsize), true
}
