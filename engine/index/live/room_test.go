package live

import (
	"path/filepath"
	"testing"

	"ndd/engine/index/segment"
	"ndd/engine/memory"
	"ndd/engine/oracle"
	"ndd/permute"
)

func halves(t testing.TB) permute.Design {
	t.Helper()
	d, err := permute.Named("halves", 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestMergeWithoutRoom refuses a merge that a machine has no room for, by name,
// and not a buffer's worth.
func TestMergeWithoutRoom(t *testing.T) {
	b := memory.NewBudget(oracle.Machine(t, 64<<20).Limit(0))
	o := segment.Options{Design: halves(t), Threads: 1}
	if r, err := reserveMerge(4096, 0, 16<<20, o, b); err != nil || r.Bytes() != 0 {
		t.Error(err)
	}
	r, err := reserveMerge(1<<19, 0, 16<<20, o, b)
	if err != nil || b.Left() != 64<<20-r.Bytes() || r.Bytes() < 38<<19 {
		t.Error(err)
	}
	r.Release()
	_, err = reserveMerge(1<<21, 0, 16<<20, o, b)
	if err == nil || err.Error() != "merging 2,097,152 documents needs up to 109 MiB of memory, and there are 64 MiB (left by the memory limit of control group /job)" {
		t.Error(err)
	}
}

// TestPlanBuild asks a machine that is not this one: what could use any amount leaves a sixteenth.
func TestPlanBuild(t *testing.T) {
	dir := t.TempDir()
	left := memory.NewBudget(oracle.Machine(t, 1<<30).Limit(0))
	for _, c := range []struct {
		budget *memory.Budget
		docs   uint64
		bytes  uint64
		want   string
	}{
		{left, 50_000_000, segment.NeedBytes(50_000_000, segment.Options{Threads: 1}), ""},
		{left, 100_000_000, 15 << 26, ""},
		{left, 8_000_000_000, 0, "building a segment of 8,000,000,000 documents needs up to 4.2 GiB of memory, and there are 1.0 GiB (left by the memory limit of control group /job)"},
		{memory.NewBudget(memory.Set(5 << 30)), 8_000_000_000, 5 << 30 / 16 * 15, ""},
		{memory.ForProgram(memory.Set(45 << 20)), 10_000_000, 0, "building a segment of 10,000,000 documents needs up to 45 MiB of memory, and there are 45 MiB (the limit that was set)"},
		{memory.ForProgram(memory.Set(20 << 20)), 10_000_000, 0, "building a segment of 10,000,000 documents needs up to 45 MiB of memory, and there are 20 MiB (the limit that was set)"},
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

// BenchmarkHold is what a query pays for its version.
func BenchmarkHold(b *testing.B) {
	d := halves(b)
	x, err := New(Config{Design: d})
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	b.RunParallel(func(pb *testing.PB) {
		slot := x.slot()
		for pb.Next() {
			v, err := x.hold(slot)
			if err != nil {
				b.Error(err)
				return
			}
			x.release(v, slot)
		}
	})
}
