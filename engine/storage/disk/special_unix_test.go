//go:build unix

package disk_test

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/disk"
)

// TestUmask creates files and folders of every kind: each has the permissions that the umask leaves.
func TestUmask(t *testing.T) {
	defer unix.Umask(unix.Umask(0o077))
	var d *disk.Disk
	dir := filepath.Join(t.TempDir(), "parent")
	f, err := d.CreateFolder(filepath.Join(dir, "folder"))
	must.Do(t, err)
	must.Do(t, f.Write("sub/file", func(*bufio.Writer) error { return nil }))
	must.Do(t, f.Commit())
	file, err := d.Create(filepath.Join(dir, "file"))
	must.Do(t, err)
	must.Do(t, file.Commit())
	log, err := d.CreateAppend(filepath.Join(dir, "log"))
	must.Do(t, err)
	must.Do(t, log.Close())
	lock, err := disk.LockFolder(filepath.Join(dir, "folder"))
	must.Do(t, err)
	defer lock.Close()
	entries := 0
	must.Do(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		must.Do(t, err)
		entries++
		info, err := e.Info()
		must.Do(t, err)
		if want := map[bool]fs.FileMode{true: 0o700, false: 0o600}[e.IsDir()]; info.Mode().Perm() != want {
			t.Errorf("%s: %v, want %v", path, info.Mode().Perm(), want)
		}
		return nil
	}))
	if entries != 7 {
		t.Errorf("%d files and folders", entries)
	}
}

// TestPipe opens a pipe instead of a file in every way: each returns an error at once that names the pipe.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	lock, err := disk.LockFolder(dir)
	must.Do(t, err)
	locked := lock.Disk(nil)
	for _, name := range []string{"pipe", disk.LockName} {
		path := filepath.Join(dir, name)
		must.Do(t, os.RemoveAll(path))
		must.Do(t, unix.Mkfifo(path, 0o600))
	}
	path := filepath.Join(dir, "pipe")
	for name, d := range map[string]*disk.Disk{"system": nil, "locked": locked} {
		for call, err := range map[string]error{
			"open":   second(d.Open(path)),
			"read":   second(d.ReadFile(path)),
			"append": second(d.OpenAppend(path, 0)),
			"link":   d.Link(path, filepath.Join(dir, "other")),
		} {
			if e, ok := errors.AsType[*fs.PathError](err); !errors.Is(err, disk.ErrSpecial) || !ok || e.Path != path {
				t.Errorf("%s, %s: %v", name, call, err)
			}
		}
	}
	must.Do(t, lock.Close())
	if _, err := disk.LockFolder(dir); !errors.Is(err, disk.ErrSpecial) {
		t.Errorf("lock: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestLockWithoutNumber checks the message about a locked folder whose lock file was removed.
func TestLockWithoutNumber(t *testing.T) {
	dir := t.TempDir()
	lock, err := disk.LockFolder(dir)
	must.Do(t, err)
	defer lock.Close()
	must.Do(t, os.Remove(filepath.Join(dir, disk.LockName)))
	want := dir + ": open for writing elsewhere: by another process with an unknown number"
	if _, err := disk.LockFolder(dir); !errors.Is(err, disk.ErrLocked) || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
