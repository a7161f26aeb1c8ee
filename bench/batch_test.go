package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ndd/engine"
	"ndd/engine/corpus/ndf"
	"ndd/engine/corpus/simhash"
	"ndd/engine/index/segment"
	"ndd/engine/memory"
	"ndd/engine/near/scan"
	"ndd/engine/oracle"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
	"ndd/permute"
)

// BenchmarkBatch answers the same queries with an index of two tables, one by one and as a
// batch, and by a scan of the fingerprints without an index, each on one thread, k = 3. All three
// must give the same answers. Figures:
//
//	of-single       time of the batch divided by the time of single queries; the goal is 0.6
//	Mfp/s           million fingerprints per second of the scan, including sorting hits; the goal is 60 for a million queries
//	of-memory-read  time of the scan divided by the time of reading the fingerprints once
//
// NDD_BASE and NDD_QUERIES are files of little-endian uint64; without them there are 4 M
// fingerprints and 200,000 queries.
func BenchmarkBatch(b *testing.B) {
	base, queries := batchInput(b)
	x := batchIndex(b, base)
	prints := base.Fingerprints()

	var single time.Duration
	var want, hits uint64
	b.Run("way=single", func(b *testing.B) {
		for b.Loop() {
			want = 0
			began := time.Now()
			for i, q := range queries {
				list, err := x.Query(b.Context(), simhash.Fingerprint(q), 3, 0)
				if err != nil {
					b.Fatal(err)
				}
				for _, h := range list {
					want += oracle.Term(i, uint64(h.Fingerprint))
				}
			}
			single = time.Since(began)
		}
		b.ReportMetric(float64(single.Nanoseconds())/float64(len(queries)), "ns/query")
	})
	b.Run("way=batch", func(b *testing.B) {
		var took time.Duration
		for b.Loop() {
			sum := uint64(0)
			began := time.Now()
			err := x.Batch(context.Background(), simhash.Fingerprints(queries), engine.BatchOptions{K: 3, Threads: 1}, func(query int, hits []engine.Hit) error {
				for _, h := range hits {
					sum += oracle.Term(query, uint64(h.Fingerprint))
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			took = time.Since(began)
			if sum != want {
				b.Fatalf("checksum %x, want %x", sum, want)
			}
		}
		b.ReportMetric(float64(took.Nanoseconds())/float64(len(queries)), "ns/query")
		b.ReportMetric(took.Seconds()/single.Seconds(), "of-single")
	})
	b.Run("way=scan", func(b *testing.B) {
		var took time.Duration
		for b.Loop() {
			sum := uint64(0)
			hits = 0
			began := time.Now()
			o := scan.Options{Threads: 1, Temp: b.TempDir(), Budget: memory.NewBudget(memory.Set(8 << 30)), Fingerprints: uint64(len(prints))}
			s, err := scan.NewPlan(len(queries), 3, false, o)
			if err != nil {
				b.Fatal(err)
			}
			var last scan.Hit
			for h, err := range scan.Answer(context.Background(), func() (scan.Source, error) { return scan.Slice(prints, 0), nil }, queries, 3, s, o) {
				if err != nil {
					b.Fatal(err)
				}
				if hits++; hits == 1 || h.Query != last.Query || h.Fingerprint != last.Fingerprint {
					sum += oracle.Term(int(h.Query), h.Fingerprint)
				}
				last = h
			}
			took = time.Since(began)
			if sum != want {
				b.Fatalf("checksum %x, want %x", sum, want)
			}
		}
		b.ReportMetric(float64(len(prints))/took.Seconds()/1e6, "Mfp/s")
		b.ReportMetric(took.Seconds()/(float64(8*len(prints))/machineMemory().ReadGBps/1e9), "of-memory-read")
	})
}

// batchInput returns the fingerprints, as a file, and the queries.
func batchInput(b *testing.B) (*ndf.File, []uint64) {
	b.Helper()
	open := func(path string) *ndf.File {
		f, err := ndf.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { f.Close() })
		return f
	}
	if path := os.Getenv("NDD_BASE"); path != "" {
		return open(path), open(os.Getenv("NDD_QUERIES")).Fingerprints()
	}
	base, queries := sets.Planted(4_000_000, 200_000)
	path := filepath.Join(b.TempDir(), "base.bin")
	if err := os.WriteFile(path, store.Bytes64(base), 0o644); err != nil {
		b.Fatal(err)
	}
	return open(path), queries
}

// batchIndex returns an index of two tables, read into memory.
func batchIndex(b *testing.B, base *ndf.File) *engine.Index {
	b.Helper()
	halves, err := permute.Named("halves", 3, 1)
	if err != nil {
		b.Fatal(err)
	}
	dir := os.Getenv("NDD_INDEX") // kept for the next run
	if dir == "" {
		dir = filepath.Join(b.TempDir(), "index")
	}
	if _, err := os.Stat(dir); err != nil {
		if err := engine.Build(context.Background(), dir, []*ndf.File{base}, engine.BuildOptions{Options: segment.Options{Design: halves}}); err != nil {
			b.Fatal(err)
		}
	}
	x, err := engine.Open(context.Background(), dir, engine.OpenOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { x.Close() })
	if n := x.Stats().Documents; n != base.Len() {
		b.Fatalf("the index has %d documents, want %d", n, base.Len())
	}
	return x
}
