package live

import (
	"flag"
	"fmt"
	"path/filepath"
	"testing"

	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/index/live/rows"
	"example.org/ndd/engine/oracle/must"
	"example.org/ndd/engine/oracle/sets"
)

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
