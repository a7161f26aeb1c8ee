package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"ndd/engine/storage/wal"
)

// BenchmarkWal appends records of 16 bytes to a write-ahead log from a number of callers, each of
// which waits for its acknowledgement before it goes on. Beside it stands the rate at which this
// disk syncs 4 KiB appended to a file: with always and one caller that is the limit, and each
// further caller shares the sync of the others. In the end the log is opened again, which checks
// that every record is there and says how long a million of them take.
//
// The expected cost: an append copies 20 bytes under a lock, some 20 ns; a batch of 64 callers is 1.3 KB,
// one checksum (0.3 us), one write (some us) and one sync.
func BenchmarkWal(b *testing.B) {
	b.Run("impl=fsync", func(b *testing.B) { diskSyncs(b) })
	for _, policy := range []wal.Sync{wal.Always, wal.Sync(100 * time.Millisecond), wal.Never} {
		for _, callers := range []int{1, 64} {
			b.Run(fmt.Sprintf("impl=wal/sync=%s/callers=%d", policy, callers), func(b *testing.B) { appendFrom(b, policy, callers) })
		}
	}
}

// diskSyncs appends pages to a file and syncs it after each.
func diskSyncs(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "f"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	page := make([]byte, 4096)
	for b.Loop() {
		if _, err := f.Write(page); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "syncs/s")
}

// appendFrom appends b.N records from so many callers, and opens the log again.
func appendFrom(b *testing.B, policy wal.Sync, callers int) {
	dir := b.TempDir()
	ignore := func(wal.Position, []byte) error { return nil }
	l, _, err := wal.Open(nil, dir, wal.Options{Sync: policy}, ignore)
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	var all sync.WaitGroup
	for c := range callers {
		all.Go(func() {
			record := make([]byte, 16)
			for i := c; i < b.N; i += callers {
				at, err := l.Append(record)
				if err == nil {
					err = l.Sync(b.Context(), at)
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "acks/s")
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	_, r, err := wal.Open(nil, dir, wal.Options{}, ignore)
	if err != nil || r.Records != uint64(b.N) || !r.Clean {
		b.Fatalf("%+v, %v", r, err)
	}
	b.ReportMetric(float64(r.Bytes)/float64(b.N), "B/record")
	b.ReportMetric(r.Duration.Seconds()*1e9/float64(b.N), "replay-ns/record")
}
