package ingest

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"runtime"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/unpack"
	"example.org/ndd/engine/parallel"
)

const (
	batchBytes = 128 << 10
	batchUnits = 256
	queueDepth = 6        // batches in flight for each worker
	heldBytes  = 64 << 20 // of results that wait for an earlier file
	itemBytes  = 400      // about what a result holds
	partBytes  = 1 << 20  // of small files that one goroutine reads after the other
	partFiles  = 64
)

// Steps turns each document of some inputs into a result of type R.
type Steps[R any] struct {
	// FileUnits is that of the report of an earlier reading of the same inputs, or nil. The run fails
	// with the error of [Changed] at the first file that differs.
	FileUnits ReadFiles
	// Want goes with FileUnits. It is called with the number of each unit that [format.Scan] yields,
	// from 0, and returns whether its document is needed. Several goroutines call it, each in the order
	// of a file.
	Want func(unit int) bool
	// Worker returns a function that makes the result of a document, with the number that Want was
	// called with. It is called once for each worker, and what it returns is called by that worker
	// only; the document is the callee's during the call. An error ends the run. When the context is done,
	// the function may return early, and what it returns is used by nobody.
	Worker func(context.Context) (func(unit int, doc *format.Document) (R, error), error)
	// Borrows says that the worker keeps nothing of a document's text when it has made its result,
	// which saves a copy.
	Borrows bool
	// Emit, if not nil, is called with the results in the order of the inputs, by the goroutine
	// that called Extract. An error ends the run.
	Emit func(R) error

	// Record returns what cfg.Work keeps of a result, and Result is its inverse, which may panic if a
	// payload makes no sense. Without them nothing is kept. Result is called by several goroutines.
	Record func(R) Record
	Result func(Record) R

	numbered func(r R, unit int) // if not nil, is called before Emit with the number of the unit
}

// Extract reads the inputs as package format does, has the text of each wanted document extracted
// and worked on by cfg.Threads goroutines, and emits the results in order. Units that are no
// documents are skipped and counted in the report, unless cfg.Document.Strict forbids that.
// cfg.Recipe is not used.
//
// It stops at the first error: of the inputs (naming file and place), of a worker, of emit, or of
// the context. The report is valid with an error too; it counts the documents that were emitted.
func Extract[R any](ctx context.Context, inputs []string, cfg Config, s Steps[R]) (Report, error) {
	return extract(ctx, inputs, cfg, s.ofAny())
}

func extract(ctx context.Context, inputs []string, cfg Config, s Steps[any]) (Report, error) {
	if cfg.Threads <= 0 {
		cfg.Threads = runtime.GOMAXPROCS(0)
	}
	if cfg.Document.Meter == nil {
		cfg.Document.Meter = &input.Meter{}
	}
	if s.Record == nil {
		cfg.Work = nil // there is nothing to keep
	}
	if cfg.Work != nil {
		if err := cfg.Work.Begin(ctx, inputs, &cfg); err != nil {
			return Report{}, err
		}
	}
	budget := cfg.budget()
	if cfg.Document.Decoders == nil && cfg.Threads > 1 {
		cfg.Document.Decoders = unpack.NewDecoders(cfg.Threads, budget/4)
		budget -= budget / 4
	}
	p := &pipeline{cfg: cfg, steps: s}
	o := parallel.Options{Workers: cfg.Threads, Ahead: queueDepth * cfg.Threads, Producers: cfg.Threads,
		Budget: budget, Held: heldBytes}
	if cfg.Document.ShortOfMemory {
		o.Producers = 1 // each holds a document that is not in the budget yet
	}
	err := parallel.OrderedParts(ctx, o, p.parts(ctx, inputs), p.work, p.emit)
	if err == nil && s.FileUnits != nil {
		err = s.FileUnits.Check(len(p.report.FileUnits), "")
	}
	if err == nil {
		p.report.Units = 0
		for _, f := range p.report.FileUnits {
			p.report.Units += f.Units
		}
	}
	m := cfg.Document.Meter
	p.report.Files, p.report.BytesRead = m.Files.Load(), m.Bytes.Load()
	p.report.Outside, p.report.Guesses = m.Outside(), m.Guesses()
	return p.report, err
}

// ofAny returns the same steps with results of type any, so that the pipeline is compiled once.
func (s Steps[R]) ofAny() Steps[any] {
	a := Steps[any]{FileUnits: s.FileUnits, Want: s.Want, Borrows: s.Borrows}
	a.Worker = func(ctx context.Context) (func(int, *format.Document) (any, error), error) {
		work, err := s.Worker(ctx)
		return func(unit int, doc *format.Document) (any, error) { return work(unit, doc) }, err
	}
	if s.Emit != nil {
		a.Emit = func(r any) error { return s.Emit(r.(R)) }
	}
	if s.Record != nil {
		a.Record = func(r any) Record { return s.Record(r.(R)) }
		a.Result = func(r Record) any { return s.Result(r) }
	}
	if s.numbered != nil {
		a.numbered = func(r any, unit int) { s.numbered(r.(R), unit) }
	}
	return a
}

// pipeline is the state of one run.
type pipeline struct {
	cfg   Config
	steps Steps[any]
	units int // numbered so far

	report Report
}

// batch is some units in a row. The scanner fills items, a worker their results.
type batch struct {
	items []item
	bytes int64   // of units or results
	ends  []ended // of files, in order
}

// An ended is the end of a file within a batch.
type ended struct {
	file   input.File
	items  int // of the batch before it
	units  int // of the file
	stored bool
}

// Weight returns the bytes that the batch holds.
func (b *batch) Weight() int64 { return b.bytes }

// item is a unit and then its result.
type item struct {
	unit      format.Unit
	number    int             // that Want was called with, or unnumbered
	doc       format.Document // without its text
	textBytes int
	result    any
	err       error // of the scanner or of extraction; a *input.Skip may be passed over
	isDone    bool  // it has its result, of a [Work], or is an error of the walk of the inputs, which is of no file
	kept      int   // bytes of the payload it was made of
}

// Numbers of items that Want was not called with.
const (
	unnumbered = -1 // of a unit
	noUnit     = -2 // of an error of the scanner
)

// parts yields functions that read the inputs in parts: a file, or some small ones.
func (p *pipeline) parts(ctx context.Context, inputs []string) iter.Seq[parallel.Produce[*batch]] {
	return func(yield func(parallel.Produce[*batch]) bool) {
		var part []found
		size, file, unit := int64(0), 0, 0
		for f, err := range p.cfg.Document.Share.List(ctx, inputs) {
			part = append(part, found{file: f, err: err, unit: unit})
			if err != nil {
				continue
			}
			if p.cfg.Work != nil {
				part[len(part)-1].stored = p.cfg.Work.Stored(f)
			}
			if before := p.steps.FileUnits; before != nil {
				if err := before.Check(file, f.Path); err != nil {
					yield(func(context.Context, func(*batch) bool) error { return err })
					return
				}
				part[len(part)-1].units = before[file].Units
				unit += before[file].Units
			}
			file++
			n, known := f.Size()
			if size += n; known && size < partBytes && len(part) < partFiles {
				continue
			}
			if !yield(p.scan(part)) {
				return
			}
			part, size = nil, 0
		}
		if len(part) > 0 {
			yield(p.scan(part))
		}
	}
}

// A found is what [input.Files] yields, the number of the file's first unit and how many it has where that
// is known, and its stored entries, if any.
type found struct {
	file   input.File
	err    error
	unit   int
	units  int
	stored iter.Seq2[Entry, error]
}

// scan returns a function that reads some files into batches.
func (p *pipeline) scan(part []found) parallel.Produce[*batch] {
	return func(ctx context.Context, yield func(*batch) bool) error {
		b := new(batch)
		for _, f := range part {
			if f.stored != nil {
				if b = p.take(ctx, b, f, yield); b == nil {
					return ctx.Err()
				}
				continue
			}
			units := 0
			for unit, err := range p.unitsOf(ctx, f) {
				number := unnumbered
				switch {
				case err != nil:
					number = noUnit
				case p.steps.FileUnits == nil:
					units++
				case units == f.units:
					return Changed(f.file.Path)
				default:
					number = f.unit + units
					units++
					if !p.steps.Want(number) {
						continue
					}
					unit = unit.Alone() // the lines beside it are needed no more
				}
				b.items = append(b.items, item{unit: unit, number: number, err: err, isDone: f.err != nil})
				b.bytes += int64(unit.Size())
				if b.bytes >= batchBytes || len(b.items) >= batchUnits {
					if !yield(b) {
						return ctx.Err()
					}
					b = &batch{items: make([]item, 0, len(b.items))}
				}
			}
			if f.err == nil {
				b.ends = append(b.ends, ended{file: f.file, items: len(b.items), units: units})
			}
		}
		if (len(b.items) > 0 || len(b.ends) > 0) && !yield(b) {
			return ctx.Err()
		}
		return nil
	}
}

// unitsOf yields the units of a file, or the error of the walk in its place.
func (p *pipeline) unitsOf(ctx context.Context, f found) iter.Seq2[format.Unit, error] {
	if f.err != nil {
		return func(yield func(format.Unit, error) bool) { yield(format.Unit{}, f.err) }
	}
	return format.Units(ctx, f.file, p.cfg.Document, p.cfg.Stdin)
}

// take puts the stored entries of a file into batches, from b on, and returns the last one, or nil if
// yield returned false.
func (p *pipeline) take(ctx context.Context, b *batch, f found, yield func(*batch) bool) *batch {
	meter, units := p.cfg.Document.Meter, 0
	meter.Files.Add(1)
	defer meter.Begin(f.file)()
	for e, err := range f.stored {
		if ctx.Err() != nil {
			return nil
		}
		var it item
		if err == nil {
			it, err = p.item(&e)
		}
		if err != nil {
			it = item{number: noUnit, err: err}
		}
		it.isDone = true
		if it.number != noUnit {
			units++
		}
		b.items = append(b.items, it)
		if b.bytes += itemBytes + int64(it.kept); len(b.items) >= batchUnits || b.bytes >= batchBytes {
			if !yield(b) {
				return nil
			}
			b = &batch{items: make([]item, 0, batchUnits)}
		}
	}
	size, _ := f.file.Size()
	meter.Bytes.Add(size) // as if it were read, for the time that is left
	b.ends = append(b.ends, ended{f.file, len(b.items), units, true})
	return b
}

// work makes the results of batches until there are no more.
func (p *pipeline) work(ctx context.Context, batches iter.Seq[*batch]) error {
	extractor := format.NewExtractor(ctx, p.cfg.Document)
	extract := extractor.Extract
	if p.steps.Borrows {
		extract = extractor.Borrow
	}
	work, err := p.steps.Worker(ctx)
	if err != nil {
		return err
	}
	for b := range batches {
		for i := range b.items {
			if err := cmp.Or(b.items[i].work(extract, work), ctx.Err()); err != nil {
				return err
			}
		}
		if p.steps.Borrows {
			b.bytes = 0 // the units are gone
		}
		b.bytes += int64(len(b.items)) * itemBytes
	}
	return nil
}

// work makes the result of a unit. The error is that of the work.
func (it *item) work(extract func(format.Unit) (format.Document, error),
	work func(int, *format.Document) (any, error)) (err error) {
	if it.err != nil || it.isDone {
		return nil
	}
	it.doc, it.err = extract(it.unit)
	it.unit = format.Unit{} // its bytes are needed no more
	if it.err != nil {
		return nil // a skip, or the error of the context, which ends the run
	}
	it.textBytes = len(it.doc.Text)
	it.result, err = work(it.number, &it.doc)
	it.doc.Text = ""
	return err
}

// emit hands on the results of a batch, from the goroutine that called Extract, and counts.
func (p *pipeline) emit(b *batch) error {
	ends := b.ends
	for i := 0; ; i++ {
		for ; len(ends) > 0 && ends[0].items == i; ends = ends[1:] {
			end := FileUnits{ends[0].file.Path, ends[0].units}
			if i := len(p.report.FileUnits); p.steps.FileUnits != nil && p.steps.FileUnits[i] != end {
				return Changed(end.Path)
			}
			p.report.FileUnits = append(p.report.FileUnits, end)
			if p.cfg.Work != nil && !ends[0].stored {
				p.cfg.Work.Finish(ends[0].file)
			}
		}
		if i == len(b.items) {
			break
		}
		it := &b.items[i]
		if err := p.count(it); err != nil {
			return err
		}
		if p.cfg.Work != nil && !it.isDone {
			p.cfg.Work.Keep(p.entry(it))
		}
	}
	p.cfg.Document.Meter.Documents.Store(int64(p.report.Documents))
	return nil
}

// count counts one item and emits its result.
func (p *pipeline) count(it *item) error {
	r := &p.report
	if it.number == unnumbered {
		it.number = p.units
		p.units++
	}
	if it.number >= 0 {
		r.Units = it.number + 1
	}
	if it.err != nil {
		skip, ok := errors.AsType[*input.Skip](it.err)
		if !ok || p.cfg.Document.Strict && skip.Reason.LosesData() {
			return it.err
		}
		r.Skipped.Add(skip)
		if p.cfg.Skipped != nil {
			return p.cfg.Skipped(skip)
		}
		return nil
	}
	r.Documents++
	r.TextBytes += int64(it.textBytes)
	if it.doc.Repaired > 0 {
		r.Repaired++
	}
	if it.doc.NoID {
		r.NoID++
	}
	r.declared(it.doc.Charset)
	if p.steps.Emit == nil {
		return nil
	}
	if p.steps.numbered != nil {
		p.steps.numbered(it.result, it.number)
	}
	return p.steps.Emit(it.result)
}
