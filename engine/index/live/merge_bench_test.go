package live

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"ndd/engine/corpus/ndf"
	"ndd/engine/index/segment"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
)

var (
	merged  = flag.Int("merged", 2_000_000, "documents that BenchmarkMerge merges")
	mergers = flag.Int("mergers", 1, "threads that BenchmarkMerge merges with")
)

// BenchmarkMerge merges a built segment of most documents with three of a twentieth of them each,
// by one thread or, with -mergers, by more.
func BenchmarkMerge(b *testing.B) {
	prints := sets.Uniform(*merged, 1)
	raw := func(name string, prints []uint64) []*ndf.File {
		path := filepath.Join(b.TempDir(), name)
		noError(b, os.WriteFile(path, store.Bytes64(prints), 0o600))
		f, err := ndf.Open(path)
		noError(b, err)
		b.Cleanup(func() { f.Close() })
		return []*ndf.File{f}
	}
	part := *merged / 20
	base := raw("base.bin", prints[3*part:])
	added := [][]*ndf.File{raw("0.bin", prints[:part]), raw("1.bin", prints[part:2*part]),
		raw("2.bin", prints[2*part:3*part])}
	o := BuildOptions{Options: segment.Options{Design: halves(b), Table: planar}}
	for range b.N {
		b.StopTimer()
		dir := filepath.Join(b.TempDir(), "index")
		noError(b, Build(b.Context(), dir, base, o))
		x, err := Open(b.Context(), dir, OpenOptions{Write: true, Sync: -1})
		noError(b, err)
		x.upkeep.merging.Lock() // none in the background
		for _, files := range added {
			noError(b, x.Add(b.Context(), files, o))
		}
		x.upkeep.merging.Unlock()
		b.StartTimer()
		noError(b, x.Merge(b.Context(), *mergers))
		b.StopTimer()
		noError(b, x.Close())
		os.RemoveAll(dir)
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/float64(*merged), "ns/document")
}
