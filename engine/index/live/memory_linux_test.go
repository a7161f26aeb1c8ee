package live

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"

	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
)

// anonymous returns the memory of this process that is not mapped from files, by its pages. The sums in
// /proc/self/status lag behind by some pages for each processor.
func anonymous(t *testing.T) (bytes uint64) {
	rollup, err := os.ReadFile("/proc/self/smaps_rollup")
	must.Do(t, err)
	_, tail, _ := strings.Cut(string(rollup), "\nAnonymous:")
	_, err = fmt.Sscan(tail, &bytes)
	must.Do(t, err)
	return bytes << 10
}

// A memoryWatch measures the used and the reserved memory before each write to a file, because a merge writes when its
// memory is at the peak.
type memoryWatch struct {
	t              *testing.T
	budget         *memory.Budget
	on             atomic.Bool
	taken, leftest atomic.Uint64
}

func (w *memoryWatch) look(disk.Call, string) error {
	if w.on.Load() {
		w.taken.Store(max(w.taken.Load(), anonymous(w.t)))
		w.leftest.Store(min(w.leftest.Load(), w.budget.Free()))
	}
	return nil
}

// measure calls do, and returns how much memory it took and reserved at most.
func (w *memoryWatch) measure(do func() error) (taken, reserved uint64) {
	w.t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // do not measure garbage
	debug.FreeOSMemory()
	before, remaining := anonymous(w.t), w.budget.Free()
	w.taken.Store(before)
	w.leftest.Store(remaining)
	w.on.Store(true)
	defer w.on.Store(false)
	if err := do(); err != nil {
		w.t.Fatal(err)
	}
	return w.taken.Load() - before, remaining - w.leftest.Load()
}

// TestMergeMemory checks that a merge takes and reserves at most as much memory as a build of the same number of
// documents, with and without deletions.
func TestMergeMemory(t *testing.T) {
	docs := long.Or(2<<20, 4<<20)
	files := func(seed uint64, n int) []*ndf.File {
		path := filepath.Join(t.TempDir(), "fingerprints.bin")
		must.Do(t, os.WriteFile(path, store.Bytes64(sets.Uniform(n, seed)), 0o600))
		f, err := ndf.Open(path, ndf.OpenOptions{})
		must.Do(t, err)
		t.Cleanup(func() { f.Close() })
		return []*ndf.File{f}
	}
	base, added, all := files(1, docs/4*3), files(2, docs/4), files(3, docs)
	w := &memoryWatch{t: t, budget: memory.NewBudget(memory.Set(1 << 40))}
	o := BuildOptions{Options: segment.Options{Design: halves(t), Table: planar, Threads: 1, Budget: w.budget,
		Disk: disk.WithFailures(w.look)}}
	building, build := w.measure(func() error { return Build(t.Context(), filepath.Join(t.TempDir(), "built"), all, o) })
	each := func(bytes uint64) float64 { return float64(bytes) / float64(docs) }
	for _, deleted := range []int{0, docs / 64} {
		dir := filepath.Join(t.TempDir(), "index")
		must.Do(t, Build(t.Context(), dir, base, o))
		x := openFolder(t, dir, OpenOptions{Write: true, NoSync: true, Budget: w.budget, Disk: disk.WithFailures(w.look)})
		must.Do(t, x.Add(t.Context(), added, o))
		var gone []rows.DocID
		for i := range deleted {
			gone = append(gone, rows.DocID(i*docs/deleted))
		}
		_, err := x.writer.deleteFound(t.Context(), func() ([]rows.DocID, error) { return gone, nil })
		must.Do(t, err)
		must.Do(t, x.Flush(t.Context()))
		taken, reserved := w.measure(func() error { return x.Merge(t.Context(), 1) })
		t.Logf("%d documents, %d deleted: %.1f bytes a document reserved, %.1f taken; building %.1f and %.1f", docs,
			deleted, each(reserved), each(taken), each(build), each(building))
		if reserved > build || reserved < uint64(8*docs) {
			t.Errorf("%d deleted: %d bytes are reserved, and by building %d", deleted, reserved, build)
		}
		const heap = 8 << 20 // the collector may be late
		if taken > max(building, build)+heap {
			t.Errorf("%d deleted: %d bytes are taken, and by building %d of %d reserved", deleted, taken, building, build)
		}
		must.Do(t, x.Close())
	}
}

// TestMapper checks that the segments of an index that is larger than memory are mapped so that single pages are read.
func TestMapper(t *testing.T) {
	x, dir := makeIndex(t, Config{Design: halves(t)}, OpenOptions{Write: true})
	insert(t, x, rows.Doc{Fingerprint: 5}, rows.Doc{Fingerprint: 500})
	must.Do(t, x.Close())
	m, err := ReadManifest(dir)
	if err != nil || len(m.Segments) != 1 {
		t.Fatalf("%+v, %v", m, err)
	}
	for _, larger := range []bool{false, true} {
		if larger {
			m.Segments[0].Bytes = 1 << 60
		}
		path := filepath.Join(dir, m.Segments[0].File)
		f, err := m.mapper(nil)(path, store.KindSegment)
		must.Do(t, err)
		if got := strings.Contains(mappingFlags(t, path), " rr"); got != larger {
			t.Errorf("larger than memory %v: single pages %v", larger, got)
		}
		must.Do(t, f.Close())
	}
}

// mappingFlags returns the line VmFlags of the mapping of a file.
func mappingFlags(t *testing.T, path string) string {
	t.Helper()
	maps, err := os.Open("/proc/self/smaps")
	must.Do(t, err)
	defer maps.Close()
	found := false
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		if strings.HasSuffix(lines.Text(), path) {
			found = true
		}
		if flags, ok := strings.CutPrefix(lines.Text(), "VmFlags:"); found && ok {
			return flags
		}
	}
	t.Fatalf("%s is not mapped", path)
	return ""
}
