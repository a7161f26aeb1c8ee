package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/disk"
)

// newFolder makes an empty index and opens it for writing.
func newFolder(t *testing.T) (x *Index, dir string) {
	t.Helper()
	return makeIndex(t, Config{Design: halves(t), IDs: true}, OpenOptions{Write: true})
}

// numberedDoc returns a document with the number in its fingerprint and ID.
func numberedDoc(i uint64) rows.Doc {
	return rows.Doc{Fingerprint: simhash.Fingerprint((i + 1) * 0x9e3779b97f4a7c15), ID: fmt.Sprint(i)}
}

// insertNumbered inserts the documents with numbers from start up to end, one after the other.
func insertNumbered(t *testing.T, x *Index, start, end uint64) {
	t.Helper()
	for i := start; i < end; i++ {
		insert(t, x, numberedDoc(i))
	}
}

// TestMovedFolder renames the folder of an open index and creates another folder with the old name. The index
// continues to use its own folder.
func TestMovedFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a system that renames open folders, as Linux, where every run has it")
	}
	parent := t.TempDir()
	first, dir := newFolder(t)
	moved := filepath.Join(parent, "moved")
	insertNumbered(t, first, 0, 5)
	must.Do(t, os.Rename(dir, moved))
	must.Do(t, Create(dir, Config{Design: halves(t), IDs: true}))
	second := openFolder(t, dir, OpenOptions{Write: true})
	insertNumbered(t, second, 10, 13)
	if err := first.Flush(t.Context()); err != nil { // a segment, a manifest, a new log
		t.Error(err)
	}
	insertNumbered(t, first, 5, 7)
	for _, x := range []*Index{first, second} {
		backup := filepath.Join(parent, fmt.Sprintf("backup of %d", x.Stats().Documents))
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
		if got := x.Stats().Documents; got != want || len(x.Recovery.Removed) > 0 {
			t.Errorf("%s has %d documents, want %d; %s", dir, got, want, x.Recovery)
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

// TestOrphans opens an index with files of unfinished work. Opening for writing removes and reports them, but keeps
// files of others. Reading removes nothing.
func TestOrphans(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	must.Do(t, Create(dir, Config{Design: halves(t)}))
	remaining := []string{"00000007.segment", "00000007.documents", ".00000008.segment.tmp-123", ".manifest.tmp-5"}
	for _, name := range append([]string{"notes.txt"}, remaining...) {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte("left"), 0o666))
	}
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	x := openFolder(t, dir, OpenOptions{})
	x.Close()
	for _, name := range remaining {
		if !there(name) {
			t.Errorf("%s was removed by reading", name)
		}
	}
	x = openFolder(t, dir, scripted(nil))
	for _, name := range remaining {
		if there(name) {
			t.Errorf("%s is still there", name)
		}
	}
	if r := x.Recovery; len(r.Removed) != len(remaining) || !there("notes.txt") {
		t.Errorf("%v, of others' file %t", r, there("notes.txt"))
	}
}

// TestDeletedWhileFlushed deletes a document while it is written to a file, or while that file is merged. It stays
// deleted, even after a restart.
func TestDeletedWhileFlushed(t *testing.T) {
	var during atomic.Pointer[func()]
	d := disk.WithFailures(func(c disk.Call, path string) error {
		if do := during.Load(); do != nil && c == disk.CallCreate && strings.Contains(path, ".segment") {
			during.Store(nil)
			(*do)()
		}
		return nil
	})
	x, dir := makeIndex(t, Config{Design: halves(t), IDs: true, Table: planar}, scripted(d))
	for _, doc := range someDocs(6, 9) {
		insert(t, x, doc)
	}
	delete := func(i int) func() {
		return func() {
			if n, err := x.Delete(context.Background(), someDocs(6, 9)[i].ID); n != 1 || err != nil {
				t.Errorf("%d deleted: %v", n, err)
			}
		}
	}
	for i, act := range []func(context.Context) error{x.Flush,
		func(ctx context.Context) error { return x.Merge(ctx, 1) }} {
		gone := delete(i)
		if i == 1 { // so that there is something to merge
			must.Do(t, x.Flush(t.Context()))
		}
		during.Store(&gone)
		must.Do(t, act(t.Context()))
		if got := contents(t, x); len(got) != 5-i {
			t.Errorf("%d documents, want %d", len(got), 5-i)
		}
	}
	must.Do(t, x.end())
	x = openFolder(t, dir, scripted(nil))
	if got := contents(t, x); len(got) != 4 {
		t.Errorf("%d documents after an end of the process, want 4", len(got))
	}
}

// TestFlushTakesAll checks that a flush writes every memtable, even if several were full: it removes the log of all
// of them.
func TestFlushTakesAll(t *testing.T) {
	x, dir := makeIndex(t, Config{Design: halves(t), IDs: true, Table: planar},
		OpenOptions{Write: true, simulation: simulation{flushDocs: smallDocs}})
	x.upkeep.flushing.Lock() // memtables wait
	docs := someDocs(3*smallDocs+10, 8)
	insert(t, x, docs...)
	_, err := x.upkeep.flushBefore(t.Context(), 0)
	must.Do(t, err)
	x.upkeep.flushing.Unlock()
	if s := x.Stats(); s.Segments != 1 || s.Unflushed != 0 {
		t.Errorf("%+v", s)
	}
	must.Do(t, x.end())
	x = openFolder(t, dir, scripted(nil))
	if got := contents(t, x); len(got) != len(docs) {
		t.Errorf("%d documents are there, want %d", len(got), len(docs))
	}
}
