package dedup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"ndd/engine/corpus/document"
)

// A Create creates a file of that name, which may have folders in it, and fills it.
type Create func(name string, fill func(w io.Writer) error) error

// Copy reads the inputs again and copies them without what was dropped.
//
// JSONL, CSV and WARC files are copied without the lines or records that can go, byte
// for byte, compressed as they were, WARC records each by itself; lines that are no
// documents, or have too few features to be compared, stay, and so do WARC records
// of other types. A file that is one document is copied as
// it is if it is kept. Files that hold no documents are not copied.
func (r *Result) Copy(ctx context.Context, names *Copies, meter *document.Meter, create Create) error {
	c := r.corpus
	if err := c.readable(); err != nil {
		return err
	}
	opts := c.options
	opts.Meter = meter
	k := &copier{ctx: ctx, corpus: c, opts: opts, dropped: r.droppedRows(), extractor: document.NewExtractor(opts), row: -1}
	for f, err := range document.Files(ctx, c.inputs) {
		if _, skipped := errors.AsType[*document.Skip](err); skipped {
			continue
		}
		if err != nil {
			return err
		}
		if err := k.file(f, names, create); err != nil {
			return err
		}
	}
	if k.unit != c.scanned {
		return changed(strings.Join(c.inputs, ", "))
	}
	return nil
}

// copier is the state of one Copy.
type copier struct {
	ctx       context.Context
	corpus    *Corpus
	opts      document.Options
	dropped   bitmap
	extractor *document.Extractor
	unit, row int // counted so far
}

// cut is a range of bytes that is left out.
type cut struct{ from, to int64 }

// file copies a file without what was dropped.
func (k *copier) file(f document.File, names *Copies, create Create) error {
	x, err := k.scan(f)
	if err != nil {
		return err
	}
	content, err := f.Open(k.ctx, k.corpus.options, x.gaps)
	if err != nil {
		if (f.Root != "" || errors.Is(err, document.ErrDamaged)) && k.ctx.Err() == nil {
			return nil // unreadable, as the first time
		}
		return err
	}
	defer content.Close()
	content.Reader = io.LimitReader(content.Reader, x.whole)
	if !content.Rows && (x.units == 0 || x.kept == 0) {
		return nil
	}
	name, err := names.name(f)
	if err != nil {
		return err
	}
	return create(name, func(w io.Writer) error {
		if !content.Rows {
			return copyFile(w, f.Path)
		}
		if !content.Members {
			x.starts = nil
		}
		if content.List {
			x.cuts = x.list()
		}
		if err := without(w, content, x.cuts, x.starts); err != nil {
			return fmt.Errorf("copying %s: %w", f.Path, err)
		}
		return nil
	})
}

// scanned is what a scan found in a file.
type scanned struct {
	units, kept int
	cuts        []cut          // to leave out
	starts      []int64        // of records that stay
	gaps        []document.Gap // where it is damaged and goes on
	whole       int64          // where it is damaged and does not

	values []cut // all units
	stays  int   // units up to the last that stays
}

// list returns what to leave out of JSON: a value with what lies between it and the next one, and what follows the last value that stays, up
// to the end of the last value, so that commas are only between values.
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
			switch {
			case skip.ResumedAt > 0:
				x.gaps = append(x.gaps, document.Gap{At: skip.At, ResumedAt: skip.ResumedAt})
				continue // a record begins there that comes up itself
			case skip.Reason == document.Unreadable:
				x.whole = skip.At
			}
			x.starts = append(x.starts, skip.At)
			continue
		}
		if err != nil {
			return x, err
		}
		x.units++
		isRow := k.corpus.units.has(k.unit)
		if k.unit++; isRow {
			k.row++
		}
		x.values = append(x.values, cut{u.From, u.To})
		if !isRow || !k.dropped.has(k.row) {
			x.kept++
			x.stays = len(x.values)
			x.starts = append(x.starts, u.From)
			continue
		}
		if doc, err := k.extractor.Extract(u); err != nil || !k.corpus.same(uint32(k.row), &doc) {
			return x, changed(k.corpus.ID(uint32(k.row)))
		}
		x.cuts = append(x.cuts, cut{u.From, u.To})
	}
	return x, nil
}

// copyFile copies a file as it is.
func copyFile(w io.Writer, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}
