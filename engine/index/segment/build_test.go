package segment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sections"
	"example.org/ndd/engine/oracle/sets"
	"example.org/ndd/engine/storage/store"
	"example.org/ndd/permute"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// zeros is a source of one identity.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func design(t testing.TB, tables int) permute.Design {
	t.Helper()
	return named(t, fmt.Sprintf("paper-%d", tables), 3)
}

func named(t testing.TB, name string, k int) permute.Design {
	t.Helper()
	d, err := permute.ByName(name, k, 1)
	must.Do(t, err)
	return d
}

// nowhere is a sink.
type nowhere struct{}

func (nowhere) Section(string)              {}
func (nowhere) Write(p []byte) (int, error) { return len(p), nil }

// written returns the file that Write makes.
func written(t testing.TB, in Input, o Options) []byte {
	t.Helper()
	b, err := os.ReadFile(writtenTo(t, in, o))
	must.Do(t, err)
	return b
}

// writtenTo returns the path of the file that Write makes.
func writtenTo(t testing.TB, in Input, o Options) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "segment")
	w, err := store.CreateWith(path, store.KindSegment, 1, store.Options{Random: zeros{}})
	must.Do(t, err)
	defer w.Abort()
	must.Do(t, Write(t.Context(), w, in, o))
	must.Do(t, w.Commit())
	return path
}

// TestSameFile builds with much and little memory, through a temporary file, from pieces and with several threads:
// the file is the same.
func TestSameFile(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for name, pos := range map[string]func(i int) uint64{
		"random":     func(int) uint64 { return rng.Uint64() },
		"half equal": func(i int) uint64 { return rng.Uint64() * uint64(i&1) },
		"few":        func(int) uint64 { return rng.Uint64N(1000) << 40 },
	} {
		n := 2*roomMin + 1000 // documents are sorted in ranges in a file
		if name == "random" {
			n = rangesBest*roomMin + 1000 // built in memory, too
		}
		fingerprints := sets.Generate(n, pos)
		o := Options{Design: design(t, 4), Threads: 2, Table: table.Options{Layout: table.LayoutPlanar}}
		o.Design.Tables = o.Design.Tables[:2] // valid for k = 1
		o.Design.K = 1
		want := written(t, Input{Fingerprints: fingerprints}, o)
		docs := uint64(n)
		fixed := 2*threadBytes + docs/2 + roomMin*pairBytes
		for _, size := range []uint64{fixed + 9*docs, fixed + docs} {
			o := o
			o.Budget, o.TempDir = memory.NewBudget(memory.Set(size)), t.TempDir()
			plan, err := NewPlan(docs, o)
			if err != nil || plan.Bytes > size || plan.External != (size < fixed+8*docs) {
				t.Fatalf("%d bytes: %+v, %v", size, plan, err)
			}
			if !bytes.Equal(written(t, Input{Fingerprints: fingerprints}, o), want) {
				t.Errorf("%s: with %d bytes of memory another file", name, size)
			}
			if o.Budget.Free() != size {
				t.Errorf("%s: of %d bytes %d are left", name, size, o.Budget.Free())
			}
			if remaining, _ := os.ReadDir(o.TempDir); len(remaining) != 0 {
				t.Errorf("left behind: %v", remaining)
			}
		}
		o.Threads = 1
		if !bytes.Equal(written(t, Input{Fingerprints: fingerprints[:5],
			Chunks: [][]uint64{nil, fingerprints[5:99999], fingerprints[99999:]}}, o), want) {
			t.Errorf("%s: in pieces another file", name)
		}
	}
}

// TestRefused builds with too little memory: it fails before it reserves or writes anything.
func TestRefused(t *testing.T) {
	var m sections.Memory
	for _, c := range []struct {
		dir  string
		want string
	}{
		{"", "building a segment of 1,000,000 documents needs up to 17 MiB of memory, and there are 6.0 MiB (the limit " +
			"that was set)"},
		{t.TempDir(), "building a segment of 1,000,000 documents needs up to 8.9 MiB of memory, and there are 6.0 MiB (the " +
			"limit that was set)"},
	} {
		o := Options{Design: design(t, 4), Threads: 1, Budget: memory.NewBudget(memory.Set(6 << 20)), TempDir: c.dir}
		err := Write(context.Background(), &m, Input{Fingerprints: make([]uint64, 1_000_000)}, o)
		if !errors.Is(err, memory.ErrTooLarge) || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
		if _, err := m.Source().Section("ids.ordinals"); err == nil {
			t.Error("something was written")
		}
	}
}

func TestPlan(t *testing.T) {
	for _, n := range []uint64{0, 1, 1000, 1e6, 1e8, 8e9} {
		best, err := NewPlan(n, Options{Threads: 2})
		if err != nil || best.External || float64(best.Bytes) > 12.6*float64(n)+64e6 {
			t.Errorf("%d documents: %+v, %v", n, best, err)
		}
		external, err := NewPlan(n, Options{Threads: 2, Budget: memory.NewBudget(memory.Set(n*9/10 + 64<<20)), TempDir: "x"})
		if err != nil || uint64(external.pairs)*pairBytes > external.Bytes {
			t.Errorf("%d documents: %+v, %v", n, external, err)
		}
	}
}

// TestInterrupted interrupts a build at every stage: it returns the error of the context and leaves nothing.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	fingerprints := sets.Uniform(300_000, 3)
	for _, external := range []bool{false, true} {
		for stage := range 5 {
			t.Run(fmt.Sprintf("external=%v/stage=%d", external, stage), func(t *testing.T) {
				dir := t.TempDir()
				w, err := store.CreateWith(filepath.Join(dir, "segment"), store.KindSegment, 1, store.Options{})
				must.Do(t, err)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				o := Options{Design: design(t, 4), Progress: func(_ string, part, parts int) {
					if parts != 5 {
						t.Errorf("%d parts", parts)
					}
					if part == stage {
						cancel()
					}
				}}
				if external {
					o.Budget, o.TempDir, o.Threads = memory.NewBudget(memory.Set(10<<20)), dir, 1
				}
				if err := Write(ctx, w, Input{Fingerprints: fingerprints}, o); !errors.Is(err, context.Canceled) {
					t.Errorf("%v", err)
				}
				w.Abort()
				if remaining, _ := os.ReadDir(dir); len(remaining) != 0 {
					t.Errorf("left behind: %v", remaining)
				}
			})
		}
	}
}

// BenchmarkWrite builds a segment of two tables with IDs, with several sizes of memory.
func BenchmarkWrite(b *testing.B) {
	const n = 1e8
	fingerprints := sets.Uniform(n, 9)
	for _, perDoc := range []float64{0, 9, 2, 1} {
		b.Run(fmt.Sprintf("n=%d/bytes-a-document=%v", int(n), perDoc), func(b *testing.B) {
			o := Options{Design: design(b, 4), Threads: 1, Table: table.Options{Layout: table.LayoutPlanar},
				TempDir: b.TempDir()}
			o.Design.Tables, o.Design.K = o.Design.Tables[:2], 1
			if perDoc > 0 {
				o.Budget = memory.NewBudget(memory.Set(uint64(perDoc*n) + 16<<20))
			}
			for b.Loop() {
				must.Do(b, Write(b.Context(), nowhere{}, Input{Fingerprints: fingerprints}, o))
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/n, "ns/document")
		})
	}
}
