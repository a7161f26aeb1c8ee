package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// claimed ends the names of files that [Disk.Reserve] locks.
const claimed = ".claim-" + made

// Reserve takes the right to write what gets the name path, so that a second process fails before its
// work. It makes the folders above path. The right ends with release, which removes these folders if they
// are empty, or with the process. The error is [ErrLocked] if another process has the right; where the
// system has no locks, nobody is refused.
func (d *Disk) Reserve(path string) (release func(), err error) {
	path = filepath.Clean(path)
	var folders []string // that are not there, the deepest first
	for at := filepath.Dir(path); at != filepath.Dir(at); at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		folders = append(folders, at)
	}
	if err := d.MakeParents(path); err != nil {
		return nil, err
	}
	name := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+claimed)
	for {
		f, err := d.openFile(name, os.O_CREATE|os.O_RDONLY, 0o644)
		if err != nil {
			return nil, err
		}
		f.Close()
		if lock, ok := d.claim(name); ok {
			return func() {
				os.Remove(name)
				lock.Close()
				for _, folder := range folders {
					os.Remove(folder) // an error says that something is in it
				}
			}, nil
		}
		if _, err := d.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			return nil, ErrLocked // it was not swept meanwhile
		}
	}
}
