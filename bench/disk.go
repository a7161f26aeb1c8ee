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

	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/memory"
	"ndd/engine/storage/disk"
)

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
	bytes += bytes/500 + 1<<30 // the checksums, and a gigabyte for what others write
	if free, ok := (*disk.Disk)(nil).FreeBytes(b.dir); ok && free < bytes {
		return fmt.Errorf("%s has %s free, and %s fingerprints need %s: name another folder with --dir, or fewer with -n",
			b.dir, humanize.IBytes(free), humanize.Comma(int64(b.n)), humanize.IBytes(bytes))
	}
	limit := memory.Machine{}.Limit(0).Bytes
	if unary+lines > limit/2 {
		return fmt.Errorf("%s of memory may be used, and %s fingerprints need %s: name fewer with -n",
			humanize.IBytes(limit), humanize.Comma(int64(n)), humanize.IBytes(2*(unary+lines)))
	}
	var files sources
	defer files.close()
	batch, size := newGeneratedBatch(n, b.queries), uint64(0)
	r.Columns = []string{"seconds", "GB/s", "of reading", "processor seconds", "M fingerprints/s"}
	steps := []struct {
		name            string
		run             func() error
		took, processor float64
	}{
		{name: "building two tables", run: func() error {
			return b.buildGenerated(ctx, &files, n, parts(n, limit/2-unary), false)
		}},
		{name: "reading the files", run: func() error {
			for _, f := range files {
				size += f.Bytes()
				if err := readFile(ctx, f.Path()); err != nil {
					return err
				}
			}
			return nil
		}},
		{name: humanize.Comma(int64(b.queries)) + " queries", run: func() error { return sweep(ctx, files, batch) }},
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
	for _, s := range steps {
		r.row(s.name, s.took, float64(size)/1e9/s.took, s.took/steps[1].took, s.processor, float64(b.n)/1e6/s.took)
	}
	r.note("k = %d; %d threads; %s in files, %s bytes a fingerprint, %.1f times the memory that may be used; %s hits",
		distance, runtime.GOMAXPROCS(0), humanize.Bytes(size), short(float64(size)/float64(n)), float64(size)/float64(limit),
		humanize.Comma(int64(batch.hits)))
	return batch.verify(ctx, n, r)
}

// sweep answers a batch of sorted queries from the segment in files.
func sweep(ctx context.Context, files sources, batch *generatedBatch) error {
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
