package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"ndd/engine"
	"ndd/engine/index/segment"
	"ndd/engine/index/table"
	"ndd/engine/oracle/sets"
	"ndd/engine/storage/store"
	"ndd/permute"
)

// mapped asks single queries of an index whose files are mapped: first when no page of them is in memory, as
// all of an index far larger than memory is, then again when what they need is there, and last of the
// same index read into memory. The difference divided by the page faults is what one costs.
//
// Napkin, two tables: a probe of the planar layout reads a directory entry and a bucket, each in a page of its own. A
// query makes 50 probes, but most of them end in a directory that is small: some 2 pages a probe of those that
// remain. A page of 4 KiB from an NVMe disk takes 80 us, so a cold query takes milliseconds where a warm one takes two
// microseconds: an index larger than memory answers, but a thousand times slower. Where it is small less is measured: the system reads
// around each page that is missing, and after a few faults all is there (record: 10 million, a hundred times slower).
func mapped(ctx context.Context, b *bench, r *Result) error {
	dir, remove, err := b.folder("mapped")
	if err != nil {
		return err
	}
	defer remove()
	base, queries := sets.Planted(b.n, b.queries)
	queries = queries[:min(coldQueries, len(queries))]
	path, index := filepath.Join(dir, "base.bin"), filepath.Join(dir, "index")
	if err := os.WriteFile(path, store.Bytes64(base), 0o644); err != nil {
		return err
	}
	design, err := permute.Named("halves", distance, 1)
	if err != nil {
		return err
	}
	x, err := buildIndex(ctx, index, path, segment.Options{Design: design, Table: table.Options{Layout: table.LayoutPlanar}})
	if err != nil {
		return err
	}
	defer x.Close()
	if err := verifyIndex(ctx, x, base, queries[:min(50, len(queries))]); err != nil {
		return err
	}
	loaded, faults, err := askOnce(ctx, x, queries)
	if err != nil {
		return err
	}
	if err := x.Close(); err != nil {
		return err
	}
	r.Columns = []string{"us a query", "page faults a query", "us a fault"}
	r.row("in memory", loaded, number(faults), word("-"))
	cold, warm := make([]float64, b.rounds), make([]float64, b.rounds)
	var coldFaults, warmFaults float64
	bytes := int64(0)
	for i := range b.rounds {
		b.say("mapped, round %d", i+1)
		size, err := dropPages(index)
		if err != nil {
			return err
		}
		bytes = size
		x, err := engine.Open(ctx, index, engine.OpenOptions{Verify: engine.VerifyFast})
		if err != nil {
			return err
		}
		var c, w Cell
		if c, coldFaults, err = askOnce(ctx, x, queries); err == nil {
			w, warmFaults, err = askOnce(ctx, x, queries)
		}
		x.Close()
		if err != nil {
			return err
		}
		cold[i], warm[i] = c.Value, w.Value
	}
	c, w := median(cold), median(warm)
	r.row("mapped, nothing in memory", c, number(coldFaults), number((c.Value-w.Value)/coldFaults))
	r.row("mapped, asked again", w, number(warmFaults), word("-"))
	r.note("%s fingerprints in two planar tables, %s in files; %d queries, one at a time on one thread, k = %d", humanize.Comma(int64(b.n)), humanize.IBytes(uint64(bytes)), len(queries), distance)
	r.note("verified: the first queries find what a linear scan finds; page faults are those that wait for the disk (major)")
	return nil
}

// coldQueries are few: each waits for the disk.
const coldQueries = 300

// askOnce asks queries and returns the microseconds and the page faults of one.
func askOnce(ctx context.Context, x *engine.Index, queries []uint64) (took Cell, faults float64, err error) {
	before := pageFaults()
	took, err = rounds(1, func() error { return ask(ctx, x, queries, 0, len(queries)) })
	n := float64(len(queries))
	return took.scale(1e6 / n), float64(pageFaults()-before) / n, err
}

// dropFile has the system forget what it holds in memory of a file. Only Linux can be asked: elsewhere what is in
// memory stays there, and no page fault is seen.
var dropFile = func(*os.File) error { return nil }

// dropPages has the system forget what it holds in memory of a folder's files, which are not mapped, and returns
// their size.
func dropPages(dir string) (size int64, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		f, err := os.Open(filepath.Join(dir, e.Name()))
		if err != nil {
			return 0, err
		}
		info, err := f.Stat()
		if err == nil {
			size += info.Size()
			err = f.Sync() // pages that are to be written cannot be dropped
		}
		if err == nil {
			err = dropFile(f)
		}
		f.Close()
		if err != nil {
			return 0, err
		}
	}
	return size, nil
}
