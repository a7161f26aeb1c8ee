package dedup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strings"

	"ndd/engine/corpus/document"
	"ndd/engine/parallel"
)

// A Create creates a file of that name, which may have folders in it, and fills it.
type Create func(name string, fill func(w io.Writer) error) error

// A CopyReport says what became of files that could not be compared.
type CopyReport struct {
	Unjudged []string // copied as they are, because nothing of them could be compared
	Repacked []string // compressed by zstd instead of xz or bzip2
	Lost     []string // what could not be read and is in no copy, with the reason
}

// Copy reads the inputs again, counted by meter unless it is nil, and copies them without the
// documents that were dropped, several files at a time: create is called by several goroutines.
//
// JSONL, JSON, CSV, lines and WARC files are copied without the lines or records that can go, byte
// for byte, compressed as they were, in blocks of 2 MiB, WARC records each by itself; xz and bzip2, which nothing
// writes, become zstd. Lines that are no documents, or have too few features to be compared, stay,
// and so do WARC records of other types. Of Parquet files all columns of the rows that stay are
// copied, in order, with the encodings and compression that they had. A file that is one document
// is copied as it is if it is kept, and so is a file that could not be judged: that is no text, too
// long, or damaged from the beginning. Hidden files are not copied.
func (r *Result) Copy(ctx context.Context, names *Copies, meter *document.Meter, create Create) (CopyReport, error) {
	c := r.corpus
	if err := c.readable(); err != nil {
		return CopyReport{}, err
	}
	opts := c.options
	opts.Meter = cmp.Or(meter, &document.Meter{})
	dropped := r.droppedRows()
	var copiers []*copier // of the files, in order
	produce := func(ctx context.Context, yield func(*copier) bool) error {
		unit := 0
		for f, err := range document.Files(ctx, c.inputs) {
			if _, skipped := errors.AsType[*document.Skip](err); skipped {
				continue
			}
			if err != nil {
				return err
			}
			if len(copiers) == len(c.fileUnits) {
				return changed(strings.Join(c.inputs, ", "))
			}
			k := &copier{opts: opts, names: names, create: create, file: f}
			k.drops, k.end = r.dropper(k, dropped, unit, c.fileUnits[len(copiers)])
			unit += c.fileUnits[len(copiers)]
			copiers = append(copiers, k)
			if !yield(k) {
				return nil
			}
		}
		if len(copiers) < len(c.fileUnits) {
			return changed(strings.Join(c.inputs, ", "))
		}
		return nil
	}
	err := copyFiles(ctx, c.o.Threads, opts, produce)
	return reportOf(copiers), err
}

// dropper returns a function that finds out which units of a file are dropped, of which it has n
// from unit on, and one that checks that these came.
func (r *Result) dropper(k *copier, dropped bitmap, unit, n int) (drops func(document.Unit) (bool, error), end func() error) {
	c := r.corpus
	last, row := unit+n, int(c.rowAt(unit))-1
	drops = func(u document.Unit) (bool, error) {
		isRow := c.units.has(unit)
		if unit++; isRow {
			row++
		}
		if !isRow || !dropped.has(row) {
			return false, nil
		}
		if doc, err := k.extractor.Extract(u); err != nil || !c.same(Row(row), &doc) {
			return false, changed(c.ID(Row(row)))
		}
		return true, nil
	}
	return drops, func() error {
		if unit != last {
			return changed(k.file.Path)
		}
		return nil
	}
}

// copyFiles copies files, several at a time.
func copyFiles(ctx context.Context, threads int, opts document.Options, produce parallel.Produce[*copier]) error {
	packers, err := newPackers(threads, blockBytes)
	if err != nil {
		return err
	}
	return parallel.Each(ctx, parallel.Options{Workers: threads}, produce,
		func(ctx context.Context, files iter.Seq[*copier]) error {
			extractor := document.NewExtractor(opts)
			for k := range files {
				k.ctx, k.extractor, k.packers = ctx, extractor, packers
				if err := k.copy(); err != nil {
					return err
				}
			}
			return nil
		})
}

// reportOf returns what became of files, in order.
func reportOf(copiers []*copier) (all CopyReport) {
	for _, k := range copiers {
		all.Unjudged = append(all.Unjudged, k.report.Unjudged...)
		all.Repacked = append(all.Repacked, k.report.Repacked...)
		all.Lost = append(all.Lost, k.report.Lost...)
	}
	return all
}

// copier copies one file.
type copier struct {
	ctx       context.Context
	opts      document.Options
	names     *Copies
	create    Create
	packers   *packers
	drops     func(document.Unit) (bool, error) // is called with each unit in order
	end       func() error                      // is called after the last unit
	extractor *document.Extractor
	file      document.File
	report    CopyReport
}

// cut is a range of bytes that is left out.
type cut struct{ from, to int64 }

// copy copies the file without the dropped documents.
func (k *copier) copy() error {
	f := k.file
	defer k.opts.Meter.Begin(f)()
	x, err := k.scan(f)
	if err == nil {
		err = k.end()
	}
	if err != nil {
		return err
	}
	if x.units == 0 && x.lost {
		return k.unjudged(f)
	}
	again := k.opts
	again.Meter = nil // it has counted the file
	content, err := f.Open(k.ctx, again, x.gaps)
	if err != nil {
		if (f.Root != "" || errors.Is(err, document.ErrDamaged)) && k.ctx.Err() == nil {
			return k.unjudged(f)
		}
		return err
	}
	defer content.Close()
	switch {
	case content.Columns != nil && x.whole < math.MaxInt64: // what is behind the damage would be lost
		return k.unjudged(f)
	case content.Columns != nil && len(x.cuts) > 0:
		return k.write(f, "", func(w io.Writer) error { return copyColumns(w, content, x.rows) })
	case content.Columns != nil, !content.Rows && x.kept > 0:
		return k.write(f, "", func(w io.Writer) error { return f.Copy(k.ctx, w) })
	case !content.Rows:
		return nil
	}
	k.report.Lost = x.damage
	content.Reader = io.LimitReader(content.Reader, x.whole)
	ending, err := f.CopyPacking(k.ctx)
	if err != nil {
		return err
	}
	if ending != "" {
		k.report.Repacked = append(k.report.Repacked, f.Path)
	}
	return k.write(f, ending, func(w io.Writer) error {
		if !content.Members {
			x.starts = nil
		}
		if content.List {
			x.cuts = x.list()
		}
		return k.packers.without(k.ctx, w, content, x.cuts, x.starts)
	})
}

// write creates the copy of a file and fills it.
func (k *copier) write(f document.File, ending string, fill func(io.Writer) error) error {
	name, err := k.names.name(f, ending)
	if err != nil {
		return err
	}
	return k.create(name, func(w io.Writer) error {
		if err := fill(w); err != nil {
			return fmt.Errorf("copying %s: %w", f.Path, err)
		}
		return nil
	})
}

// unjudged copies a file of which nothing could be compared, as it is, if it can be opened.
func (k *copier) unjudged(f document.File) error {
	if err := f.CanOpen(k.ctx); err != nil {
		k.report.Lost = append(k.report.Lost, err.Error())
		return nil
	}
	k.report.Unjudged = append(k.report.Unjudged, f.Path)
	return k.write(f, "", func(w io.Writer) error { return f.Copy(k.ctx, w) })
}

// scanned is what a scan found in a file.
type scanned struct {
	units, kept int
	lost        bool           // something could not be read
	cuts        []cut          // to leave out
	rows        []int64        // of a Parquet file, from 1, to leave out
	starts      []int64        // of records that stay
	gaps        []document.Gap // where it is damaged and goes on
	whole       int64          // where it is damaged and does not
	damage      []string       // what of it cannot be read, in words

	values []cut // all units, and values of JSON that are none
	stays  int   // of these, up to the last that stays
}

// list returns the cuts of a JSON list: each dropped value up to the next one, and everything from
// the last value kept to the end of the last value, so that commas remain only between values.
func (x *scanned) list() (cuts []cut) {
	next := 0 // of x.cuts
	for i, v := range x.values[:x.stays] {
		if next < len(x.cuts) && x.cuts[next].from == v.from {
			next++
			cuts = append(cuts, cut{v.from, x.values[i+1].from})
		}
	}
	if x.stays < len(x.values) {
		from := x.values[x.stays].from
		if x.stays > 0 {
			from = x.values[x.stays-1].to
		}
		cuts = append(cuts, cut{from, x.values[len(x.values)-1].to})
	}
	return cuts
}

// scan finds out what of a file is to be left out.
func (k *copier) scan(f document.File) (x scanned, err error) {
	x.whole = math.MaxInt64
	for u, err := range f.Scan(k.ctx, k.opts, nil) {
		if skip, skipped := errors.AsType[*document.Skip](err); skipped {
			x.lost = x.lost || skip.Reason.LosesData()
			switch {
			case skip.ResumedAt > 0:
				x.gaps = append(x.gaps, document.Gap{At: skip.At, ResumedAt: skip.ResumedAt})
				x.damage = append(x.damage, skip.Error())
				continue // a record begins there that comes up itself
			case skip.To > skip.At: // of JSON
				x.values = append(x.values, cut{skip.At, skip.To})
				x.stays = len(x.values)
				continue
			case skip.Reason == document.Unreadable, skip.Reason == document.DamagedRows:
				x.whole = skip.At
				x.damage = append(x.damage, skip.Error())
			}
			x.starts = append(x.starts, skip.At)
			continue
		}
		if err != nil {
			return x, err
		}
		x.units++
		x.values = append(x.values, cut{u.From, u.To})
		drop, err := k.drops(u)
		if err != nil {
			return x, err
		}
		if !drop {
			x.kept++
			x.stays = len(x.values)
			x.starts = append(x.starts, u.From)
			continue
		}
		x.cuts = append(x.cuts, cut{u.From, u.To})
		x.rows = append(x.rows, int64(u.Line))
	}
	return x, nil
}
