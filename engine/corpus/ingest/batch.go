package ingest

import (
	"context"
	"errors"
	"iter"
	"time"

	"ndd/engine/corpus/document"
	"ndd/engine/corpus/simhash"
)

// batch is some units in a row. The scanner fills items, a worker their results.
type batch struct {
	items []item
	bytes int64 // taken from the budget
}

// item is a unit and then what became of it.
type item struct {
	unit     document.Unit
	record   Record
	scanned  bool // the scanner gave a unit
	repaired bool
	err      error // of the scanner or of extraction; a *document.Skip may be passed over
}

// scan reads the inputs into batches.
func (p *pipeline) scan(ctx context.Context, inputs []string, yield func(*batch) bool) error {
	b := new(batch)
	send := func() error {
		if len(b.items) == 0 {
			return nil
		}
		if !yield(b) {
			return ctx.Err()
		}
		b = &batch{items: make([]item, 0, len(b.items))}
		return nil
	}
	var size int64
	for unit, err := range document.Scan(ctx, inputs, p.cfg.Document, p.cfg.Stdin) {
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
		b.items = append(b.items, item{unit: unit, scanned: err == nil, err: err})
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

// work fingerprints batches until there are no more.
func (p *pipeline) work(ctx context.Context, batches iter.Seq[*batch]) error {
	extractor := document.NewExtractor(p.cfg.Document)
	fingerprinter, err := simhash.New(p.cfg.Recipe)
	if err != nil {
		return err
	}
	for b := range batches {
		for i := range b.items {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			b.items[i].fingerprint(extractor, fingerprinter)
		}
	}
	return nil
}

// fingerprint makes the record of a unit.
func (it *item) fingerprint(extractor *document.Extractor, fingerprinter *simhash.Fingerprinter) {
	if it.err != nil {
		return
	}
	doc, err := extractor.Extract(it.unit)
	it.unit = document.Unit{} // its bytes are needed no more
	if err != nil {
		it.err = err
		return
	}
	fp, features, ok := fingerprinter.Fingerprint(doc.Text)
	it.record = Record{ID: doc.ID, Fingerprint: fp, OK: ok, Features: features, TextBytes: len(doc.Text),
		Value: doc.Value, Modified: doc.Modified}
	it.repaired = doc.Repaired > 0
}

// emit hands on the records of a batch, from the goroutine that called Run, and counts.
func (p *pipeline) emit(b *batch, emit func(Record) error) error {
	for i := range b.items {
		if err := p.report.take(&b.items[i], p.cfg.Document.Strict, emit); err != nil {
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

// take counts one item and emits its record.
func (r *Report) take(it *item, strict bool, emit func(Record) error) error {
	if it.scanned {
		it.record.Unit = r.Units
		r.Units++
	}
	if it.err != nil {
		skip, ok := errors.AsType[*document.Skip](it.err)
		if !ok || strict && skip.Reason.LosesData() {
			return it.err
		}
		r.Skipped.Add(skip)
		return nil
	}
	r.Documents++
	r.TextBytes += int64(it.record.TextBytes)
	if !it.record.OK {
		r.TooFew++
	}
	if it.repaired {
		r.Repaired++
	}
	return emit(it.record)
}
