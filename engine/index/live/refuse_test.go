package live

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/wal"
)

// refusing makes an index with IDs on a disk that is full while full is set.
func refusing(t *testing.T, full *atomic.Bool) (x *Index, reopen func() *Index) {
	t.Helper()
	o := scripted(disk.WithFailures(func(c disk.Call, _ string) error {
		if full.Load() && (c == disk.CallWrite || c == disk.CallCreate) {
			return syscall.ENOSPC
		}
		return nil
	}))
	x, dir := makeIndex(t, Config{Design: halves(t), IDs: true, Table: planar}, o)
	return x, func() *Index { return openFolder(t, dir, o) }
}

// byID returns the fingerprint of each ID of an index. It fails if two documents have the same ID, or if the look-up of
// IDs disagrees.
func byID(t *testing.T, x *Index) map[string]simhash.Fingerprint {
	t.Helper()
	all := map[string]simhash.Fingerprint{}
	for doc, d := range contents(t, x) {
		if _, twice := all[d.ID]; twice {
			t.Errorf("two documents have the ID %s", d.ID)
		}
		all[d.ID] = d.Fingerprint
		if found, ok, err := x.Find(d.ID); found != doc || !ok || err != nil {
			t.Errorf("ID %s is found at %d %v %v, but it belongs to document %d", d.ID, found, ok, err, doc)
		}
	}
	return all
}

// TestRefusedIsUndone makes an insert, a replacing insert, a check-and-insert and deletions on a full disk. None of
// them changes the index: documents that they would have replaced or deleted remain. The same holds when the disk has
// space again, and after a restart.
func TestRefusedIsUndone(t *testing.T) {
	t.Parallel()
	for _, flushed := range []bool{false, true} {
		t.Run(fmt.Sprint("flushed=", flushed), func(t *testing.T) {
			var full atomic.Bool
			x, reopen := refusing(t, &full)
			insert := func(id string, f simhash.Fingerprint) error {
				_, err := x.Insert(t.Context(), []rows.Doc{{ID: id, Fingerprint: f}})
				return err
			}
			must.Do(t, errors.Join(insert("a", 1<<10), insert("b", 1<<20|7<<40)))
			if flushed {
				must.Do(t, x.Flush(t.Context()))
			}
			want := map[string]simhash.Fingerprint{"a": 1 << 10, "b": 1<<20 | 7<<40}
			for range 2 {
				full.Store(true)
				_, deleted := x.Delete(t.Context(), "b")
				_, deletedPrint := x.DeleteFingerprint(t.Context(), 1<<10)
				_, checked := x.CheckAndInsert(t.Context(), []rows.Doc{{ID: "c", Fingerprint: 0xffff << 48}}, 3, 1)
				for name, err := range map[string]error{"insert": insert("new", 0xff<<32), "replace": insert("a", 0xff<<32),
					"delete": deleted, "by fingerprint": deletedPrint, "check": checked} {
					if !errors.Is(err, syscall.ENOSPC) || errors.Is(err, ErrUnknown) {
						t.Errorf("%s: %v", name, err)
					}
				}
				if err := x.Flush(t.Context()); !flushed && !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("a flush: %v", err)
				}
				if got := byID(t, x); !maps.Equal(got, want) {
					t.Errorf("refused, and there is %v", got)
				}
				if n := found(t, x, 1<<10, 0); n != 1 {
					t.Errorf("a query on a full disk finds %d documents", n)
				}
				near, err := x.CheckAndInsert(t.Context(), []rows.Doc{{ID: "d", Fingerprint: 1<<10 | 1}}, 3, 1)
				if err != nil || near[0].Inserted || near[0].ID != "a" {
					t.Errorf("near documents must be reported on a full disk, too: %+v %v", near, err)
				}
				full.Store(false)
				if out, err := x.CheckAndInsert(t.Context(), []rows.Doc{{ID: "c", Fingerprint: 0xffff << 48}}, 3, 1); err != nil ||
					!out[0].Inserted {
					t.Errorf("tried again: %+v %v", out, err)
				}
				if want["c"] = 0xffff << 48; !maps.Equal(byID(t, x), want) {
					t.Errorf("with room again there is %v", byID(t, x))
				}
				remove(t, x, "c")
				delete(want, "c")
			}
			must.Do(t, x.end())
			x = reopen()
			defer x.end()
			if got := byID(t, x); !maps.Equal(got, want) {
				t.Errorf("opened again, there is %v", got)
			}
		})
	}
}

// TestRefusedAtRandom has callers insert, replace, check and delete during flushes and merges. The disk is sometimes
// full, and the process sometimes ends. The index always has exactly the acknowledged changes.
func TestRefusedAtRandom(t *testing.T) {
	t.Parallel()
	rounds := long.Or(6, 60)
	const callers, steps = 4, 40
	var full atomic.Bool
	x, reopen := refusing(t, &full)
	want := [callers]map[string]simhash.Fingerprint{}
	for i := range want {
		want[i] = map[string]simhash.Fingerprint{}
	}
	var refused atomic.Int64
	for round := range rounds {
		var group, concurrent sync.WaitGroup
		ctx, stop := context.WithCancel(t.Context())
		concurrent.Go(func() {
			for ctx.Err() == nil {
				err := x.Flush(context.Background())
				if err == nil {
					err = x.Merge(context.Background(), 1)
				}
				if err != nil && !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, errUndone) {
					t.Error(err)
				}
			}
		})
		for c := range callers {
			group.Go(func() {
				random := rand.New(rand.NewPCG(uint64(round), uint64(c)))
				for range steps {
					full.Store(random.IntN(3) == 0)
					id := fmt.Sprint(c, "-", random.IntN(12))
					f := simhash.Fingerprint(random.Uint64())
					doc := []rows.Doc{{ID: id, Fingerprint: f}}
					var err error
					inserts, deletes := false, false
					switch random.IntN(4) {
					case 0:
						deletes = true
						_, err = x.Delete(t.Context(), id)
					case 1:
						var out []Outcome
						if out, err = x.CheckAndInsert(t.Context(), doc, 3, 1); err == nil {
							inserts = out[0].Inserted
						}
					default:
						inserts = true
						_, err = x.Insert(t.Context(), doc)
					}
					switch {
					case errors.Is(err, syscall.ENOSPC) && !errors.Is(err, ErrUnknown):
						refused.Add(1)
					case err != nil:
						t.Error(err)
					case inserts:
						want[c][id] = f
					case deletes:
						delete(want[c], id)
					}
				}
			})
		}
		group.Wait()
		full.Store(false)
		stop()
		concurrent.Wait()
		all := map[string]simhash.Fingerprint{}
		for _, m := range want {
			maps.Copy(all, m)
		}
		if got := byID(t, x); !maps.Equal(got, all) {
			t.Fatalf("round %d: there are %d documents, and %d were acknowledged", round, len(got), len(all))
		}
		if round%3 == 2 {
			if err := x.end(); err != nil && !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
			x = reopen()
			if got := byID(t, x); !maps.Equal(got, all) {
				t.Fatalf("round %d: opened again, there are %d documents, and %d were acknowledged", round, len(got), len(all))
			}
		}
	}
	if err := x.end(); err != nil && !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	if refused.Load() < int64(rounds) {
		t.Errorf("only %d were refused", refused.Load())
	}
}

// TestOutcomesAreDurable checks that a check-and-insert returns an error and no outcome if the disk fails to sync. The
// next opening may not have the change.
func TestOutcomesAreDurable(t *testing.T) {
	var broken atomic.Bool
	x, _ := makeIndex(t, Config{Design: halves(t)}, scripted(disk.WithFailures(func(c disk.Call, _ string) error {
		if broken.Load() && c == disk.CallSync {
			return syscall.EIO
		}
		return nil
	})))
	if out, err := x.CheckAndInsert(t.Context(), []rows.Doc{{Fingerprint: 1}}, 0, 1); err != nil || len(out) != 1 {
		t.Fatal(out, err)
	}
	broken.Store(true)
	if out, err := x.CheckAndInsert(t.Context(), []rows.Doc{{Fingerprint: 1 << 40}, {Fingerprint: 1 << 50}}, 0,
		1); !errors.Is(err, ErrUnknown) || len(out) > 0 {
		t.Errorf("reported %+v, which may not be durable: %v", out, err)
	}
}

// TestFlushDuringRefusal checks that a flush during which changes were undone is repeated, because it may include
// them.
func TestFlushDuringRefusal(t *testing.T) {
	var full atomic.Bool
	x, _ := refusing(t, &full)
	defer x.end()
	insert := func(id string) error {
		_, err := x.Insert(t.Context(), []rows.Doc{{ID: id}})
		return err
	}
	must.Do(t, insert("a"))
	x.upkeep.flushing.Lock()
	defer x.upkeep.flushing.Unlock()
	f, err := x.upkeep.beginFlush(0)
	must.Do(t, err)
	full.Store(true)
	fails(t, "a full disk", insert("b"), syscall.ENOSPC)
	full.Store(false)
	must.Do(t, insert("c"))
	fails(t, "a flush beside an undone change", x.upkeep.flushTo(t.Context(), f), errUndone)
}

// TestDeletionDuringFlush checks that a deletion that is undone while a flush fails is in no later file. A deletion
// that was made twice is stored once. A merge is abandoned if it collected documents before a deletion was undone.
func TestDeletionDuringFlush(t *testing.T) {
	var beside func(disk.Call, string) error
	d := disk.WithFailures(func(c disk.Call, path string) error {
		if beside != nil {
			return beside(c, filepath.Base(path))
		}
		return nil
	})
	x, _ := makeIndex(t, Config{Design: halves(t), IDs: true}, OpenOptions{Write: true, Disk: d})
	insertNumbered(t, x, 0, 3)
	must.Do(t, x.Flush(t.Context()))
	remove(t, x, "0", "1")
	insertNumbered(t, x, 3, 5)
	beside = func(c disk.Call, name string) error {
		if c != disk.CallCreate || !strings.Contains(name, ".segment") {
			return nil
		}
		x.writer.mu.Lock()
		defer x.writer.mu.Unlock()
		x.writer.state.revive([]rows.DocID{0})
		return syscall.ENOSPC
	}
	fails(t, "a full disk", x.Flush(t.Context()), syscall.ENOSPC)
	beside = nil
	x.writer.mu.Lock()
	x.writer.state.deleted = append(x.writer.state.deleted, x.writer.state.deleted...)
	x.writer.mu.Unlock()
	must.Do(t, x.Flush(t.Context()))
	if older := x.versions.Current().Segments[1].Older; !slices.Equal(older, []rows.DocID{1}) {
		t.Errorf("the file has the deletions %v, want document 1", older)
	}
	x.writer.mu.Lock()
	_, err := x.writer.commit(&change{delete: []rows.DocID{4}}) // not synced
	x.writer.mu.Unlock()
	must.Do(t, err)
	beside = func(c disk.Call, name string) error {
		if c == disk.CallSync && filepath.Ext(name) == wal.Extension {
			x.writer.refused.Add(1)
		}
		return nil
	}
	fails(t, "a merge beside an undone change", x.upkeep.mergeFiles(t.Context(), x.versions.Current().Segments, 1),
		errUndone)
	beside = nil
}

// TestDeletionDuringReplacement checks that readers of an earlier moment still see a document that is deleted while
// its segment is replaced.
func TestDeletionDuringReplacement(t *testing.T) {
	from := &version.Segment{Numbers: rows.NewNumbers(0, 5)}
	to := &version.Segment{Numbers: rows.NewNumbers(1, 4)}
	from.Tombstones.Add(0, rows.ReplacedBy(6))
	from.Tombstones.Add(3, rows.DeletedBy(7))
	late := handDeletions(version.Edit{Remove: []*version.Segment{from}}, to)
	if !slices.Equal(late, []rows.DocID{3}) || to.Tombstones.Has(3, rows.Moment{Clock: 8, Deletions: 6}) ||
		!to.Tombstones.Has(3, rows.Moment{Clock: 0, Deletions: 7}) {
		t.Errorf("deleted: %v", late)
	}
}
