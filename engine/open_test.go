package engine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"example.org/ndd/engine/corpus/ndf"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/faults"
	"example.org/ndd/engine/oracle/long"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
)

func fingerprint(x uint64) simhash.Fingerprint { return simhash.Fingerprint(x) }

// TestOpenTooLarge loads an index that does not fit in memory: it is refused before it is read.
func TestOpenTooLarge(t *testing.T) {
	size := uint64(len(read(t, "planar", "00000001.segment")))
	_, err := openAs(t.Context(), filepath.Join(golden, "planar"), live.OpenOptions{Load: true,
		Budget: memory.NewBudget(memory.Set(size - 1))})
	if e, ok := errors.AsType[*memory.TooLargeError](err); !ok || e.Need != size || e.Limit.Bytes != size-1 {
		t.Errorf("%v", err)
	}
}

// TestBuildTooLarge checks that a build that does not fit in memory is refused before it writes. With a little more
// memory, it uses a temporary file and removes it.
func TestBuildTooLarge(t *testing.T) {
	fingerprints := sets.Uniform(800_000, 9)
	base := openFile(t, writeRaw(t, fingerprints))
	dir := t.TempDir()
	o := segment.Options{Design: halves(t), Threads: 1, Budget: memory.NewBudget(memory.Set(4 << 20))}
	err := live.Build(t.Context(), filepath.Join(dir, "index"), []*ndf.File{base}, live.BuildOptions{Options: o})
	if !errors.Is(err, memory.ErrTooLarge) {
		t.Errorf("%v", err)
	}
	o.Budget = memory.NewBudget(memory.Set(10 << 20))
	if plan, err := segment.NewPlan(uint64(len(fingerprints)), segment.Options{Threads: 1, Budget: o.Budget,
		TempDir: dir}); err != nil || !plan.External {
		t.Fatalf("%+v, %v", plan, err)
	}
	if remaining, _ := os.ReadDir(dir); len(remaining) != 0 {
		t.Errorf("left behind: %v", remaining)
	}
	must.Do(t, live.Build(t.Context(), filepath.Join(dir, "index"), []*ndf.File{base}, live.BuildOptions{Options: o}))
	if files, _ := filepath.Glob(filepath.Join(dir, "*", "*")); len(files) != 2 {
		t.Errorf("files %v", files)
	}
	if hidden, _ := filepath.Glob(filepath.Join(dir, "*", ".*")); len(hidden) != 0 {
		t.Errorf("left behind: %v", hidden)
	}
	x := openAt(t, filepath.Join(dir, "index"), live.OpenOptions{})
	must.Do(t, x.Check(t.Context()))
	if got, want := flat(t, x, fingerprints[:5], 3, 1), oracle.Search(fingerprints, fingerprints[:5], 3); !slices.Equal(got, want) {
		t.Errorf("%d hits, want %d", len(got), len(want))
	}
}

// TestTruncatedIndex truncates an index while it is open and being read. Single queries, batches, sweeps, checks and
// walks return errors, and nothing crashes. An index in memory is not affected.
func TestTruncatedIndex(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // the system refuses to truncate a file in use
	}
	for _, o := range []live.OpenOptions{{}, {Verify: live.VerifyFast, Load: true}} {
		for _, layout := range goldenLayouts {
			dir, fingerprints := large(t, layout)
			x := openAt(t, dir, o)
			must.Do(t, os.Truncate(filepath.Join(dir, "00000001.segment"), 2*pageBytes))
			batch := func(n int) error {
				return x.Batch(t.Context(), simhash.Fingerprints(fingerprints[:n]), BatchOptions{K: 3, Docs: AllDocs, Threads: 2},
					func(int, []Hit) error { return nil })
			}
			errs := map[string]error{"check": x.Check(t.Context()), "verify": scrubbed(t, x),
				"walk": segmentsOf(x)[0].Walk(func([]uint64) bool { return true }), "batch": batch(300), "sweep": batch(50_000)}
			for i := range 100 {
				_, errs[fmt.Sprint("query ", i)] = x.Query(t.Context(), fingerprint(fingerprints[i]), QueryOptions{K: 3, Docs: AllDocs})
			}
			for name, err := range errs {
				if o.Load && err != nil || !o.Load && !errors.Is(err, store.ErrFault) {
					t.Errorf("%s, load=%v, %s: %v", layout, o.Load, name, err)
				}
			}
		}
	}
}

// TestBuildFaults makes each call to the disk fail in turn during builds of documents with IDs, with sorted keys in
// memory and in a temporary file. Every fault gives an error. No file remains, or the whole index if only the
// durability of its name is unknown. After a power cut, too, files have their names only when they are durable.
func TestBuildFaults(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pages.ndf")
	w, err := ndf.Create(path, simhash.Default(), store.Options{})
	must.Do(t, err)
	defer w.Abort()
	for i := range 5000 {
		d := ndf.Document{ID: filepath.Join("page", simhash.Fingerprint(i).String()),
			Fingerprint: simhash.Fingerprint(uint64(i/2) * 0x9e3779b97f4a7c15)}
		must.Do(t, w.Append(d))
	}
	must.Do(t, w.Commit())
	pages := openFile(t, path)
	step := long.Or(3, 1)
	for name, budget := range map[string]*memory.Budget{"memory": nil,
		"file": memory.NewBudget(memory.Set(8<<20 + 10_000))} {
		for _, layout := range []table.Layout{table.LayoutPlanar, table.LayoutHuffman} {
			t.Run(name+"/"+string(layout), func(t *testing.T) {
				o := segment.Options{Design: halves(t), Threads: 1, Budget: budget}
				o.Table.Layout = layout
				o.Planned = func(p segment.Plan) {
					if p.External != (name == "file") {
						t.Errorf("sorts in a file: %v", p.External)
					}
				}
				dir := t.TempDir()
				index := filepath.Join(dir, "index")
				calls := faults.Each(t, step, func(d *disk.Disk) error {
					must.Do(t, os.RemoveAll(index))
					o.Disk = d
					return live.Build(t.Context(), index, []*ndf.File{pages}, live.BuildOptions{Options: o})
				}, func(f faults.Fault, whole bool) {
					remaining, err := os.ReadDir(dir)
					switch {
					case err != nil:
						t.Fatal(err)
					case whole:
						checkIndex(t, index, 5000)
					case len(remaining) > 0:
						t.Errorf("%+v: %v is left", f, remaining)
					}
				})
				if calls < 18 {
					t.Errorf("%d calls", calls)
				}
			})
		}
	}
}

// checkIndex verifies an index.
func checkIndex(t *testing.T, dir string, documents uint64) {
	t.Helper()
	x := openAt(t, dir, live.OpenOptions{})
	defer x.Close() // the next call may remove the index
	if err := x.Check(t.Context()); err != nil || x.Stats().Documents != documents {
		t.Errorf("%d documents, %v", x.Stats().Documents, err)
	}
}
