package live

import (
	"errors"
	"path/filepath"
	"testing"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/index/live/search"
	"example.org/ndd/engine/index/live/version"
	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/permute"
)

var planar = table.Options{Layout: table.LayoutPlanar}

// makeIndex makes an empty index and opens it, for as long as the test runs.
func makeIndex(t testing.TB, c Config, o OpenOptions) (x *Index, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "index")
	must.Do(t, Create(dir, c))
	return openFolder(t, dir, o), dir
}

// openFolder opens an index for as long as the test runs.
func openFolder(t testing.TB, dir string, o OpenOptions) *Index {
	t.Helper()
	x, err := Open(t.Context(), dir, o)
	must.Do(t, err)
	t.Cleanup(func() { x.Close() })
	return x
}

// memoryIndex returns an index in memory for as long as the test runs.
func memoryIndex(t testing.TB, c Config, segments ...*segment.Segment) *Index {
	t.Helper()
	x, err := New(c, segments...)
	must.Do(t, err)
	t.Cleanup(func() { x.Close() })
	return x
}

// insert inserts documents in one call.
func insert(t testing.TB, x *Index, docs ...rows.Doc) []Outcome {
	t.Helper()
	out, err := x.Insert(t.Context(), docs)
	must.Do(t, err)
	return out
}

// remove deletes documents by their IDs. All of them must exist.
func remove(t testing.TB, x *Index, ids ...string) {
	t.Helper()
	if n, err := x.Delete(t.Context(), ids...); n != len(ids) || err != nil {
		t.Fatalf("%d of %d deleted: %v", n, len(ids), err)
	}
}

// found returns how many documents are within k of a fingerprint.
func found(t testing.TB, x *Index, f simhash.Fingerprint, k int) (documents int) {
	t.Helper()
	c := x.Searcher()
	defer c.Done()
	hits, err := c.Query(f, k, search.AllDocs, rows.Verifier{})
	must.Do(t, err)
	return len(docsOf(hits))
}

// fails checks that an error wraps the wanted one.
func fails(t testing.TB, name string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %v", name, err, want)
	}
}

// viewOf returns a view for as long as the test runs.
func viewOf(t testing.TB, x *Index) version.View {
	t.Helper()
	w, err := x.View()
	must.Do(t, err)
	t.Cleanup(w.Release)
	return w
}

func halves(t testing.TB) permute.Design {
	t.Helper()
	d, err := permute.ByName("halves", 3, 1)
	must.Do(t, err)
	return d
}

// TestMergeWithoutMemory checks that a merge that exceeds the machine's memory is refused with a specific error. A
// missing buffer is not enough to refuse it.
func TestMergeWithoutMemory(t *testing.T) {
	b := memory.NewBudget(oracle.Machine(t, 64<<20).Limit(0))
	u := newIndex(Config{Design: halves(t), Budget: b}).upkeep
	reserve := func(docs uint64) (*memory.Reservation, error) {
		return u.reserveFiles(&rewrite{docs: docs, bytes: 38 * docs, spare: 16 << 20}, &segment.Options{Design: halves(t), Threads: 1})
	}
	if r, err := reserve(4096); err != nil || r.Bytes() != 0 {
		t.Error(err)
	}
	r, err := reserve(1 << 19)
	if err != nil || b.Free() != 64<<20-r.Bytes() || r.Bytes() < 38<<19 {
		t.Error(err)
	}
	r.Release()
	const want = "merging 2,097,152 documents needs up to 109 MiB of memory, and there are 64 MiB " +
		"(left by the memory limit of control group /job)"
	if _, err = reserve(1 << 21); err == nil || err.Error() != want {
		t.Error(err)
	}
}

// TestPlanBuild uses a simulated machine: a method that could use any amount of memory leaves a sixteenth free.
func TestPlanBuild(t *testing.T) {
	dir := t.TempDir()
	remaining := memory.NewBudget(oracle.Machine(t, 1<<30).Limit(0))
	for _, c := range []struct {
		budget *memory.Budget
		docs   uint64
		bytes  uint64
		want   string
	}{
		{remaining, 50_000_000, segment.NeedBytes(50_000_000, segment.Options{Threads: 1}), ""},
		{remaining, 100_000_000, 15 << 26, ""},
		{remaining, 8_000_000_000, 0, "building a segment of 8,000,000,000 documents needs up to 6.6 GiB of memory, and there " +
			"are 1.0 GiB (left by the memory limit of control group /job)"},
		{memory.NewBudget(memory.Set(8 << 30)), 8_000_000_000, 8 << 30 / 16 * 15, ""},
		{memory.ForProgram(memory.Set(45 << 20)), 10_000_000, 0,
			"building a segment of 10,000,000 documents needs up to 49 MiB of memory, and there are 45 MiB (the limit that " +
				"was set)"},
		{memory.ForProgram(memory.Set(20 << 20)), 10_000_000, 0,
			"building a segment of 10,000,000 documents needs up to 49 MiB of memory, and there are 20 MiB (the limit that " +
				"was set)"},
	} {
		o := BuildOptions{Options: segment.Options{Design: halves(t), Threads: 1, Budget: c.budget}}
		plan, err := PlanBuild(filepath.Join(dir, "index"), c.docs, &o)
		if plan.Bytes != c.bytes || (err != nil) != (c.want != "") || err != nil && err.Error() != c.want {
			t.Errorf("%d documents: %d bytes, %v, want %d, %s", c.docs, plan.Bytes, err, c.bytes, c.want)
		}
	}
	o := BuildOptions{Options: segment.Options{Design: halves(t), Threads: 1}}
	if _, err := PlanBuild(filepath.Join(dir, "index"), 1000, &o); err != nil || o.Budget.Limit() == memory.Unlimited {
		t.Errorf("this machine: %+v, %v", o.Budget.Limit(), err)
	}
}

// BenchmarkHold measures the cost of holding a version in a query.
func BenchmarkHold(b *testing.B) {
	x := memoryIndex(b, Config{Design: halves(b)})
	b.RunParallel(func(pb *testing.PB) {
		slot := x.versions.Slot()
		for pb.Next() {
			v, err := x.versions.Hold(slot)
			if err != nil {
				b.Error(err)
				return
			}
			x.versions.Release(v, slot)
		}
	})
}
