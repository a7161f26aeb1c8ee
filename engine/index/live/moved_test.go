package live

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live/rows"
	"ndd/engine/oracle/must"
	"ndd/engine/storage/disk"
)

// newFolder makes an empty index and opens it for writing.
func newFolder(t *testing.T) (x *Index, dir string) {
	t.Helper()
	return makeIndex(t, Config{Design: halves(t), IDs: true}, OpenOptions{Write: true})
}

// insertNumbered inserts documents from up to to, with their numbers as fingerprints and IDs.
func insertNumbered(t *testing.T, x *Index, from, to uint64) {
	t.Helper()
	for i := from; i < to; i++ {
		insert(t, x, rows.Doc{Fingerprint: simhash.Fingerprint(i * 0x9e3779b97f4a7c15), ID: fmt.Sprint(i)})
	}
}

// TestMovedFolder renames the folder of an open index and makes another one of its old name: all
// that the first index does from then on happens in its own folder.
func TestMovedFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a system that renames open folders, as Linux, where every run has it")
	}
	at := t.TempDir()
	first, dir := newFolder(t)
	moved := filepath.Join(at, "moved")
	insertNumbered(t, first, 0, 5)
	must.Do(t, os.Rename(dir, moved))
	create(t, dir, Config{Design: halves(t), IDs: true})
	second := openFolder(t, dir, OpenOptions{Write: true})
	insertNumbered(t, second, 10, 13)
	if err := first.Flush(t.Context()); err != nil { // a segment, a manifest, a new log
		t.Error(err)
	}
	insertNumbered(t, first, 5, 7)
	for _, x := range []*Index{first, second} {
		backup := filepath.Join(at, fmt.Sprintf("backup of %d", x.Stats().Documents))
		want := x.Stats().Documents
		if _, err := x.Backup(t.Context(), backup); err != nil {
			t.Error(err)
		} else if got := openFolder(t, backup, OpenOptions{}).Stats().Documents; got != want {
			t.Errorf("%s has %d documents", backup, got)
		}
	}
	insertNumbered(t, second, 13, 14)
	if err := errors.Join(second.end(), first.Close()); err != nil { // the second one without a flush, as a kill would
		t.Error(err)
	}
	for dir, want := range map[string]uint64{moved: 7, dir: 4} {
		x := openFolder(t, dir, OpenOptions{Write: true})
		if got := x.Stats().Documents; got != want || len(x.Recovery().Removed) > 0 {
			t.Errorf("%s has %d documents, want %d; %s", dir, got, want, x.Recovery())
		}
		must.Do(t, x.Check(t.Context()))
	}
}

// TestLockRemoved removes the lock file of an open index: it stays locked.
func TestLockRemoved(t *testing.T) {
	x, dir := newFolder(t)
	if err := os.Remove(filepath.Join(dir, disk.LockName)); err != nil {
		if runtime.GOOS != "windows" {
			t.Fatal(err)
		}
		t.Skip("needs a system that removes open files, as Linux, where every run has it: ", err)
	}
	if _, err := Open(t.Context(), dir, OpenOptions{Write: true}); !errors.Is(err, disk.ErrLocked) {
		t.Errorf("opened a second time: %v", err)
	}
	must.Do(t, x.Close())
	openFolder(t, dir, OpenOptions{Write: true})
}
