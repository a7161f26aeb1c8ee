package disk

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// tempMark precedes the number in temporary names of this package, so that Sweep removes only its own files.
const tempMark = "ndd"

var temporaryName = regexp.MustCompile(`^\..+(\.tmp-` + tempMark + `[0-9]+|\` + claimSuffix + `)$`)

// sweepMax is the maximum number of names that Sweep reads.
const sweepMax = 1 << 16

// Sweep removes incomplete files and folders that killed processes left in dir. It returns their paths, without the
// files of [Disk.Reserve]. It skips files that a live process has locked. On systems without locks it skips all.
func Sweep(dir string) (removed []string) {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(sweepMax)
	for _, name := range names {
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err != nil || !temporaryName.MatchString(name) || !info.IsDir() &&
			!info.Mode().IsRegular() {
			continue
		}
		if lock, _ := (place{}).claim(path); lock != nil {
			if os.RemoveAll(path) == nil && !strings.HasSuffix(name, claimSuffix) {
				removed = append(removed, path)
			}
			lock.Close()
		}
	}
	return removed
}
