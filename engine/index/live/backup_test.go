package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/oracle/crash"
	"example.org/ndd/engine/oracle/faults"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
	"example.org/ndd/engine/storage/wal"
)

// backupSource makes an index that has two segments, deletions and a log.
func backupSource(t *testing.T, dir string) *Index {
	t.Helper()
	must.Do(t, Create(dir, Config{Design: halves(t), IDs: true, Table: planar}))
	x := openFolder(t, dir, OpenOptions{Write: true})
	for i := range uint64(3) {
		insertNumbered(t, x, 100*i, 100*i+20)
		if n, err := x.Delete(t.Context(), fmt.Sprint(100*i), "1"); err != nil || n == 0 {
			t.Fatal(n, err)
		}
		if i < 2 {
			must.Do(t, x.Flush(t.Context()))
		}
	}
	return x
}

// waysToBackup are: by another process while this one has the index open, and by this process.
var waysToBackup = []struct {
	name   string
	backup func(x *Index, d *disk.Disk, dir, target string) error
}{
	{"beside", func(_ *Index, d *disk.Disk, dir, target string) error {
		_, err := Backup(context.Background(), d, dir, target)
		return err
	}},
	{"within", func(x *Index, d *disk.Disk, dir, target string) error {
		_, err := backup(context.Background(), d, dir, target, x)
		return err
	}},
}

// backedUp returns which of the documents an index in a folder has, after it was checked in full.
func backedUp(t *testing.T, dir string, segments int) (ids []int) {
	t.Helper()
	x := openFolder(t, dir, OpenOptions{Write: true, Disk: crash.Unsynced})
	defer x.end()
	must.Do(t, x.Check(t.Context()))
	for i := range segments {
		_, ok, err := x.Find(fmt.Sprint(i))
		must.Do(t, err)
		if ok {
			ids = append(ids, i)
		}
	}
	return ids
}

// TestBackupWhileWritten makes backups while the index is written to, flushed and merged. Each backup is a sound
// index with everything that was acknowledged before it began, even after the index is removed.
func TestBackupWhileWritten(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir := filepath.Join(base, "index")
	x := backupSource(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var acknowledged atomic.Int64
	const first = 1000
	acknowledged.Store(first)
	all.Go(func() {
		for i := first; ctx.Err() == nil; i++ {
			if _, err := x.Insert(t.Context(), []rows.Doc{numberedDoc(uint64(i))}); err != nil {
				t.Error(err)
			}
			acknowledged.Store(int64(i + 1))
		}
	})
	all.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if err := x.Flush(ctx); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			if i%3 == 2 {
				if err := x.Merge(ctx, 1); err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			}
		}
	})
	rounds := long.Or(5, 20)
	minimum := make([]int, rounds)
	for i := range rounds {
		minimum[i] = int(acknowledged.Load())
		must.Do(t, waysToBackup[i%2].backup(x, nil, dir, filepath.Join(base, fmt.Sprint("backup", i))))
	}
	cancel()
	all.Wait()
	must.Do(t, x.Close())
	must.Do(t, os.RemoveAll(dir))
	for i := range rounds {
		ids := backedUp(t, filepath.Join(base, fmt.Sprint("backup", i)), int(acknowledged.Load()))
		pos, found := slices.BinarySearch(ids, first)
		if !found && minimum[i] > first {
			t.Fatalf("backup %d has none of %d documents", i, minimum[i]-first)
		}
		for j, id := range ids[pos:] {
			if id != first+j {
				t.Fatalf("backup %d has document %d where %d follows", i, id, first+j)
			}
		}
		if n := first + len(ids) - pos; n < minimum[i] || pos != 56 {
			t.Errorf("backup %d has documents up to %d and %d of the earlier ones; %d were acknowledged before it", i, n, pos,
				minimum[i])
		}
	}
}

// TestBackupAgain flushes or merges the index when the backup has its manifest, so that the log or segments are
// removed. A backup by another process begins again. A backup by the same process keeps the files that it needs.
func TestBackupAgain(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Index) error{
		"flush": func(x *Index) error { return x.Flush(t.Context()) },
		"merge": func(x *Index) error { return x.Merge(t.Context(), 1) },
	} {
		for _, way := range waysToBackup {
			t.Run(name+"/"+way.name, func(t *testing.T) {
				base := t.TempDir()
				dir, to := filepath.Join(base, "index"), filepath.Join(base, "backup")
				x := backupSource(t, dir)
				defer x.end()
				must.Do(t, way.backup(x, nil, dir, filepath.Join(base, "still")))
				a, err := os.Stat(filepath.Join(dir, manifestName))
				must.Do(t, err)
				b, err := os.Stat(filepath.Join(base, "still", manifestName))
				must.Do(t, err)
				if os.SameFile(a, b) {
					t.Error("the manifest is a link, which fails where it is replaced meanwhile")
				}
				links := 0
				concurrent := disk.WithFailures(func(c disk.Call, _ string) error {
					if c != disk.CallLink {
						return nil
					}
					if links++; links > 1 {
						return nil
					}
					return change(x)
				})
				must.Do(t, way.backup(x, concurrent, dir, to))
				if got := backedUp(t, to, 300); len(got) != 56 {
					t.Errorf("%d documents, want 56", len(got))
				}
			})
		}
	}
}

// TestBackupFaults makes each call fail. The error is returned, no backup appears, and the index is unchanged. A
// power cut after any call leaves the complete backup or none.
func TestBackupFaults(t *testing.T) {
	t.Parallel()
	for _, way := range waysToBackup {
		t.Run(way.name, func(t *testing.T) { backupFaults(t, way.backup) })
	}
}

func backupFaults(t *testing.T, makeBackup func(x *Index, d *disk.Disk, dir, target string) error) {
	base := t.TempDir()
	dir, to := filepath.Join(base, "index"), filepath.Join(base, "backup")
	x := backupSource(t, dir)
	defer x.end()
	backup := func(d *disk.Disk) error {
		must.Do(t, os.RemoveAll(to))
		return makeBackup(x, d, dir, to)
	}
	must.Do(t, backup(nil))
	want := backedUp(t, to, 300)
	if len(want) != 56 {
		t.Fatalf("%d documents", len(want))
	}
	faults.Each(t, 1, backup, func(f faults.Fault, whole bool) {
		_, err := os.Lstat(to)
		if whole != (err == nil) {
			t.Errorf("%+v: %v", f, err)
		}
		if whole && !slices.Equal(backedUp(t, to, 300), want) {
			t.Errorf("%+v: another backup", f)
		}
	})
	must.Do(t, os.RemoveAll(to))
	r := crash.Record(t, base)
	must.Do(t, backup(r.Disk()))
	seen := map[bool]int{}
	r.States(1, 1, func(s crash.State) {
		cut := filepath.Join(t.TempDir(), "cut")
		r.Cut(cut, s)
		_, err := os.Lstat(filepath.Join(cut, "backup"))
		seen[err == nil]++
		for _, name := range []string{"index", "backup"} {
			if name == "backup" && err != nil {
				continue
			}
			if got := backedUp(t, filepath.Join(cut, name), 300); !slices.Equal(got, want) {
				t.Errorf("%s: %s has %d documents, want %d", s, name, len(got), len(want))
			}
		}
		if s.Calls == r.Calls() && err != nil {
			t.Errorf("%s: no backup after all", s)
		}
	})
	if seen[true] < 3 || seen[false] < 20 {
		t.Errorf("states: %v", seen)
	}
}

// TestBackupRefused tries to back up a folder without an index, to a name that exists, and with a damaged log.
func TestBackupRefused(t *testing.T) {
	base := t.TempDir()
	dir, to := filepath.Join(base, "index"), filepath.Join(base, "backup")
	_, err := Backup(t.Context(), nil, dir, to)
	fails(t, "no index", err, ErrNoIndex)
	x := backupSource(t, dir)
	defer x.end()
	_, err = Backup(t.Context(), nil, dir, dir)
	fails(t, "onto itself", err, os.ErrExist)
	logs, err := wal.Paths(nil, dir, wal.Mark{})
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	data := fileBytes(t, logs[0])
	data[80] ^= 1
	must.Do(t, os.WriteFile(logs[0], data, 0o600))
	_, err = Backup(t.Context(), nil, dir, to)
	fails(t, "a damaged log", err, store.ErrCorrupt)
	if entries, err := os.ReadDir(base); err != nil || len(entries) != 1 {
		t.Errorf("left: %v, %v", entries, err)
	}
}
