package disk

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// LockName is the name of the file that [LockFolder] locks.
const LockName = "LOCK"

// ErrLocked is wrapped by the error of [LockFolder] when another process has the lock.
var ErrLocked = errors.New("in use by another process")

// A Lock is held until it is closed, or the process ends, however it does.
type Lock struct{ file *os.File }

// LockFolder locks the folder at path for this process, by a lock of the system on a file in it, which
// has the number of the process for others to read. It returns at once, with an error that wraps
// [ErrLocked] and names that process, when the lock is taken. Two locks of one process exclude each
// other as well. A system without such locks locks nothing.
func LockFolder(path string) (*Lock, error) {
	f, err := os.OpenFile(filepath.Join(path, LockName), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := flock(f); err != nil {
		defer f.Close()
		if errors.Is(err, ErrLocked) {
			return nil, fmt.Errorf("%s: %w%s: stop that first, or choose another folder", path, ErrLocked, owner(f))
		}
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil && !errors.Is(err, syscall.ENOSPC) { // the number is for people: a full disk keeps no index from being opened
		f.Close()
		return nil, err
	}
	return &Lock{f}, nil
}

// owner returns the process that a lock file names, as part of a sentence.
func owner(f *os.File) string {
	text, err := io.ReadAll(io.LimitReader(f, 32))
	pid, e := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || e != nil {
		return ""
	}
	return fmt.Sprintf(", process %d", pid)
}

// Close releases the lock. The file stays: removing it could take the lock from another process.
func (l *Lock) Close() error { return l.file.Close() }
