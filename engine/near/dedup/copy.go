package dedup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"runtime"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/ingest"
	"ndd/engine/corpus/unpack"
	"ndd/engine/parallel"
)

// A Create creates a file of that name, which may have folders in it, and fills it. Several goroutines call it.
type Create func(name string, fill func(w io.Writer) error) error

// decodersBytes bounds the bytes that are decompressed ahead of the copies.
const decodersBytes = 64 << 20

// A CopyReport says what became of files that could not be compared.
type CopyReport struct {
	Unjudged []string // copied as they are, because nothing of them could be compared
	Repacked []string // compressed by zstd instead of xz or bzip2
	Lost     []string // what could not be read and is in no copy, with the reason
	Uncut    []Uncut  // documents that have all their text, because parts cannot be cut out of their format
	Unnoted  int      // records without the fields that the others got, because they are broken or too large
}

// An Uncut is a number of documents of a file.
type Uncut struct {
	File      string
	Documents int
}

// A Verdict says what of a document goes: nothing if it is zero.
type Verdict struct {
	Drop bool             // all of it
	Cuts []document.Range // or these parts of its text

	Note int // number of the document for [Fields].Values; 0: nothing is known of it
}

// A Judge says what of a unit goes.
type Judge func(*document.Extractor, document.Unit) (Verdict, error)

// A Rewriting reads inputs again and copies them without what goes.
type Rewriting struct {
	Inputs    []string
	Options   document.Options // with which they were read
	FileUnits ingest.ReadFiles // of the report of the first reading; nil if there was none
	Threads   int

	// Judge returns, for a file and the number of its first unit of all, a function that is called with
	// its units in order, and one, or nil, that reports behind the last how many documents were not met: then
	// the file has changed. Judge is called by one goroutine; what it returns, by others.
	Judge func(f document.File, unit int) (Judge, func() int)

	// Decision returns some bytes that tell which of a file's units go, and which parts of them; where it is nil,
	// no copies are kept.
	Decision func(f document.File, first, units int) []byte

	// Fields, if not nil, are added to all documents; then all stay, with all their text.
	Fields *Fields
}

// A Work keeps finished copies. Many goroutines call it.
type Work interface {
	// TakeCopy returns the path of the copy of a file that is kept, or "" where none is made of it, and
	// what KeepCopy was given with it.
	TakeCopy(f document.File, decision []byte) (path string, report []byte, ok bool)
	// KeepCopy keeps a finished copy under its name in the folder of copies, "" where none is made.
	KeepCopy(f document.File, decision []byte, name string, report []byte)
}

// Copy reads the inputs again and copies them without the documents that were dropped, several files at a time.
//
// JSONL, JSON, CSV, lines and WARC files are copied without the lines or records that can go, byte
// for byte, compressed as they were, in blocks of 2 MiB, WARC records each by itself; xz and bzip2,
// which nothing writes, become zstd. Lines that are no documents, or have too few features to be
// compared, stay, and so do WARC records of other types. Of Parquet files all columns of the rows
// that stay are copied, in order, with the encodings and compression that they had. A file that is
// one document is copied as it is if it is kept, and so is a file that could not be judged: that is
// no text, too long, or damaged from the beginning. Hidden files are not copied. Finished copies of
// to.Work are taken over.
func (r *Result) Copy(ctx context.Context, to *Copies) (CopyReport, error) {
	c := r.corpus
	if err := c.from.readable(); err != nil {
		return CopyReport{}, err
	}
	dropped := r.droppedRows()
	w := c.rewriting()
	w.Judge = r.judge()
	w.Decision = func(_ document.File, first, units int) []byte { return c.from.decision(dropped, first, units) }
	return w.Copy(ctx, to)
}

// Copy copies the inputs as [Result.Copy] does. Parts of texts are cut out of JSON strings, lines and
// plain text; everything else stays byte for byte. Where a text does not lie in the file as it was read,
// such as a page of HTML or a row of Parquet, the document stays whole.
func (w *Rewriting) Copy(ctx context.Context, to *Copies) (CopyReport, error) {
	opts := w.Options
	opts.Meter = cmp.Or(to.Meter, &document.Meter{})
	var reports []*CopyReport // of the files, in order
	var lost []string         // files, if there was no reading that has named them
	again := w.FileUnits != nil
	produce := func(ctx context.Context, yield func(*copier) bool) error {
		unit := 0
		for f, err := range opts.Files(ctx, w.Inputs) {
			if skip, skipped := errors.AsType[*document.Skip](err); skipped {
				if !again && skip.Reason.LosesData() {
					lost = append(lost, skip.Error())
				}
				continue
			}
			if err != nil {
				return err
			}
			if again {
				if err := w.FileUnits.Check(len(reports), f.Path); err != nil {
					return err
				}
			}
			k := &copier{opts: opts, to: to, file: f, fields: w.Fields, report: new(CopyReport)}
			left := 0
			judge, missing := w.Judge(f, unit)
			if again {
				left = w.FileUnits[len(reports)].Units
			}
			if to.Work != nil && w.Decision != nil {
				k.decision = w.Decision(f, unit, left)
			}
			unit += left
			k.judge = func(u document.Unit) (Verdict, error) {
				if left--; again && left < 0 { // the next unit was one of the next file
					return Verdict{}, ingest.Changed(f.Path)
				}
				v, err := judge(k.extractor, u)
				if k.ctx.Err() != nil { // then the extractor gave no text
					err = k.ctx.Err()
				}
				return v, err
			}
			k.end = func() error {
				if again && left != 0 || missing != nil && missing() > 0 {
					return ingest.Changed(f.Path)
				}
				return nil
			}
			reports = append(reports, k.report)
			if !yield(k) {
				return nil
			}
		}
		if !again {
			return nil
		}
		return w.FileUnits.Check(len(reports), "")
	}
	err := copyFiles(ctx, w.Threads, opts, produce)
	all := CopyReport{Lost: lost}
	for _, r := range reports {
		all.Unjudged = append(all.Unjudged, r.Unjudged...)
		all.Repacked = append(all.Repacked, r.Repacked...)
		all.Lost = append(all.Lost, r.Lost...)
		all.Uncut = append(all.Uncut, r.Uncut...)
		all.Unnoted += r.Unnoted
	}
	return all, err
}

// decision returns a hash of what goes of some units.
func (o *origin) decision(dropped bitmap, first, units int) []byte {
	h := sha256.New()
	end := o.rowAt(first + units)
	for row := o.rowAt(first); row < end; row++ {
		if dropped.has(int(row)) {
			h.Write(binary.LittleEndian.AppendUint64(nil, o.units.All[row]-uint64(first)))
		}
	}
	return h.Sum(nil)
}

// judge returns a [Rewriting].Judge. Documents that are dropped must be what they were, and so must those
// that are kept for them.
func (r *Result) judge() func(document.File, int) (Judge, func() int) {
	c, dropped := r.corpus, r.droppedRows()
	kept := make(bitmap, len(dropped))
	for d := range r.drops {
		if d.KeptRow >= 0 {
			kept.set(int(d.KeptRow))
		}
	}
	return func(_ document.File, unit int) (Judge, func() int) {
		next := c.from.rowAt(unit)
		return func(x *document.Extractor, u document.Unit) (Verdict, error) {
			row, isRow := next, next < Row(c.from.units.Len()) && c.from.units.All[next] == uint64(unit)
			if unit++; !isRow {
				return Verdict{}, nil
			}
			next++
			if v := (Verdict{Drop: dropped.has(int(row)), Note: int(next)}); !v.Drop && !kept.has(int(row)) {
				return v, nil
			} else if doc, err := x.Extract(u); err != nil || !c.same(row, &doc) {
				return v, c.changed(row)
			} else {
				return v, nil
			}
		}, nil
	}
}

// copyFiles copies files, several at a time.
func copyFiles(ctx context.Context, threads int, opts document.Options, produce parallel.Produce[*copier]) error {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	packers, err := newPackers(threads, blockBytes)
	if err != nil {
		return err
	}
	var decoders *unpack.Decoders
	if threads > 1 {
		decoders = unpack.NewDecoders(threads, decodersBytes)
	}
	return parallel.Each(ctx, parallel.Options{Workers: threads}, produce,
		func(ctx context.Context, files iter.Seq[*copier]) error {
			extractor := document.NewExtractor(ctx, opts)
			for k := range files {
				k.ctx, k.extractor, k.packers, k.opts.Decoders = ctx, extractor, packers, decoders
				if err := k.copyOnce(); err != nil {
					return err
				}
				if k.made.Uncut > 0 {
					k.report.Uncut = []Uncut{{k.file.Path, k.made.Uncut}}
				}
			}
			return nil
		})
}

// copier copies one file.
type copier struct {
	ctx       context.Context
	opts      document.Options
	to        *Copies
	packers   *packers
	judge     func(document.Unit) (Verdict, error) // is called with each unit in order
	end       func() error                         // is called after the last unit
	extractor *document.Extractor
	file      document.File
	report    *CopyReport

	fields *Fields
	head   document.Head // of the file, where there are fields

	decision []byte // for to.Work; nil: it keeps no copy
	made     made
}

// A made is what became of a file.
type made struct {
	Copied   bool   // there is a copy
	Ending   string // of its name, as in write
	Repacked bool
	Uncut    int

	name string // of the copy
}

// copyOnce copies the file, or takes the copy over that was kept. It keeps the copy unless something
// could not be read, which may be better another time.
func (k *copier) copyOnce() error {
	if k.decision == nil {
		return k.copy()
	}
	if path, report, ok := k.to.Work.TakeCopy(k.file, k.decision); ok && json.Unmarshal(report, &k.made) == nil {
		defer k.opts.Meter.Begin(k.file)()
		if k.made.Repacked {
			k.report.Repacked = []string{k.file.Path}
		}
		if !k.made.Copied {
			return nil
		}
		return k.write(k.made.Ending, func(w io.Writer) error {
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = io.Copy(w, f)
			return err
		})
	}
	k.made = made{}
	if err := k.copy(); err != nil || len(k.report.Lost)+len(k.report.Unjudged) > 0 {
		return err
	}
	k.made.Repacked = len(k.report.Repacked) > 0
	report, err := json.Marshal(k.made)
	k.to.Work.KeepCopy(k.file, k.decision, k.made.name, report)
	return err
}

// cut is a range of bytes that is left out; where fields are added, where those of a document go, or
// its row in a Parquet file.
type cut struct {
	from, to int64
	note     int // of the document's verdict
}

// copy copies the file without the dropped documents.
func (k *copier) copy() error {
	f := k.file
	defer k.opts.Meter.Begin(f)()
	if k.fields != nil {
		k.head, _ = f.Head(k.ctx, k.opts) // reading has the same error
	}
	content, err := f.Open(k.ctx, k.opts)
	if err != nil {
		if (f.Root == "" && !errors.Is(err, unpack.ErrDamaged)) || k.ctx.Err() != nil {
			return err
		}
		if err := k.end(); err != nil {
			return err
		}
		return k.unjudged()
	}
	defer content.Close()
	if content.Rows {
		return k.copyRows(content)
	}
	x, err := k.scan(content, nil)
	switch {
	case err != nil:
		return err
	case x.isLost(), content.Columns != nil && x.whole < math.MaxInt64: // what is behind the damage would be lost
		return k.unjudged()
	case content.Columns != nil && (len(x.rows) > 0 || k.fields != nil):
		return k.write("", func(w io.Writer) error {
			return k.packers.copyColumns(k.ctx, w, content, x.rows, k.fields, x.cuts)
		})
	case content.Columns != nil, x.kept > 0 && len(x.cuts) == 0:
		return k.write("", func(w io.Writer) error { return f.Copy(k.ctx, w) })
	case x.kept == 0:
		return nil
	}
	return k.write(k.repack(content), func(w io.Writer) error {
		return k.packers.pack(k.ctx, w, content, nil, func(c *copying) error { return c.follow(&x, math.MaxInt64) })
	})
}

// copyRows copies a file whose documents are parts of it, while it is read.
func (k *copier) copyRows(content *document.Content) error {
	f := k.file
	if content.Packing.CopyEnding() != "" && !k.judgeable() {
		return k.unjudged() // under its own name
	}
	var notes *noter
	if k.fields != nil {
		notes = newNoter(k.fields, &k.head)
	}
	var scanErr error // names the file
	err := k.write(k.repack(content), func(w io.Writer) error {
		err := k.packers.pack(k.ctx, w, content, notes, func(c *copying) error {
			x, err := k.scan(content, c)
			if scanErr = err; err == nil && x.isLost() {
				k.packers.free <- c.b // nothing is in it
				err = errLost
			}
			if err != nil {
				return err
			}
			k.report.Lost = x.damage
			return c.last(&x)
		})
		if errors.Is(err, errLost) {
			k.report.Unjudged = []string{f.Path}
			err = f.Copy(k.ctx, w)
		}
		if !errors.Is(err, scanErr) {
			scanErr = nil // it ended for another reason
		}
		return err
	})
	return cmp.Or(scanErr, err)
}

// errLost says that nothing of a file could be judged.
var errLost = errors.New("nothing of it could be judged")

// judgeable reports whether a document of the file can be judged, or nothing of it is lost.
func (k *copier) judgeable() bool {
	opts, lost := k.opts, false
	opts.Meter, opts.Decoders = nil, nil
	for _, err := range k.file.Scan(k.ctx, opts, nil) {
		if skip, skipped := errors.AsType[*document.Skip](err); !skipped {
			return true // an error comes again
		} else if skip.Reason.LosesData() {
			lost = true
		}
	}
	return !lost
}

// repack returns the ending of the copy's name, and notes where it is compressed in another way.
func (k *copier) repack(content *document.Content) (ending string) {
	if ending = content.Packing.CopyEnding(); ending != "" {
		k.report.Repacked = append(k.report.Repacked, k.file.Path)
	}
	return ending
}

// write creates the copy of a file and fills it.
func (k *copier) write(ending string, fill func(io.Writer) error) error {
	name, err := k.to.name(k.file, ending)
	if err != nil {
		return err
	}
	k.made.Copied, k.made.Ending, k.made.name = true, ending, name
	return k.to.Create(name, func(w io.Writer) error {
		if err := fill(w); err != nil {
			return fmt.Errorf("copying %s: %w", k.file.Path, err)
		}
		return nil
	})
}

// unjudged copies a file of which nothing could be compared, as it is, if it can be opened.
func (k *copier) unjudged() error {
	r, err := k.file.Raw(k.ctx)
	if err != nil {
		k.report.Lost = append(k.report.Lost, err.Error())
		return nil
	}
	r.Close()
	k.report.Unjudged = append(k.report.Unjudged, k.file.Path)
	return k.write("", func(w io.Writer) error { return k.file.Copy(k.ctx, w) })
}
