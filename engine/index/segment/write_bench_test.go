package segment

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"ndd/engine/index/radix"
	"ndd/engine/index/table"
	"ndd/engine/memory"
	"ndd/engine/oracle/must"
	"ndd/permute"
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

// BenchmarkTable is the whole of one further table: permute, sort, pack; not
// the checksum and the file.
func BenchmarkTable(b *testing.B) {
	for _, n := range []int{1e7, 1e8} {
		prints := uniform(b, n)
		for _, layout := range []table.Layout{table.LayoutPlanar, table.LayoutHuffman} {
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("layout=%s/n=%d/threads=%d", layout, n, threads), func(b *testing.B) {
					keys, err := memory.Make[uint64](n)
					must.Do(b, err)
					defer keys.Free()
					o := Options{Table: table.Options{Layout: layout}, Threads: threads}
					o.Design.Tables = []permute.Table{{}, {Mask: 0x5555555555555555}}
					w := &builder{Options: o, sink: &guardedSink{b.Context(), new(nowhere)}, rows: radix.Chunks{prints},
						input: radix.Chunks{prints},
						docs:  n, distinct: n, sort: radix.Options{Threads: threads, Room: n}, memory: keys}
					for b.Loop() {
						must.Do(b, w.table(b.Context(), 1))
					}
					b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(n), "ns/key")
					b.ReportMetric(float64(b.N)*float64(n)/b.Elapsed().Seconds()/1e6, "Mkeys/s")
				})
			}
		}
	}
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
