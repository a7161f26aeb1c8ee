// Package faults makes every call to a disk fail in turn, and holds the order of calls against
// what outlasts a power cut. It proves for whatever writes through package disk that an I/O error
// is never silent, and that a power cut leaves whole files or none.
package faults

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"ndd/engine/storage/disk"
)

// A Call is a call to a disk, with the path that it is about.
type Call struct {
	disk.Call
	Path string
}

// A Fault makes one call of a run fail.
type Fault struct {
	Call
	Number  int  // of the call, from 0
	Lasting bool // all later ones fail too, but for those that only clean up
}

// Err returns the error of failing calls: that of a full disk when the fault is lasting, else of a
// broken one.
func (f *Fault) Err() error {
	if f.Lasting {
		return syscall.ENOSPC
	}
	return syscall.EIO
}

// Each runs work on a sound disk and checks the order of its calls with [Durable]. Then it runs
// work on disks of which one call fails, alone and with all that follow: the first call of each
// kind, each step-th one after it, and the last call of all. work must return that error; after is
// called to check what it left. whole is true when that must be everything: the fault was in the
// call after the last rename, or the call was repeated. Each returns the number of calls.
func Each(t *testing.T, step int, work func(d *disk.Disk) error, after func(f Fault, whole bool)) int {
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
			again := f.Call.Call == disk.CallRemove && !lasting
			if !errors.Is(err, f.Err()) && !(again && err == nil) {
				t.Errorf("%+v: the error is %v", f, err)
			}
			after(f, again || n == len(calls)-1)
		}
	}
	return len(calls)
}

// Disk returns a disk with the fault.
func (f *Fault) Disk() *disk.Disk {
	var mu sync.Mutex
	n := 0
	return disk.Failing(func(c disk.Call, _ string) error {
		mu.Lock()
		defer mu.Unlock()
		n++
		if n-1 == f.Number || f.Lasting && n > f.Number && c != disk.CallRemove {
			return f.Err()
		}
		return nil
	})
}

// Left returns the names in a folder, to hold against what a fault may leave there.
func Left(t testing.TB, dir string) string {
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
	err := work(disk.Failing(func(c disk.Call, path string) error {
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

// Durable fails the test unless everything is durable before it is published, and published durably
// in the end: a file must be synced before it, or a folder that it is in, is renamed, and so must
// be the names in each folder in which something was created or renamed.
func Durable(t *testing.T, calls []Call) {
	t.Helper()
	loose := map[string]bool{} // files and folders that a power cut would take something from
	gone := map[string]bool{}  // files that have no name any more
	renames := 0
	for _, c := range calls {
		switch c.Call {
		case disk.CallCreate, disk.CallMkdir:
			if !strings.Contains(filepath.Base(c.Path), ".tmp-") { // it keeps this name
				loose[filepath.Dir(c.Path)] = true
			}
		case disk.CallWrite, disk.CallTruncate:
			loose[c.Path] = !gone[c.Path]
		case disk.CallSync: // of a folder: the whole file system
			for path := range loose {
				if path == c.Path || strings.HasPrefix(path, c.Path+"/") {
					delete(loose, path)
				}
			}
		case disk.CallSyncFolder:
			delete(loose, c.Path)
		case disk.CallRemove:
			gone[c.Path] = true
			delete(loose, c.Path)
		case disk.CallRename:
			renames++
			for path, is := range loose {
				if is && (path == c.Path || strings.HasPrefix(path, c.Path+"/")) {
					t.Errorf("%s is renamed before %s is durable", c.Path, path)
				}
			}
			loose[filepath.Dir(c.Path)] = true
		}
	}
	if last := calls[len(calls)-1]; renames == 0 || last.Call != disk.CallSyncFolder {
		t.Errorf("%d renames, and %v at last", renames, last)
	}
	for path, is := range loose {
		if is && !strings.Contains(path, ".tmp-") {
			t.Errorf("%s is not durable at the end", path)
		}
	}
}
