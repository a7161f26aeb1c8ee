package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrLocked is wrapped by the error of [LockFolder] when another process, or this one, holds the
// lock.
var ErrLocked = errors.New("open for writing elsewhere")

// LockName is the name of the file in a locked folder that has the number of the process that
// locked it last. It is locked, too, for file systems whose folders cannot be locked.
const LockName = "lock"

var errNoLocks = errors.New("this system or file system has no such locks")

// A Lock is the exclusive right to write to a folder. It ends with the process, however that ends.
type Lock struct {
	dir  string
	root *os.Root
	held []*os.File // the folder, and the file in it

	locked bool // both of them
}

// LockFolder locks the folder dir. The lock is on the folder itself: it stays on it when it is
// renamed, and when the file called [LockName] is removed. Where the system has no locks LockFolder
// succeeds.
func LockFolder(dir string) (_ *Lock, err error) {
	l := &Lock{dir: filepath.Clean(dir)}
	defer func() {
		if err != nil {
			l.Close()
		}
	}()
	if l.root, err = os.OpenRoot(l.dir); err != nil {
		return nil, err
	}
	in, locked := l.Disk(nil), false
	for i, name := range []string{".", LockName} {
		f, err := in.openFile(filepath.Join(l.dir, name), []int{os.O_RDONLY, os.O_RDWR | os.O_CREATE}[i], 0o666)
		if locked && Unwritable(err) {
			return l, nil // the lock on the folder is enough
		}
		if err != nil {
			return nil, err
		}
		l.held = append(l.held, f)
		err = tryLock(f)
		if errors.Is(err, ErrLocked) {
			return nil, fmt.Errorf("%s: %w: by %s", dir, ErrLocked, l.holder())
		}
		if err != nil && !errors.Is(err, errNoLocks) {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		locked = err == nil
	}
	if locksBelow != nil && locksBelow(l.held[0], l.number()) {
		return nil, fmt.Errorf("%s: %w: by %s, in the folder below this overlay", dir, ErrLocked, l.holder())
	}
	l.root.WriteFile(LockName, fmt.Appendf(nil, "%d\n", os.Getpid()), 0o666) // for people, and locksBelow
	l.locked = true
	return l, nil
}

// locksBelow reports whether the process of that number has locks, if the folder is an overlay: a lock
// on the folder below is not seen there. It is nil on systems without overlays.
var locksBelow func(folder *os.File, process string) bool

// number returns the number of the process that locked the folder last, "" if it is not known.
func (l *Lock) number() string {
	text, _ := l.Disk(nil).ReadFile(filepath.Join(l.dir, LockName))
	return strings.TrimSpace(string(text))
}

// holder returns words for the process that has the lock.
func (l *Lock) holder() string {
	if number := l.number(); number != "" {
		return "process " + number
	}
	return "another process, whose number is in no file"
}

// Disk returns d with the files of the locked folder opened, made, renamed and removed in the
// folder itself, whatever its path leads to meanwhile. They are still called by that path.
func (l *Lock) Disk(d *Disk) *Disk {
	locked := Disk{dir: l.dir, root: l.root}
	if d != nil {
		locked.hook = d.hook
	}
	return &locked
}

// Close gives the lock back. The disk that [Lock.Disk] returned must not be used afterwards.
func (l *Lock) Close() error {
	var err error
	if l.locked {
		l.held[1].Truncate(0) // its number is not this process's any more
	}
	for _, f := range l.held {
		err = errors.Join(err, f.Close())
	}
	if l.root != nil {
		err = errors.Join(err, l.root.Close())
	}
	return err
}
