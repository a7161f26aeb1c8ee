package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// made precedes the number in the temporary names of this package, so that Sweep removes no others.
const made = "ndd"

var unfinished = regexp.MustCompile(`^\..+(\.tmp-` + made + `[0-9]+|\` + claimed + `)$`)

// sweepMax limits the names that Sweep reads.
const sweepMax = 1 << 16

// Sweep removes the unfinished files and folders in the folder dir that killed processes left, and
// returns their paths, without those of [Disk.Reserve]. It skips those that a live process has locked and, on systems without locks,
// all.
func Sweep(dir string) (removed []string) {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(sweepMax)
	for _, name := range names {
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err != nil || !unfinished.MatchString(name) || !info.IsDir() &&
			!info.Mode().IsRegular() {
			continue
		}
		if lock, _ := (*Disk)(nil).claim(path); lock != nil {
			if os.RemoveAll(path) == nil && !strings.HasSuffix(name, claimed) {
				removed = append(removed, path)
			}
			lock.Close()
		}
	}
	return removed
}

// claim locks an unfinished file or folder, so that Sweep skips it until the lock is closed. lock
// is nil on systems without locks; ok is false if another process has locked or removed it.
func (d *Disk) claim(path string) (lock *os.File, ok bool) {
	f, err := d.Open(path)
	if err != nil {
		return nil, !errors.Is(err, fs.ErrNotExist)
	}
	if err = tryLock(f); err == nil {
		held, e := f.Stat()
		now, e2 := d.Stat(path)
		if e == nil && e2 == nil && os.SameFile(held, now) {
			return f, true
		}
		err = ErrLocked
	}
	f.Close()
	return nil, !errors.Is(err, ErrLocked)
}
