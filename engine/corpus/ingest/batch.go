package ingest

import (
	"context"
	"errors"
	"iter"
	"time"

	"ndd/engine/corpus/document"
)

// batch is some units in a row. The scanner fills items, a worker their results.
type batch[R any] struct {
	items []item[R]
	bytes int64 // taken from the budget
}

// item is a unit and then what became of it.
type item[R any] struct {
	unit      document.Unit
	number    int // of the unit, -1 where the scanner gave none
	result    R
	textBytes int
	repaired  bool
	charset   string
	noID      bool
	err       error // of the scanner or of extraction; a *document.Skip may be passed over
}

// scan reads the inputs into batches.
func (p *pipeline[R]) scan(ctx context.Context, inputs []string, yield func(*batch[R]) bool) error {
	b := new(batch[R])
	send := func() error {
		if len(b.items) == 0 {
			return nil
		}
		if !yield(b) {
			return ctx.Err()
		}
		b = &batch[R]{items: make([]item[R], 0, len(b.items))}
		return nil
	}
	var size int64
	for unit, err := range document.Scan(ctx, inputs, p.cfg.Document, p.cfg.Stdin) {
		number := -1
		if err == nil {
			number = p.units
			p.units++
			if p.steps.Want != nil && !p.steps.Want(number) {
				continue
			}
		}
		// A unit larger than the whole budget would wait for ever.
		unitBytes := min(int64(unit.Size()), p.limit)
		if unitBytes > 0 && !p.budget.TryAcquire(unitBytes) {
			// What this batch holds must be free to go before there can be room.
			if err := send(); err != nil {
				return err
			}
			size = 0
			if err := p.budget.Acquire(ctx, unitBytes); err != nil {
				return err
			}
		}
		b.items = append(b.items, item[R]{unit: unit, number: number, err: err})
		b.bytes += unitBytes
		size += unitBytes
		if size >= batchBytes || len(b.items) >= batchUnits {
			if err := send(); err != nil {
				return err
			}
			size = 0
		}
	}
	return send()
}

// work makes the results of batches until there are no more.
func (p *pipeline[R]) work(ctx context.Context, batches iter.Seq[*batch[R]]) error {
	extractor := document.NewExtractor(p.cfg.Document)
	extract := extractor.Extract
	if p.steps.Borrows {
		extract = extractor.Borrow
	}
	work, err := p.steps.Worker()
	if err != nil {
		return err
	}
	for b := range batches {
		for i := range b.items {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := b.items[i].work(extract, work); err != nil {
				return err
			}
		}
	}
	return nil
}

// work makes the result of a unit. The error is that of the work.
func (it *item[R]) work(extract func(document.Unit) (document.Document, error), work func(int, *document.Document) (R, error)) (err error) {
	if it.err != nil {
		return nil
	}
	var doc document.Document
	doc, it.err = extract(it.unit)
	it.unit = document.Unit{} // its bytes are needed no more
	if it.err != nil {
		return nil
	}
	it.textBytes, it.repaired, it.charset, it.noID = len(doc.Text), doc.Repaired > 0, doc.Charset, doc.NoID
	it.result, err = work(it.number, &doc)
	return err
}

// emit hands on the results of a batch, from the goroutine that called Extract, and counts.
func (p *pipeline[R]) emit(b *batch[R]) error {
	for i := range b.items {
		if err := p.take(&b.items[i]); err != nil {
			return err
		}
	}
	p.budget.Release(b.bytes)
	if p.cfg.Progress != nil && time.Since(p.told) >= progressGap {
		p.told = time.Now()
		p.cfg.Progress(p.progress(false))
	}
	return nil
}

// take counts one item and emits its result.
func (p *pipeline[R]) take(it *item[R]) error {
	r := &p.report
	if it.number >= 0 {
		r.Units = it.number + 1
	}
	if it.err != nil {
		skip, ok := errors.AsType[*document.Skip](it.err)
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
	if it.repaired {
		r.Repaired++
	}
	if it.noID {
		r.NoID++
	}
	r.declared(it.charset)
	if p.steps.Emit == nil {
		return nil
	}
	return p.steps.Emit(it.result)
}
