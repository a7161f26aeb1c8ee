package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/dustin/go-humanize"

	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/memory"
	"ndd/engine/storage/store"
)

// indexDisk makes two planar tables of b.n fingerprints in files, larger than memory where that is
// asked for, and answers b.queries sorted queries through a mapping, as `ndd batch` does with an index
// larger than memory. It reads the files whole before, for comparison.
//
// Keys are made, sorted and packed a range at a time, and written before the next
// range. In memory are a range, and the unary bits of a table while it is built.
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
	began := processorTime().Seconds()
	built, err := once(func() error {
		return b.buildFiles(ctx, &files, n, parts(n, limit/2-unary))
	})
	if err != nil {
		return err
	}
	buildCPU := processorTime().Seconds() - began
	b.say("reading %s of index", humanize.Bytes(bytes))
	size, began := uint64(0), processorTime().Seconds()
	read, err := once(func() error {
		for _, f := range files {
			size += f.Bytes()
			if err := readFile(ctx, f.Path()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	readCPU := processorTime().Seconds() - began

	queries, near := generatedQueries(n, b.queries)
	b.say("%s queries", humanize.Comma(int64(len(queries))))
	s, err := segment.Open(files)
	if err != nil {
		return err
	}
	defer s.Close()
	var found *segment.Found
	began = processorTime().Seconds()
	swept, err := once(func() (err error) {
		found, err = s.Sweep(ctx, queries, distance, runtime.GOMAXPROCS(0), 1<<26)
		return err
	})
	if err != nil {
		return err
	}
	sweptCPU := processorTime().Seconds() - began
	if err := b.verifyFound(ctx, found, queries, near); err != nil {
		return err
	}
	gigabytes := float64(size) / 1e9
	r.Columns = []string{"seconds", "GB/s", "of reading", "processor seconds", "M fingerprints/s"}
	row := func(name string, seconds Cell, cpu float64) {
		r.row(name, seconds, seconds.rate(gigabytes), number(seconds.Value/read.Value), number(cpu),
			seconds.rate(float64(n)/1e6))
	}
	row("building two tables", built, buildCPU)
	row("reading the files", read, readCPU)
	row(humanize.Comma(int64(len(queries)))+" queries", swept, sweptCPU)
	r.note("k = %d; %d threads; %s in files, %s bytes a fingerprint, %.1f times the memory that may be used; %s hits",
		distance, runtime.GOMAXPROCS(0), humanize.Bytes(size), short(float64(size)/float64(n)), float64(size)/float64(limit),
		humanize.Comma(int64(found.Len())))
	r.note("verified: each query that was made within %d bits of a fingerprint finds it, and the first %d find what "+
		"comparing with all finds", distance, min(comparedQueries, len(queries)))
	return nil
}

// buildFiles makes the tables of a segment without documents and opens them: of each table the low bits in
// one file, and all else in another.
func (b *bench) buildFiles(ctx context.Context, files *sources, n, parts uint64) error {
	for i := range generatedDesign.Tables {
		b.say("table %d: %s fingerprints in %d ranges", i+1, humanize.Comma(int64(n)), parts)
		prefix := segment.TablePrefix(i)
		low, err := store.Create(filepath.Join(b.dir, prefix+"low"), store.KindSegment, 1)
		if err != nil {
			return err
		}
		defer low.Abort()
		rest, err := store.Create(filepath.Join(b.dir, prefix+"rest"), store.KindSegment, 1)
		if err != nil {
			return err
		}
		defer rest.Abort()
		if i == 0 {
			head, err := json.Marshal(map[string]any{"design": generatedDesign, "layout": table.LayoutPlanar, "fingerprints": n,
				"documents": n, "noDocuments": true})
			if err != nil {
				return err
			}
			rest.Section("segment")
			if _, err := rest.Write(head); err != nil {
				return err
			}
		}
		low.Section(prefix + "low")
		rest.Section(prefix + "rest")
		builder, err := table.NewPlanarBuilder(n)
		if err != nil {
			return err
		}
		defer builder.Free()
		err = packGenerated(ctx, builder, n, i, parts, func(room *memory.Buffer[uint64]) error {
			defer room.Free()
			return builder.Flush(low, rest)
		})
		if err == nil {
			err = builder.Write(rest, prefix, runtime.GOMAXPROCS(0))
		}
		if err != nil {
			return err
		}
		builder.Free()
		for _, w := range []*store.Writer{low, rest} {
			if err := w.Commit(); err != nil {
				return err
			}
		}
		for _, name := range []string{"low", "rest"} {
			if err := files.open(filepath.Join(b.dir, prefix+name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// verifyFound demands what queries were made near, and of the first ones what comparing with every
// fingerprint finds.
func (b *bench) verifyFound(ctx context.Context, found *segment.Found, queries, near []uint64) error {
	for i, f := range near {
		times := 0
		for _, print := range found.Of(i) {
			if print == f {
				times++
			}
		}
		if f != 0 && times != 1 {
			return fmt.Errorf("query %d, %016x: the fingerprint that it was made near, %016x, was found %d times", i,
				queries[i], f, times)
		}
	}
	first := min(comparedQueries, len(queries))
	b.say("comparing %d queries with all", first)
	var got answer
	for i := range first {
		for _, print := range found.Of(i) {
			got.add(i, print)
		}
	}
	if want := compareGenerated(ctx, uint64(b.n), queries[:first]); ctx.Err() == nil && got != want {
		return fmt.Errorf("the first queries found %v, comparing with all finds %v", got, want)
	}
	return ctx.Err()
}

// sources are the files of one segment.
type sources []*store.File

func (s *sources) open(path string) error {
	f, err := store.Open(path, store.KindSegment)
	if err == nil {
		f.Scattered()
		*s = append(*s, f)
	}
	return err
}

func (s *sources) close() {
	for _, f := range *s {
		f.Close()
	}
}

// Section returns the section of the file that has it.
func (s sources) Section(name string) (section store.Section, err error) {
	for _, f := range s {
		if section, err = f.Section(name); err == nil {
			break
		}
	}
	return section, err
}

// ReadAhead is [store.File.ReadAhead] of all files.
func (s sources) ReadAhead() (end func()) {
	var ends []func()
	for _, f := range s {
		ends = append(ends, f.ReadAhead())
	}
	return func() {
		for _, end := range ends {
			end()
		}
	}
}
