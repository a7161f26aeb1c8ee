package engine

import (
	"os"
	"path/filepath"
	"testing"

	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/memory"
	"ndd/engine/oracle/faults"
	"ndd/engine/oracle/long"
	"ndd/engine/oracle/must"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/store"
)

// TestBuildFaults has each call to the disk fail in turn during builds, of named documents, with
// sorted keys in memory and in a temporary file: whatever call fails, there is an error, and
// nothing is left, or the whole index where only the durability of its name is in doubt. After a
// power cut, too: nothing has its name before it is durable.
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
	pages, err := ndf.Open(path)
	must.Do(t, err)
	defer pages.Close()
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
					return Build(t.Context(), index, []*ndf.File{pages}, BuildOptions{Options: o})
				}, func(f faults.Fault, whole bool) {
					left, err := os.ReadDir(dir)
					switch {
					case err != nil:
						t.Fatal(err)
					case whole:
						checkIndex(t, index, 5000)
					case len(left) > 0:
						t.Errorf("%+v: %v is left", f, left)
					}
				})
				if calls < 20 {
					t.Errorf("%d calls", calls)
				}
			})
		}
	}
}

// checkIndex verifies an index.
func checkIndex(t *testing.T, dir string, documents uint64) {
	t.Helper()
	x, err := Open(t.Context(), dir, OpenOptions{})
	must.Do(t, err)
	defer x.Close()
	if err := x.Check(t.Context()); err != nil || x.Stats().Documents != documents {
		t.Errorf("%d documents, %v", x.Stats().Documents, err)
	}
}
