package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrLocked is wrapped by the error of [LockFolder] if another process, or this one, holds the lock.
var ErrLocked = errors.New("open for writing elsewhere")

// LockName is the name of a file in a locked folder. It contains the number of the process that locked the folder
// last. The file is locked, too, for file systems whose folders cannot be locked.
const LockName = "lock"

var errNoLocks = errors.New("file locks are not supported")

// A Lock is the exclusive right to write to a folder. It ends with the process, even if that is killed.
type Lock struct {
	place  place
	files  []*os.File // the folder and its lock file
	locked bool       // both are locked
}

// LockFolder locks the folder dir. The lock is on the folder itself: it survives renaming the folder, and removing
// the file [LockName]. On systems without locks LockFolder succeeds.
func LockFolder(dir string) (_ *Lock, err error) {
	l := &Lock{place: place{dir: filepath.Clean(dir)}}
	defer func() {
		if err != nil {
			l.Close()
		}
	}()
	// Open the folder once, so that its path may change later.
	if l.place.root, err = os.OpenRoot(l.place.dir); err != nil {
		return nil, err
	}
	// Lock the folder itself, and its lock file.
	locked := false
	for i, name := range []string{".", LockName} {
		f, err := l.place.open(filepath.Join(dir, name), []int{os.O_RDONLY, os.O_RDWR | os.O_CREATE}[i], 0o666)
		if locked && IsUnwritable(err) {
			return l, nil // the lock on the folder is enough
		}
		if err != nil {
			return nil, err
		}
		l.files = append(l.files, f)
		err = tryLock(f)
		if errors.Is(err, ErrLocked) {
			return nil, fmt.Errorf("%s: %w: by %s", dir, ErrLocked, l.holder())
		}
		if err != nil && !errors.Is(err, errNoLocks) {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		locked = err == nil
	}
	// Ask for locks on the folder below an overlay, and note this process.
	if locksBelow != nil && locksBelow(l.files[0], l.number()) {
		return nil, fmt.Errorf("%s: %w: by %s, in the folder below this overlay", dir, ErrLocked, l.holder())
	}
	l.place.root.WriteFile(LockName, fmt.Appendf(nil, "%d\n", os.Getpid()), 0o666) // for people, and for locksBelow
	l.locked = true
	return l, nil
}

// locksBelow reports whether the folder is an overlay and the given process holds locks. A lock on the folder below
// an overlay is not visible in the overlay. It is nil on systems without overlays.
var locksBelow func(folder *os.File, process string) bool

// number returns the number of the process that locked the folder last, or "" if it is unknown.
func (l *Lock) number() string {
	text, _ := l.Disk(nil).ReadFile(filepath.Join(l.place.dir, LockName))
	return strings.TrimSpace(string(text))
}

// holder describes the process that has the lock.
func (l *Lock) holder() string {
	if number := l.number(); number != "" {
		return "process " + number
	}
	return "another process with an unknown number"
}

// Disk returns d with the locked folder opened once: its files are created, renamed and removed there, even if the
// path leads elsewhere later. Files keep their names with that path.
func (l *Lock) Disk(d *Disk) *Disk {
	locked := Disk{place: l.place}
	if d != nil {
		locked.hook = d.hook
	}
	return &locked
}

// Close releases the lock. The disk of [Lock.Disk] must not be used afterwards.
func (l *Lock) Close() error {
	var err error
	if l.locked {
		l.files[1].Truncate(0) // the number of this process is no longer valid
	}
	for _, f := range l.files {
		err = errors.Join(err, f.Close())
	}
	if root := l.place.root; root != nil {
		err = errors.Join(err, root.Close())
	}
	return err
}
