package live

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
)

var held = flag.Int("held", 1_000_000, "fingerprints that an index in memory holds before BenchmarkCheckAndInsert")

// BenchmarkCheckAndInsert inserts fingerprints that are near no other: in memory from one caller, one document or 64 in
// a call, and on disk from 64 callers, each of which waits until its document is synced.
func BenchmarkCheckAndInsert(b *testing.B) {
	for _, c := range []struct {
		name           string
		durable        bool
		callers, batch int
	}{{"memory/batch=1", false, 1, 1}, {"memory/batch=64", false, 1, 64}, {"durable/callers=64", true, 64, 1}} {
		b.Run(c.name, func(b *testing.B) {
			x := memoryIndex(b, Config{Design: halves(b), Table: planar})
			if c.durable {
				x, _ = makeIndex(b, Config{Design: halves(b), Table: planar}, OpenOptions{Write: true})
			} else {
				for part := range slices.Chunk(sets.Uniform(*held, 1), 1024) {
					docs := make([]rows.Doc, len(part))
					for i, f := range part {
						docs[i].Fingerprint = simhash.Fingerprint(f)
					}
					insert(b, x, docs...)
				}
			}
			b.ResetTimer()
			var next atomic.Uint64
			var callers sync.WaitGroup
			for range c.callers {
				callers.Go(func() {
					rng := rand.New(rand.NewPCG(next.Add(1), 9))
					docs := make([]rows.Doc, c.batch)
					for next.Add(uint64(c.batch)) <= uint64(b.N+c.callers) {
						for i := range docs {
							docs[i].Fingerprint = simhash.Fingerprint(rng.Uint64())
						}
						if _, err := x.CheckAndInsert(b.Context(), docs, 3, 1); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			callers.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "docs/s")
		})
	}
}

var logged = flag.Int("logged", 1_000_000, "documents in the log that BenchmarkRecover reads")

// BenchmarkRecover opens an index whose process ended with all its documents in the log, and an index that was closed.
// An index flushes a million documents at a time. Here it does not, and it holds at most eight million.
func BenchmarkRecover(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "index")
	must.Do(b, Create(dir, Config{Design: halves(b), Table: planar}))
	open := func() *Index {
		x := openFolder(b, dir, OpenOptions{Write: true, NoSync: true, simulation: simulation{noFlushes: true}})
		if s := x.Stats(); s.Documents != 0 && s.Documents != uint64(*logged) {
			b.Fatalf("%+v, want %d documents", s, *logged)
		}
		return x
	}
	x := open()
	for _, f := range sets.Uniform(*logged, 7) {
		insert(b, x, rows.Doc{Fingerprint: simhash.Fingerprint(f)})
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
}
