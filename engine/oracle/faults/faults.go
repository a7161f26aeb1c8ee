// Package faults makes every call to a disk fail in turn, and checks the order of syncs and renames. It tests that code
// on package disk never ignores an I/O error, and that a power cut leaves complete files or none.
package faults

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"example.org/ndd/engine/storage/disk"
)

// A Call is a call to a disk, with the path that it is about.
type Call struct {
	disk.Call
	Path string
}

// A Fault makes one call of a run fail.
type Fault struct {
	Call
	Number  int  // number of the call, from 0
	Lasting bool // all later calls fail, too, except calls that only clean up
}

// Err returns the error of failing calls. A lasting fault is a full disk, another one a broken disk.
func (f *Fault) Err() error {
	if f.Lasting {
		return syscall.ENOSPC
	}
	return syscall.EIO
}

// Each runs work on a sound disk and checks the order of its calls with [Durable]. Then it runs work on disks on
// which one call fails, alone or with all later calls. These are the first call of each kind, each step-th one after
// it, and the last call. work must return the error. check checks the files that work left. complete is true if the
// output must be complete: the fault was after the last rename, or the call was repeated. Each returns the number of
// calls.
func Each(t *testing.T, step int, work func(d *disk.Disk) error, check func(f Fault, complete bool)) int {
	t.Helper()
	calls := Calls(t, work)
	Durable(t, calls)
	seen := map[disk.Call]int{}
	for n, call := range calls {
		seen[call.Call]++
		if t.Failed() || (seen[call.Call]-1)%step > 0 && n < len(calls)-1 {
			continue
		}
		for _, lasting := range []bool{false, true} {
			f := Fault{Call: call, Number: n, Lasting: lasting}
			err := work(f.Disk())
			repeated := f.Call.Call == disk.CallRemove && !lasting
			if !errors.Is(err, f.Err()) && !(repeated && err == nil) {
				t.Errorf("%+v: the error is %v", f, err)
			}
			check(f, repeated || n == len(calls)-1)
		}
	}
	return len(calls)
}

// Disk returns a disk with the fault.
func (f *Fault) Disk() *disk.Disk {
	var mu sync.Mutex
	n := 0
	return disk.WithFailures(func(c disk.Call, _ string) error {
		mu.Lock()
		defer mu.Unlock()
		n++
		if n-1 == f.Number || f.Lasting && n > f.Number && c != disk.CallRemove {
			return f.Err()
		}
		return nil
	})
}

// FileNames returns the names in a folder, to compare them with the names that a fault may leave.
func FileNames(t testing.TB, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// Calls runs work on a sound disk and returns its calls.
func Calls(t *testing.T, work func(d *disk.Disk) error) (calls []Call) {
	t.Helper()
	var mu sync.Mutex
	err := work(disk.WithFailures(func(c disk.Call, path string) error {
		mu.Lock()
		defer mu.Unlock()
		calls = append(calls, Call{c, path})
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	return calls
}

// Durable fails the test unless files are durable before they are published, and published durably. A file must be
// synced before the file, or a folder that contains it, is renamed. Each folder in which a file was created or renamed
// must be synced, too.
func Durable(t *testing.T, calls []Call) {
	t.Helper()
	unsynced := map[string]bool{} // files and folders with changes that a power cut would lose
	removed := map[string]bool{}  // removed files
	renames := 0
	// Follow the calls, and check each rename.
	for _, c := range calls {
		switch c.Call {
		case disk.CallCreate, disk.CallMkdir:
			if !strings.Contains(filepath.Base(c.Path), ".tmp-") { // only temporary names change later
				unsynced[filepath.Dir(c.Path)] = true
			}
		case disk.CallWrite, disk.CallTruncate:
			unsynced[c.Path] = !removed[c.Path]
		case disk.CallSync: // a sync of a folder covers its whole file system
			for path := range unsynced {
				if path == c.Path || strings.HasPrefix(path, c.Path+"/") {
					delete(unsynced, path)
				}
			}
		case disk.CallSyncFolder:
			delete(unsynced, c.Path)
		case disk.CallRemove:
			removed[c.Path] = true
			delete(unsynced, c.Path)
		case disk.CallRename:
			renames++
			for path, changed := range unsynced {
				if changed && (path == c.Path || strings.HasPrefix(path, c.Path+"/")) {
					t.Errorf("%s is renamed before %s is durable", c.Path, path)
				}
			}
			unsynced[filepath.Dir(c.Path)] = true
		}
	}
	// Check that everything is durable at the end.
	if last := calls[len(calls)-1]; renames == 0 || last.Call != disk.CallSyncFolder {
		t.Errorf("%d renames, and %v at last", renames, last)
	}
	for path, changed := range unsynced {
		if changed && !strings.Contains(path, ".tmp-") {
			t.Errorf("%s is not durable at the end", path)
		}
	}
}
