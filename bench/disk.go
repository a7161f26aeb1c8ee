package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/dustin/go-humanize"

	"example.org/ndd/engine/index/segment"
	"example.org/ndd/engine/index/table"
	"example.org/ndd/engine/memory"
	"example.org/ndd/engine/storage/disk"
	"example.org/ndd/engine/storage/store"
)

// indexDisk builds two planar tables of b.n fingerprints in a file, which may be larger than memory. It first reads the
// whole file, for comparison. Then it answers b.queries sorted queries through a mapping, as `ndd batch` does with an
// index larger than memory. Sorted keys that do not fit in memory are in a temporary file, 8 bytes each.
func indexDisk(ctx context.Context, b *bench, r *Result) error {
	n := uint64(b.n)
	model, err := foretold(ctx, n, generatedDesign, table.LayoutPlanar)
	if err != nil {
		return err
	}
	limit := memory.Machine{}.Limit(0).Bytes
	build, err := segment.NewPlan(n, b.generatedOptions())
	if err != nil {
		return fmt.Errorf("%w: name fewer with -n", err)
	}
	bytes := model.TableBytes + model.TableBytes/500 + 1<<30 // checksums, and a gigabyte for other programs
	if build.External {
		bytes += 8 * n
	}
	if free, ok := (*disk.Disk)(nil).FreeBytes(b.dir); ok && free < bytes {
		return fmt.Errorf("%s has %s free, and %s fingerprints need %s: name another folder with --dir, or fewer with -n",
			b.dir, humanize.IBytes(free), humanize.Comma(int64(b.n)), humanize.IBytes(bytes))
	}
	var path string
	batch := newGeneratedBatch(n, b.queries)
	r.Columns = []string{"seconds", "GB/s", "of reading", "processor seconds", "M fingerprints/s"}
	steps := []struct {
		name            string
		run             func() error
		took, processor float64
	}{
		{name: "building two tables", run: func() (err error) {
			path, err = b.buildGenerated(ctx, n)
			return err
		}},
		{name: "reading the file", run: func() error { return readFile(ctx, path) }},
		{name: humanize.Comma(int64(b.queries)) + " queries", run: func() error { return sweep(ctx, path, batch) }},
	}
	for i := range steps {
		s := &steps[i]
		b.say("%s", s.name)
		began, used := time.Now(), processorTime()
		if err := s.run(); err != nil {
			return err
		}
		s.took, s.processor = time.Since(began).Seconds(), (processorTime() - used).Seconds()
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	size := uint64(info.Size())
	for _, s := range steps {
		r.row(s.name, s.took, float64(size)/1e9/s.took, s.took/steps[1].took, s.processor, float64(b.n)/1e6/s.took)
	}
	r.note("k = %d; %d threads; %s in a file, %s bytes a fingerprint, %.1f times the memory that may be used; %s hits",
		distance, runtime.GOMAXPROCS(0), humanize.Bytes(size), short(float64(size)/float64(n)), float64(size)/float64(limit),
		humanize.Comma(int64(batch.hits)))
	return batch.verify(ctx, n, r)
}

// sweep answers a batch of sorted queries from the segment in a file.
func sweep(ctx context.Context, path string, batch *generatedBatch) error {
	file, err := store.Open(path, store.KindSegment)
	if err != nil {
		return err
	}
	defer file.Close()
	file.AdviseRandom()
	s, err := segment.Open(file)
	if err != nil {
		return err
	}
	defer s.Close()
	found, err := s.Sweep(ctx, batch.queries, distance, runtime.GOMAXPROCS(0), 1<<26)
	if err != nil {
		return err
	}
	for i := range batch.queries {
		for _, fingerprint := range found.Of(i) {
			batch.add(i, fingerprint)
		}
	}
	return nil
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
