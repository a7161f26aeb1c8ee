package live

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"

	"ndd/engine/corpus/simhash"
	"ndd/engine/index/live/rows"
	"ndd/engine/index/segment"
	"ndd/engine/oracle/must"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
	"ndd/engine/storage/wal"
)

var held = flag.Int("held", 1_000_000, "fingerprints that an index of a benchmark holds")

// ofSize returns an index in memory that holds so many fingerprints in one segment.
func ofSize(b *testing.B, n int) *Index {
	b.Helper()
	c := Config{Design: halves(b), Table: planar}
	s, err := heapSegment(segment.Input{Fingerprints: sets.Uniform(n, 1)},
		segment.Options{Design: c.Design, Table: c.Table})
	must.Do(b, err)
	x, err := New(c, s)
	must.Do(b, err)
	b.Cleanup(func() { x.Close() })
	return x
}

func heapSegment(in segment.Input, o segment.Options) (*segment.Segment, error) {
	var m store.Memory
	if err := segment.Write(context.Background(), &m, in, o); err != nil {
		return nil, err
	}
	return segment.Open(m.Source())
}

// BenchmarkCheckAndInsert inserts fingerprints that are near none, in batches of so many, with
// -cpu for the callers.
func BenchmarkCheckAndInsert(b *testing.B) {
	for _, batch := range []int{1, 64, 1024} {
		b.Run(fmt.Sprintf("held=%d/batch=%d", *held, batch), func(b *testing.B) {
			x := ofSize(b, *held)
			var seed atomic.Uint64
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				rng := rand.New(rand.NewPCG(seed.Add(1), 9))
				docs := make([]rows.Doc, 0, batch)
				insert := func() {
					if _, err := x.CheckAndInsert(context.Background(), docs, 3, 1); err != nil {
						b.Error(err)
					}
					docs = docs[:0]
				}
				for pb.Next() {
					if docs = append(docs, rows.Doc{Fingerprint: simhash.Fingerprint(rng.Uint64())}); len(docs) == batch {
						insert()
					}
				}
				insert()
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "docs/s")
			s := x.Stats()
			b.ReportMetric(float64(s.Segments), "segments")
			b.ReportMetric(float64(s.Buffered), "buffered")
		})
	}
}

// BenchmarkDurable does so with an index whose log is synced before each answer.
func BenchmarkDurable(b *testing.B) {
	for _, sync := range []wal.Sync{wal.Always, wal.Never} {
		b.Run(fmt.Sprintf("sync=%v/callers=64", sync), func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "index")
			create(b, dir, Config{Design: halves(b), Table: planar})
			x, err := Open(b.Context(), dir, OpenOptions{Write: true, Sync: sync})
			must.Do(b, err)
			defer x.Close()
			var seed atomic.Uint64
			b.SetParallelism(64)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				rng := rand.New(rand.NewPCG(seed.Add(1), 9))
				for pb.Next() {
					if _, err := x.CheckAndInsert(context.Background(),
						[]rows.Doc{{Fingerprint: simhash.Fingerprint(rng.Uint64())}}, 3, 1); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "docs/s")
		})
	}
}

var logged = flag.Int("logged", 1_000_000, "documents in the log that BenchmarkRecover reads")

// BenchmarkRecover opens an index whose process ended with all its documents in the log, and one
// that was stopped. An index flushes a million documents at a time, so that more than eight of them
// are in a log only where flushes fail, as they do here.
func BenchmarkRecover(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "index")
	create(b, dir, Config{Design: halves(b), Table: planar})
	open := func() *Index {
		x, err := Open(b.Context(), dir, OpenOptions{Write: true, Sync: wal.Never, flushDocs: neverFlush})
		must.Do(b, err)
		if s := x.Stats(); s.Documents != 0 && s.Documents != uint64(*logged) {
			b.Fatalf("%+v, want %d documents", s, *logged)
		}
		return x
	}
	x := open()
	docs := make([]rows.Doc, 1)
	for _, f := range sets.Uniform(*logged, 7) {
		docs[0].Fingerprint = simhash.Fingerprint(f)
		if _, err := x.Insert(b.Context(), docs); err != nil {
			b.Fatal(err)
		}
	}
	for _, stopped := range []bool{false, true} {
		b.Run(fmt.Sprintf("logged=%d/stopped=%t", *logged, stopped), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				end := x.end
				if stopped {
					end = x.Close
				}
				must.Do(b, end())
				b.StartTimer()
				x = open()
			}
		})
	}
	x.Close()
}
