package main

import (
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"ndd/engine/index/radix"
	"ndd/engine/index/table"
	"ndd/engine/oracle/must"
	"ndd/engine/storage/store"
	"ndd/permute"
)

var tableFingerprints = flag.Int("table.n", 1_000_000, "fingerprints of BenchmarkTable and BenchmarkWorker")

// BenchmarkTable queries the tables of three designs alone, on one thread, in batches of several
// sizes. The answers to the first queries are those of comparing all with all, and the answers to
// all are the same in every design and batch. ns/query is the best of many pieces of 1,000 queries.
func BenchmarkTable(b *testing.B) {
	base, queries := planted(*tableFingerprints, 100_000)
	var want answer
	for _, of := range []searchedDesign{{design: "halves", layout: table.LayoutPlanar},
		{design: "cover-11-6-3", layout: table.LayoutPlanar}, {design: "paper-10", layout: table.LayoutHuffman}} {
		s, bytes := loadTables(b, base, of)
		first := queries[:20]
		if got, err := s.count(b.Context(), first, 0, 7); err != nil || got != compareAll(base, first) {
			b.Fatalf("%v, %v; comparing all with all finds %v", got, err, compareAll(base, first))
		}
		for _, batch := range []int{1, 8, 32, 256} {
			b.Run(fmt.Sprintf("layout=%s/tables=%d/n=%d/batch=%d", of.layout, len(s.tables), len(base), batch),
				func(b *testing.B) {
					shortest := 1e18
					for b.Loop() {
						var all answer
						for from := 0; from < len(queries); from += 1000 {
							shortest = min(shortest, float64(timed(func() {
								got, err := s.count(b.Context(), queries[from:from+1000], from, batch)
								must.Do(b, err)
								all.plus(got)
							}).Nanoseconds())/1000)
						}
						if want == (answer{}) {
							want = all
						}
						if all != want {
							b.Fatalf("%v, before %v", all, want)
						}
					}
					b.ReportMetric(shortest, "ns/query")
					b.ReportMetric(shortest/machineMemory().IndependentNs, "misses/query")
					b.ReportMetric(bytes, "bytes/fp")
				})
		}
	}
}

// loadTables builds and loads the tables of a design, and returns their bytes a fingerprint.
func loadTables(b *testing.B, base []uint64, of searchedDesign) (s *tableSet, bytes float64) {
	design, err := permute.Named(of.design, distance, 1)
	must.Do(b, err)
	s = &tableSet{design: design}
	keys := make([]uint64, len(base))
	for _, t := range design.Tables {
		radix.Keys(keys, base, t.Mask, 2)
		f, err := loadTable(b.Context(), filepath.Join(b.TempDir(), "table"), func(w *store.Writer) error {
			return table.Write(w, "", slices.Compact(slices.Clone(keys)), table.Options{Layout: of.layout})
		})
		must.Do(b, err)
		b.Cleanup(func() { f.Close() })
		tab, err := table.Open(f, "", of.layout)
		must.Do(b, err)
		s.add(tab)
		bytes += float64(table.Bytes(tab)) / float64(len(base))
	}
	return s, bytes
}
