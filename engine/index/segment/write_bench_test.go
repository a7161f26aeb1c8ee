package segment

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"ndd/engine/index/table"
	"ndd/engine/memory"
	"ndd/engine/oracle/must"
)

// nowhere is a sink that counts.
type nowhere struct{ bytes int }

func (*nowhere) Section(string) {}

func (n *nowhere) Write(p []byte) (int, error) {
	n.bytes += len(p)
	return len(p), nil
}

// uniform fingerprints stand outside the heap, as mapped ones do.
func uniform(b *testing.B, n int) []uint64 {
	prints, err := memory.Make[uint64](n)
	must.Do(b, err)
	b.Cleanup(prints.Free)
	rng := rand.New(rand.NewPCG(uint64(n), 9))
	for i := range prints.Data {
		prints.Data[i] = rng.Uint64()
	}
	return prints.Data
}

// BenchmarkWrite is a segment of two tables with ids, in memory of every size.
func BenchmarkWrite(b *testing.B) {
	const n = 1e8
	prints := uniform(b, n)
	for _, perDoc := range []float64{0, 9, 2, 1} {
		b.Run(fmt.Sprintf("n=%d/bytes-a-document=%v", int(n), perDoc), func(b *testing.B) {
			o := Options{Design: design(b, 4), Threads: 1, Table: table.Options{Layout: table.LayoutPlanar},
				TempDir: b.TempDir()}
			o.Design.Tables, o.Design.K = o.Design.Tables[:2], 1
			if perDoc > 0 {
				o.Budget = memory.NewBudget(memory.Set(uint64(perDoc*n) + 16<<20))
			}
			for b.Loop() {
				must.Do(b, Write(b.Context(), new(nowhere), Input{Fingerprints: prints}, o))
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/n, "ns/document")
		})
	}
}
