package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"ndd/asm"
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

// A tableSet is a design's tables, searched as a segment searches them, without documents. The
// tables may be shared; the rest belongs to one goroutine.
type tableSet struct {
	design  permute.Design
	tables  []table.Table
	perms   []permute.Permutation
	search  []table.Search
	scratch table.Scratch
	matches []table.Match
	queries []uint64
}

// add appends the design's next table.
func (s *tableSet) add(t table.Table) {
	d := s.design.Tables[len(s.tables)]
	p := permute.New(d.Mask)
	leading := d.Leading()
	if d.Radius > 0 {
		leading = t.Probing(leading, d.Radius, distance).Leading
	}
	var earlier []table.Finder
	for _, e := range s.design.Tables[:len(s.tables)] {
		earlier = append(earlier, table.Finder{Mask: p.Apply(e.Mask), Radius: e.Radius})
	}
	s.tables = append(s.tables, t)
	s.perms = append(s.perms, p)
	s.search = append(s.search, table.Search{Leading: leading, Flips: permute.Flips(leading, d.Radius), K: distance,
		Earlier: earlier, Perm: &p})
}

// count sums the answers of queries, batch after batch. The queries are numbered from first.
func (s *tableSet) count(ctx context.Context, queries []uint64, first, batch int) (a answer, err error) {
	err = s.each(ctx, queries, batch, func(query int, diff uint64) { a.add(first+query, queries[query]^diff) })
	return a, err
}

// each searches queries, batch after batch, and calls answer with the number of the query
// and what the answer differs in.
func (s *tableSet) each(ctx context.Context, queries []uint64, batch int, answer func(query int, diff uint64)) error {
	if len(s.queries) < batch*len(s.tables) {
		s.queries = make([]uint64, batch*len(s.tables))
	}
	for from := 0; from < len(queries); from += batch {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := queries[from:min(from+batch, len(queries))]
		for i := range s.tables {
			own := s.queries[i*batch:][:len(part)]
			asm.Permute(own, part, s.perms[i].Mask())
			s.search[i].Queries = own
		}
		var err error
		if s.matches, err = table.SearchAll(s.matches[:0], s.tables, s.search, &s.scratch); err != nil {
			return fmt.Errorf("queries from %d: %w", from, err)
		}
		for _, m := range s.matches {
			if m.Table == table.Shared {
				answer(from+m.Query, m.Key)
				continue
			}
			diff := s.perms[m.Table].Invert(m.Key ^ s.search[m.Table].Queries[m.Query])
			if s.design.First(diff) == m.Table {
				answer(from+m.Query, diff)
			}
		}
	}
	return nil
}

// loadTable reads the file that write writes into memory of huge pages, and removes it.
func loadTable(ctx context.Context, path string, write func(w *store.Writer) error) (*store.File, error) {
	w, err := store.Create(path, store.KindSegment, 1)
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	if err := write(w); err != nil {
		return nil, err
	}
	if err := w.Commit(); err != nil {
		return nil, err
	}
	defer os.Remove(path)
	return store.Load(ctx, nil, path, store.KindSegment, runtime.GOMAXPROCS(0))
}
