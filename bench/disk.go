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
	"ndd/engine/index/segment"
	"ndd/engine/index/table"
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
	n := uint64(b.n)
	if err := b.needDisk(8 * n); err != nil {
		return err
	}
	batch := newGeneratedBatch(n, b.queries)
	size := 8 * n
	err := b.onDisk(ctx, r, "writing the file", func() ([]string, error) {
		return []string{path}, writeGenerated(ctx, path, n)
	}, &size, func() error { return b.scanFile(ctx, path, batch) })
	if err != nil {
		return err
	}
	r.note("k = %d; %d threads; one file of %s; what is held in memory by the system is not dropped in between",
		distance, runtime.GOMAXPROCS(0), humanize.Bytes(8*n))
	return batch.verify(ctx, n, r)
}

// onDisk measures how long it takes to create files, to read them and to answer the queries. size is that of the
// files once they are there.
func (b *bench) onDisk(ctx context.Context, r *Result, creating string, create func() ([]string, error), size *uint64,
	answer func() error) error {
	r.Columns = []string{"seconds", "GB/s", "of reading", "processor seconds", "M fingerprints/s"}
	var files []string
	steps := []struct {
		name      string
		run       func() error
		took      Cell
		processor float64
	}{
		{name: creating, run: func() (err error) { files, err = create(); return err }},
		{name: "reading the files", run: func() error {
			for _, path := range files {
				if err := readFile(ctx, path); err != nil {
					return err
				}
			}
			return nil
		}},
		{name: humanize.Comma(int64(b.queries)) + " queries", run: answer},
	}
	for i := range steps {
		s := &steps[i]
		b.say("%s", s.name)
		began := processorTime().Seconds()
		var err error
		if s.took, err = once(s.run); err != nil {
			return err
		}
		s.processor = processorTime().Seconds() - began
	}
	for _, s := range steps {
		r.row(s.name, s.took, s.took.rate(float64(*size)/1e9), number(s.took.Value/steps[1].took.Value),
			number(s.processor), s.took.rate(float64(b.n)/1e6))
	}
	return nil
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

// scanFile answers queries by a scan of a file.
func (b *bench) scanFile(ctx context.Context, path string, batch *generatedBatch) error {
	f, err := ndf.OpenRaw(path)
	if err != nil {
		return err
	}
	defer f.Close()
	o := scan.Options{Temp: b.dir, Budget: memory.NewBudget(memory.Machine{}.Limit(0)), Fingerprints: f.Len()}
	p, err := scan.NewPlan(len(batch.queries), distance, false, o)
	if err != nil {
		return err
	}
	open := func() (scan.Source, error) { return scan.Slice(f.Fingerprints(), 0), nil }
	for h, err := range scan.Answer(ctx, open, batch.queries, distance, p, o) {
		if err != nil {
			return err
		}
		batch.add(int(h.Query), h.Fingerprint)
	}
	return nil
}

// indexDisk makes two planar tables of b.n fingerprints in files, larger than memory where that is
// asked for, and answers b.queries sorted queries through a mapping, as `ndd batch` does with an index
// larger than memory. It reads the files whole before, for comparison.
//
// Napkin, for 8e9, 24 GiB and two processors: 16 s a table to make them at 4 ns, 40 s to sort them and
// 30 s to pack them; 68 GB at 0.7 GB/s of disk 97 s beside that. The queries read nearly every page of
// the lines and of the low bits, 39 of the 68 GB.
func indexDisk(ctx context.Context, b *bench, r *Result) error {
	n := uint64(b.n)
	bucketBits, perLine := table.PlanarWidths(n)
	lines, unary := 64*table.PlanarLines(bucketBits, perLine), (1<<bucketBits+n)/8
	bytes := uint64(len(generatedDesign.Tables)) * (2*n + n*uint64(48-bucketBits)/8 + lines + n/128)
	if err := b.needDisk(bytes + bytes/500); err != nil { // and the checksums
		return err
	}
	limit := memory.Machine{}.Limit(0).Bytes
	if unary+lines > limit/2 {
		return fmt.Errorf("%s of memory may be used, and %s fingerprints need %s: name fewer with -n",
			humanize.IBytes(limit), humanize.Comma(int64(n)), humanize.IBytes(2*(unary+lines)))
	}
	var files sources
	defer files.close()
	batch, size := newGeneratedBatch(n, b.queries), uint64(0)
	err := b.onDisk(ctx, r, "building two tables", func() (paths []string, err error) {
		err = b.buildGenerated(ctx, &files, n, parts(n, limit/2-unary), false)
		for _, f := range files {
			paths, size = append(paths, f.Path()), size+f.Bytes()
		}
		return paths, err
	}, &size, func() error {
		s, err := segment.Open(files)
		if err != nil {
			return err
		}
		defer s.Close()
		found, err := s.Sweep(ctx, batch.queries, distance, runtime.GOMAXPROCS(0), 1<<26)
		if err != nil {
			return err
		}
		for i := range batch.queries {
			for _, print := range found.Of(i) {
				batch.add(i, print)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.note("k = %d; %d threads; %s in files, %s bytes a fingerprint, %.1f times the memory that may be used; %s hits",
		distance, runtime.GOMAXPROCS(0), humanize.Bytes(size), short(float64(size)/float64(n)), float64(size)/float64(limit),
		humanize.Comma(int64(batch.hits)))
	return batch.verify(ctx, n, r)
}
