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
	"example.org/ndd/engine/storage/object"
)

const (
	batchBytes = 128 << 10
	batchUnits = 256
	queueDepth = 6        // batches in flight for each worker
	heldBytes  = 64 << 20 // limit of results that wait for an earlier file
	itemBytes  = 400      // approximate size of a result
	partBytes  = 1 << 20  // bytes of small files that one goroutine reads one after the other
	partFiles  = 64       // maximum number of these files
)

// Steps turns each document of some inputs into a result of type R.
type Steps[R any] struct {
	// FileUnits is the field of the report of an earlier reading of the same inputs, or nil. The run fails
	// with the error of [Changed] at the first file that differs.
	FileUnits ReadFiles
	// Want is required with FileUnits. It gets the number of each unit that [format.Scan] yields, from 0, and
	// returns whether the document of the unit is needed. Several goroutines call it. Each of them follows the order
	// of a file.
	Want func(unit int) bool
	// Worker is called once for each worker. It returns a function that makes the result of a document. The number
	// of the unit is the same as in Want. Only that worker calls the function, which may change the document during
	// the call. An error ends the run. The function may return early when the context is done. Its result is not
	// used then.
	Worker func(context.Context) (func(unit int, doc *format.Document) (R, error), error)
	// Borrows promises that the worker keeps no part of a document's text after it has made the result. This saves
	// a copy.
	Borrows bool
	// Emit, if not nil, gets the results in the order of the inputs. The goroutine that called Extract calls it. An
	// error ends the run.
	Emit func(R) error

	// Record returns the record of a result that cfg.Work keeps. Result is the inverse. It may panic if a payload is
	// corrupt. Several goroutines call it. Without the two functions, Work keeps no results.
	Record func(R) Record
	Result func(Record) R

	numbered func(r R, unit int) // if not nil, gets each result and the number of its unit before Emit
}

// Extract reads the inputs with package format. It extracts the texts of the wanted documents and makes their results
// in cfg.Threads goroutines, and emits the results in order. Units that are no documents are skipped and counted in the
// report, unless cfg.Document.Strict forbids that. It does not use cfg.Recipe.
//
// It stops at the first error of the inputs (with file and place), of a worker, of Emit, or of the context. The report
// is valid with an error too. It counts the documents that were emitted.
func Extract[R any](ctx context.Context, inputs []string, cfg Config, s Steps[R]) (Report, error) {
	// Fill in the defaults, and let the work folder look at the inputs.
	if cfg.Threads <= 0 {
		cfg.Threads = runtime.GOMAXPROCS(0)
	}
	if cfg.Document.Meter == nil {
		cfg.Document.Meter = &input.Meter{}
	}
	if s.Record == nil {
		cfg.Work = nil // there are no records to keep
	}
	if cfg.Work != nil {
		if err := cfg.Work.Begin(ctx, inputs, &cfg); err != nil {
			return Report{}, err
		}
	}
	// Decompression ahead may use a quarter of the memory for documents in flight.
	budget := cfg.budget()
	if cfg.Document.Decoders == nil && cfg.Threads > 1 {
		cfg.Document.Decoders = unpack.NewDecoders(cfg.Threads, budget/4)
		budget -= budget / 4
	}
	// Read files at the same time, make results in the workers, and emit them in the order of the inputs.
	p := &pipeline[R]{cfg: cfg, steps: s}
	o := parallel.Options{Workers: cfg.Threads, Window: queueDepth * cfg.Threads, Producers: cfg.Threads,
		Budget: budget, Held: heldBytes}
	if cfg.Document.ShortOfMemory {
		o.Producers = 1 // each holds a document that is not in the budget yet
	}
	err := parallel.OrderedParts(ctx, o, p.parts(ctx, inputs), p.work, p.emit)
	// A repeated reading must have seen all files of the earlier one.
	if err == nil && s.FileUnits != nil {
		err = s.FileUnits.Check(len(p.report.FileUnits), "")
	}
	if err == nil {
		p.report.Units = 0
		for _, f := range p.report.FileUnits {
			p.report.Units += f.Units
		}
	}
	// The report is also filled after an error.
	m := cfg.Document.Meter
	p.report.BytesRead = m.Bytes.Load()
	p.report.Guesses = m.Guesses()
	return p.report, err
}

// A pipeline is the state of one run.
type pipeline[R any] struct {
	cfg   Config
	steps Steps[R]
	units int // units numbered so far

	// Of the current file.
	content  format.Checksum
	tooLarge bool // a document was too large, and the limit of a later reading may be another one

	report Report
}

// A batch holds consecutive units. The scanner fills items, a worker fills their results.
type batch[R any] struct {
	items []item[R]
	bytes int64     // size of units or results
	ends  []fileEnd // ends of files, in order
}

// A fileEnd is the end of a file within a batch.
type fileEnd struct {
	file   input.File
	items  int  // number of items of the batch before the end
	units  int  // number of units of the file
	stored bool // true if the entries of the file come from a [Work]

	content format.Checksum // checksum of the file's units if entries are stored
}

// Weight returns the bytes that the batch holds.
func (b *batch[R]) Weight() int64 { return b.bytes }

// item is a unit and then its result.
type item[R any] struct {
	unit      format.Unit
	number    int             // argument of Want, or unnumbered or noUnit
	sum       uint64          // checksum of the unit
	doc       format.Document // document without its text
	textBytes int
	result    R
	err       error // error of the scanner or of the extraction; a *input.Skip need not end the run
	isDone    bool  // its result comes from a [Work], or it is an error of the walk of the inputs and has no file
	bytes     int   // size of the unit, or of the result if it is stored
}

// Numbers of items that were not passed to Want.
const (
	unnumbered = -1 // item of a unit
	noUnit     = -2 // item of an error of the scanner
)

// parts yields functions that each read a part of the inputs: a file, or some small ones.
func (p *pipeline[R]) parts(ctx context.Context, inputs []string) iter.Seq[parallel.Produce[*batch[R]]] {
	return func(yield func(parallel.Produce[*batch[R]]) bool) {
		var part []inputFile
		size, file, unit := int64(0), 0, 0
		for f, err := range p.cfg.Document.Share.List(ctx, inputs) {
			// Add the file, or the error in its place, to the current part.
			part = append(part, inputFile{file: f, err: err, unit: unit})
			if err != nil {
				continue
			}
			// Entries of an earlier run replace the reading of the file.
			if p.cfg.Work != nil {
				last := &part[len(part)-1]
				last.entries, last.content = p.cfg.Work.Stored(f)
			}
			// The earlier reading has the number of units in each file, and so the number of each file's first unit.
			if readAhead := p.steps.FileUnits; readAhead != nil {
				if err := readAhead.Check(file, f.Path); err != nil {
					yield(func(context.Context, func(*batch[R]) bool) error { return err })
					return
				}
				part[len(part)-1].units = readAhead[file].Units
				unit += readAhead[file].Units
			}
			file++
			// Collect small files, which one goroutine then reads one after the other.
			n := f.Size()
			if size += max(n, 0); n >= 0 && size < partBytes && len(part) < partFiles && !object.Is(f.Path) {
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

// An inputFile is a file or an error that [input.Files] yields. It has the number of the file's first unit and the
// number of its units if these are known, and the stored entries of the file, if any.
type inputFile struct {
	file    input.File
	err     error
	unit    int
	units   int
	entries iter.Seq2[Entry, error]

	content format.Checksum // checksum of the file's units if entries are stored
}

// scan returns a function that reads some files into batches.
func (p *pipeline[R]) scan(part []inputFile) parallel.Produce[*batch[R]] {
	return func(ctx context.Context, yield func(*batch[R]) bool) error {
		b := new(batch[R])
		for _, f := range part {
			// Add the items to the batch, and pass the batch on when it is full.
			end := fileEnd{file: f.file, stored: f.entries != nil, content: f.content}
			for it, err := range p.items(ctx, f, &end.units) {
				if err != nil {
					return err
				}
				b.items = append(b.items, it)
				b.bytes += int64(it.bytes)
				if b.bytes >= batchBytes || len(b.items) >= batchUnits {
					if !yield(b) {
						return ctx.Err()
					}
					b = &batch[R]{items: make([]item[R], 0, len(b.items))}
				}
			}
			// Record where the file ends, for its entry in the report.
			if end.items = len(b.items); f.err == nil {
				b.ends = append(b.ends, end)
			}
		}
		if (len(b.items) > 0 || len(b.ends) > 0) && !yield(b) {
			return ctx.Err()
		}
		return nil
	}
}

// items yields the items of a file, or the error of the walk instead, and counts the units of the file.
func (p *pipeline[R]) items(ctx context.Context, f inputFile, units *int) iter.Seq2[item[R], error] {
	if f.entries != nil {
		return p.storedItems(f, units)
	}
	return func(yield func(item[R], error) bool) {
		if f.err != nil {
			yield(item[R]{number: noUnit, err: f.err, isDone: true}, nil)
			return
		}
		for unit, err := range format.Units(ctx, f.file, p.cfg.Document, p.cfg.Stdin) {
			// Number the unit as the earlier reading did, and skip it if nobody wants it.
			it := item[R]{unit: unit, number: unnumbered, err: err, bytes: unit.Size()}
			switch {
			case err != nil:
				it.number = noUnit
			case p.steps.FileUnits == nil:
				*units++
			case *units == f.units:
				yield(it, Changed(f.file.Path))
				return
			default:
				it.number = f.unit + *units
				*units++
				if !p.steps.Want(it.number) {
					continue
				}
				it.unit = unit.Alone() // the other lines of its memory are not needed
			}
			if !yield(it, nil) {
				return
			}
		}
	}
}

// storedItems yields the items of the stored entries of a file, and counts the units of the file.
func (p *pipeline[R]) storedItems(f inputFile, units *int) iter.Seq2[item[R], error] {
	return func(yield func(item[R], error) bool) {
		for e, err := range f.entries {
			var it item[R]
			if err == nil {
				it, err = p.item(&e)
			}
			if err != nil {
				it = item[R]{number: noUnit, err: err}
			}
			it.isDone = true
			if it.number != noUnit {
				*units++
			}
			if !yield(it, nil) {
				return
			}
		}
		p.cfg.Document.Meter.Bytes.Add(max(f.file.Size(), 0)) // counts as read, so that the remaining time is estimated well
	}
}

// work makes the results of batches until there are no more.
func (p *pipeline[R]) work(ctx context.Context, batches iter.Seq[*batch[R]]) error {
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
			b.bytes = 0 // the units were released
		}
		b.bytes += int64(len(b.items)) * itemBytes
	}
	return nil
}

// work makes the result of a unit. It returns the error of the function work.
func (it *item[R]) work(extract func(format.Unit) (format.Document, error),
	work func(int, *format.Document) (R, error)) (err error) {
	if it.err != nil || it.isDone {
		return nil
	}
	it.sum = it.unit.Sum()
	it.doc, it.err = extract(it.unit)
	it.unit = format.Unit{} // its bytes are not needed any more
	if it.err != nil {
		return nil // a skip, or the error of the context; the latter ends the run
	}
	it.textBytes = len(it.doc.Text)
	it.result, err = work(it.number, &it.doc)
	it.doc.Text = ""
	return err
}

// emit counts and emits the results of a batch. It runs in the goroutine that called Extract.
func (p *pipeline[R]) emit(b *batch[R]) error {
	ends := b.ends
	for i := 0; ; i++ {
		for ; len(ends) > 0 && ends[0].items == i; ends = ends[1:] {
			if err := p.endFile(ends[0]); err != nil {
				return err
			}
		}
		if i == len(b.items) {
			break
		}
		it := &b.items[i]
		if err := p.count(it); err != nil {
			return err
		}
		if it.isDone {
			continue
		}
		if it.number != noUnit {
			p.content.Add(it.sum)
		} else if skip, ok := errors.AsType[*input.Skip](it.err); ok && skip.Reason == input.TooLarge {
			p.tooLarge = true
		}
		if p.cfg.Work != nil {
			p.cfg.Work.Keep(p.entry(it))
		}
	}
	p.cfg.Document.Meter.Documents.Store(int64(p.report.Documents))
	return nil
}

// endFile counts a file whose items were emitted.
func (p *pipeline[R]) endFile(e fileEnd) error {
	if p.tooLarge {
		p.content = 0
	}
	end := FileUnits{e.file.Path, e.units, e.file.Size(), p.content}
	p.content, p.tooLarge = 0, false
	if e.stored {
		end.Content = e.content
	}
	if before := p.steps.FileUnits; before != nil {
		i := len(p.report.FileUnits)
		if end.Content = before[i].Content; before[i] != end { // only some of the units were read
			return Changed(end.Path)
		}
	}
	p.report.FileUnits = append(p.report.FileUnits, end)
	if p.cfg.Work != nil && !e.stored {
		p.cfg.Work.Finish(e.file, end.Content)
	}
	if p.cfg.FileEnd != nil {
		p.cfg.FileEnd(end)
	}
	return nil
}

// count counts one item and emits its result.
func (p *pipeline[R]) count(it *item[R]) error {
	// Number the unit, unless the scanner did.
	r := &p.report
	if it.number == unnumbered {
		it.number = p.units
		p.units++
	}
	if it.number >= 0 {
		r.Units = it.number + 1
	}
	// An error is a skip, which is counted and reported, or it ends the run.
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
	// Count the document.
	r.Documents++
	r.TextBytes += int64(it.textBytes)
	if it.doc.Repaired > 0 {
		r.Repaired++
	}
	if it.doc.NoID {
		r.NoID++
	}
	r.declared(it.doc.Charset)
	// Pass the result on.
	if p.steps.Emit == nil {
		return nil
	}
	if p.steps.numbered != nil {
		p.steps.numbered(it.result, it.number)
	}
	return p.steps.Emit(it.result)
}
