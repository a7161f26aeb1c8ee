package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// claimSuffix is the suffix of the files that [Disk.Reserve] locks.
const claimSuffix = ".claim-" + tempMark

// Reserve takes the exclusive right to write path, so that a second process fails before it starts to work. It
// creates the missing parents of path. The right ends with release, which removes these folders if they are empty, or
// with the process. The error is [ErrLocked] if another process has the right. On systems without locks, every
// process gets it.
func (d *Disk) Reserve(path string) (release func(), err error) {
	path = filepath.Clean(path)
	// Create the missing parents.
	var folders []string // missing parents, the deepest one first
	for folder := filepath.Dir(path); folder != filepath.Dir(folder); folder = filepath.Dir(folder) {
		if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		folders = append(folders, folder)
	}
	if err := d.MakeParents(path); err != nil {
		return nil, err
	}
	// Create and lock a file for the claim.
	name := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+claimSuffix)
	for {
		f, err := placeOf(d).open(name, os.O_CREATE|os.O_RDONLY, 0o644)
		if err != nil {
			return nil, err
		}
		f.Close()
		if lock, ok := placeOf(d).claim(name); ok {
			return func() {
				os.Remove(name)
				lock.Close()
				for _, folder := range folders {
					os.Remove(folder) // fails if the folder is not empty
				}
			}, nil
		}
		if _, err := d.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			return nil, ErrLocked // the file still exists, so Sweep has not removed it
		}
	}
}
