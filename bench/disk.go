package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/dustin/go-humanize"

	"ndd/engine/corpus/ndf"
	"ndd/engine/memory"
	"ndd/engine/near/scan"
	"ndd/engine/storage/disk"
	"ndd/engine/storage/store"
)

// scanDisk writes b.n fingerprints to a file, larger than memory where that is asked for, reads it,
// and streams it past b.queries queries through a mapping, as `ndd batch --scan` does. Half of the
// queries are made within the distance of one fingerprint each, and must find it; the first ones
// are compared with all fingerprints.
//
// Napkin, for 8e9 on two processors: 64 GB at 1 GB/s of disk are 64 s; the scan of package scan is
// 12 ns a fingerprint, 48 s, beside the reading.
func scanDisk(ctx context.Context, b *bench, r *Result) error {
	path := filepath.Join(b.dir, "fingerprints.bin")
	if err := b.needDisk(8 * uint64(b.n)); err != nil {
		return err
	}
	b.say("writing %s fingerprints", humanize.Comma(int64(b.n)))
	written, err := once(func() error { return writeGenerated(ctx, path, uint64(b.n)) })
	if err != nil {
		return err
	}
	b.say("reading them")
	began := processorTime().Seconds()
	read, err := once(func() error { return readFile(ctx, path) })
	if err != nil {
		return err
	}
	readCPU := processorTime().Seconds() - began

	queries, near := generatedQueries(uint64(b.n), b.queries)
	b.say("%s queries", humanize.Comma(int64(len(queries))))
	first := min(comparedQueries, len(queries))
	var got answer
	began = processorTime().Seconds()
	scanned, err := once(func() (err error) {
		got, err = b.scanFile(ctx, path, queries, near, first)
		return err
	})
	if err != nil {
		return err
	}
	scanCPU := processorTime().Seconds() - began
	b.say("comparing %d queries with all", first)
	if want := compareGenerated(ctx, uint64(b.n), queries[:first]); ctx.Err() == nil && got != want {
		return fmt.Errorf("the first queries found %v, comparing with all finds %v", got, want)
	}
	gigabytes := float64(8*b.n) / 1e9
	r.Columns = []string{"seconds", "GB/s", "of reading", "processor seconds", "M fingerprints/s"}
	r.row("writing the file", written, written.rate(gigabytes), number(written.Value/read.Value), word("-"), word("-"))
	r.row("reading the file", read, read.rate(gigabytes), number(1), number(readCPU), read.rate(float64(b.n)/1e6))
	r.row(humanize.Comma(int64(len(queries)))+" queries", scanned, scanned.rate(gigabytes),
		number(scanned.Value/read.Value), number(scanCPU), scanned.rate(float64(b.n)/1e6))
	r.note("k = %d; %d threads; one file of %s; what is held in memory by the system is not dropped in between",
		distance, runtime.GOMAXPROCS(0), humanize.Bytes(8*uint64(b.n)))
	r.note("verified: each query that was made within %d bits of a fingerprint finds it, and the first %d find what "+
		"comparing with all finds", distance, first)
	return ctx.Err()
}

// needDisk returns an error where the disk has not that many bytes free, and a gigabyte for what others
// write.
func (b *bench) needDisk(bytes uint64) error {
	bytes += 1 << 30
	if free, ok := (*disk.Disk)(nil).FreeBytes(b.dir); ok && free < bytes {
		return fmt.Errorf("%s has %s free, and %s fingerprints need %s: name another folder with --dir, or fewer with -n",
			b.dir, humanize.IBytes(free), humanize.Comma(int64(b.n)), humanize.IBytes(bytes))
	}
	return nil
}

// writeGenerated writes n fingerprints to a file.
func writeGenerated(ctx context.Context, path string, n uint64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 8<<20)
	prints := make([]uint64, 1<<18)
	threads := uint64(runtime.GOMAXPROCS(0))
	for from := uint64(0); from < n; from += uint64(len(prints)) {
		count := min(uint64(len(prints)), n-from)
		var wait sync.WaitGroup
		for t := range threads {
			wait.Go(func() {
				for i := count * t / threads; i < count*(t+1)/threads; i++ {
					prints[i] = generated(from + i)
				}
			})
		}
		wait.Wait()
		if _, err := w.Write(store.Bytes64(prints[:count])); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return errors.Join(w.Flush(), f.Sync())
}

// readFile reads a file from its beginning to its end.
func readFile(ctx context.Context, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	buffer := make([]byte, 8<<20)
	for {
		_, err := f.Read(buffer)
		switch {
		case errors.Is(err, io.EOF):
			return ctx.Err()
		case err != nil || ctx.Err() != nil:
			return errors.Join(err, ctx.Err())
		}
	}
}

// scanFile answers queries by a scan of a file, demands what they were made near, and returns the
// hits of the first ones.
func (b *bench) scanFile(ctx context.Context, path string, queries, near []uint64, first int) (a answer, err error) {
	f, err := ndf.OpenRaw(path)
	if err != nil {
		return a, err
	}
	defer f.Close()
	o := scan.Options{Temp: b.dir, Budget: memory.NewBudget(memory.Machine{}.Limit(0)), Fingerprints: f.Len()}
	p, err := scan.NewPlan(len(queries), distance, false, o)
	if err != nil {
		return a, err
	}
	found := make([]bool, len(queries))
	open := func() (scan.Source, error) { return scan.Slice(f.Fingerprints(), 0), nil }
	for h, err := range scan.Answer(ctx, open, queries, distance, p, o) {
		if err != nil {
			return a, err
		}
		if h.Query < uint64(first) {
			a.add(int(h.Query), h.Fingerprint)
		}
		if h.Fingerprint == near[h.Query] {
			found[h.Query] = true
		}
	}
	for i, f := range near {
		if f != 0 && !found[i] {
			return a, fmt.Errorf("query %d, %016x: the fingerprint that it was made near, %016x, was not found", i,
				queries[i], f)
		}
	}
	return a, nil
}
