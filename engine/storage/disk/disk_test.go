package disk_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ndd/engine/oracle/faults"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/disk"
)

// TestFile replaces a file while each call fails: the old file or the new one is complete.
func TestFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	calls := faults.Each(t, 1, func(d *disk.Disk) error {
		must.Do(t, os.WriteFile(path, []byte("old"), 0o600))
		f, err := d.Create(path)
		if err != nil {
			return err
		}
		defer f.Abort()
		for range 3 {
			if _, err := io.WriteString(f, "new"); err != nil {
				return err
			}
		}
		return f.Commit()
	}, func(f faults.Fault, whole bool) {
		want := map[bool]string{false: "old", true: "newnewnew"}[whole]
		if got := string(must.Read(t, path)); got != want || faults.FileNames(t, dir) != "f" {
			t.Errorf("%+v: %q, %s", f, got, faults.FileNames(t, dir))
		}
	})
	if calls != 8 { // create, 3 writes, sync, close, rename, sync of the folder
		t.Errorf("%d calls", calls)
	}
}

// fill writes a text to files of a folder, unless it could not be made, and commits it.
func fill(f *disk.Folder, err error, text string, names ...string) error {
	if err != nil {
		return err
	}
	defer f.Abort()
	for _, name := range names {
		if err := f.Write(name, func(w *bufio.Writer) error { _, err := w.WriteString(text); return err }); err != nil {
			return err
		}
	}
	return f.Commit()
}

// TestFolder creates folders with as many files as are synced one by one, with one more, and with other numbers.
func TestFolder(t *testing.T) {
	t.Parallel()
	for _, files := range []int{0, 3, 32, 33} {
		t.Run(fmt.Sprintf("files=%d", files), func(t *testing.T) {
			var names []string
			for i := range files {
				names = append(names, fmt.Sprintf("%d/file%d", i%3, i))
			}
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			faults.Each(t, 1+files/4, func(d *disk.Disk) error {
				must.Do(t, os.RemoveAll(path))
				f, err := d.CreateFolder(path)
				return fill(f, err, "content", names...)
			}, func(f faults.Fault, whole bool) {
				want := map[bool]string{true: "f"}[whole]
				if got := faults.FileNames(t, dir); got != want {
					t.Errorf("%+v: %s", f, got)
				}
			})
			must.Do(t, os.MkdirAll(path, 0o755))
			if _, err := (*disk.Disk)(nil).CreateFolder(path); !errors.Is(err, os.ErrExist) {
				t.Errorf("a second one: %v", err)
			}
		})
	}
}

// TestReplaceFolder replaces a folder while each call fails: the old folder or the new one has the name and is
// complete. Folders with other files are not replaced.
func TestReplaceFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	own := func(name string) bool { return name == "a" || name == filepath.Join("b", "c") }
	write := func(d *disk.Disk, text string) error {
		f, err := d.ReplaceFolder(path, own)
		return fill(f, err, text, "a", "b/c")
	}
	var failed error
	faults.Each(t, 1, func(d *disk.Disk) error {
		entries, err := filepath.Glob(filepath.Join(dir, "*"))
		hidden, err2 := filepath.Glob(filepath.Join(dir, ".*"))
		must.Do(t, errors.Join(err, err2))
		for _, e := range append(entries, hidden...) {
			must.Do(t, os.RemoveAll(e))
		}
		if err := write(nil, "old"); err != nil { // nothing is there: as CreateFolder
			t.Fatal(err)
		}
		failed = write(d, "new")
		return failed
	}, func(f faults.Fault, whole bool) {
		if old, _ := filepath.Glob(filepath.Join(dir, ".*.old")); strings.Contains(failed.Error(),
			"the old folder is at") != (len(old) > 0) {
			t.Errorf("%+v: %v, and there is %s", f, failed, old)
		}
		want := map[bool]string{false: "old", true: "new"}[whole]
		for _, name := range []string{"a", "b/c"} {
			if got := string(must.Read(t, filepath.Join(path, name))); got != want {
				t.Errorf("%+v: %s is %q, want %q", f, name, got, want)
			}
		}
		if got := faults.FileNames(t, dir); !whole && got != "f" {
			t.Errorf("%+v: %s", f, got)
		}
	})
	if err := write(nil, "newest"); err != nil || string(must.Read(t, filepath.Join(path, "a"))) != "newest" {
		t.Error(err)
	}
	must.Do(t, os.WriteFile(filepath.Join(path, "b", "mine"), nil, 0o644))
	if err := write(nil, "never"); err == nil || !strings.Contains(err.Error(), filepath.Join("b", "mine")) ||
		string(must.Read(t, filepath.Join(path, "a"))) != "newest" {
		t.Errorf("a folder with another file: %v", err)
	}
	must.Do(t, os.RemoveAll(path))
	must.Do(t, os.WriteFile(path, nil, 0o644))
	if err := write(nil, "never"); err == nil || !strings.Contains(err.Error(), "is not a folder") {
		t.Errorf("a file: %v", err)
	}
}

// TestTemp writes, empties and reads temporary files. None has a name at the end, even if an open file cannot be
// removed.
func TestTemp(t *testing.T) {
	dir := t.TempDir()
	work := func(d *disk.Disk) (err error) {
		f, err := d.Temp(dir, "test")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		if _, err := f.Write([]byte("gone")); err != nil {
			return err
		}
		if err := f.Rewind(); err != nil {
			return err
		}
		if _, err := f.Write([]byte("there")); err != nil {
			return err
		}
		data, err := io.ReadAll(io.NewSectionReader(f.File(), 0, 99))
		if err != nil || string(data) != "there" {
			t.Errorf("%q, %v", data, err)
		}
		return nil
	}
	calls := faults.Calls(t, work)
	if len(calls) != 6 { // create, remove, write, truncate, write, close
		t.Errorf("%d calls", len(calls))
	}
	for n := range calls {
		f := faults.Fault{Call: calls[n], Number: n}
		err := work(f.Disk())
		if (err == nil) != (f.Call.Call == disk.CallRemove) || faults.FileNames(t, dir) != "" {
			t.Errorf("%+v: %v; %s", f, err, faults.FileNames(t, dir))
		}
	}
}

// TestRefused tries to create files at paths where none can be.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	for path, reason := range map[string]string{
		dir:                                "is a directory",
		os.DevNull:                         "is a device or a pipe",
		filepath.Join(dir, "none", "file"): "no such file or directory",
	} {
		if f, err := (*disk.Disk)(nil).Create(path); err == nil || !strings.Contains(err.Error(), filepath.Dir(path)) ||
			!strings.Contains(err.Error(), reason) {
			t.Errorf("%s: %v, %v", path, f, err)
		}
	}
	if got := faults.FileNames(t, dir); got != "" {
		t.Error(got)
	}
}

// TestInMemory checks that a file in memory exists with its content from Commit until it is removed or taken.
func TestInMemory(t *testing.T) {
	d := disk.InMemory()
	want := make([]byte, 0, 1<<21)
	for _, reserved := range []uint64{0, 1000, 1 << 22} {
		want = want[:0]
		f, err := d.Create("file")
		must.Do(t, err)
		must.Do(t, f.Reserve(reserved))
		for i := range 300 {
			p := bytes.Repeat([]byte{byte(i)}, 7*i)
			if n, err := f.Write(p); n != len(p) || err != nil {
				t.Fatal(n, err)
			}
			want = append(want, p...)
		}
		if _, err := d.Take("file"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("an unfinished file: %v", err)
		}
		must.Do(t, f.Commit())
		f.Abort()
		b, err := d.Take("file")
		if err != nil || !bytes.Equal(b.Data, want) {
			t.Fatalf("%d bytes of %d, %v", len(b.Data), len(want), err)
		}
		b.Free()
	}
	for range 2 {
		f, err := d.Create("file")
		if err == nil {
			err = f.Commit()
		}
		if err != nil || d.Remove("file") != nil {
			t.Fatal(err)
		}
		if err := d.Remove("file"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("removed twice: %v", err)
		}
	}
}
