package ingest

import (
	"context"
	"errors"
	"iter"

	"ndd/engine/corpus/document"
)

// A Work keeps what [Run] makes of files, so that a later run takes it over instead of reading them.
type Work interface {
	// Begin is called before anything is read, with the inputs and the complete configuration. An
	// error ends the run.
	Begin(ctx context.Context, inputs []string, cfg *Config) error

	// Stored returns the entries of a file, or nil if the file is to be read. It is called in the
	// order of the inputs by one goroutine; what it returns is called by another.
	Stored(document.File) iter.Seq2[Entry, error]

	// Keep is called with each entry of a file that is read, in order, and Finish at its end, by the
	// goroutine that called Run. A file that ends the run is not finished.
	Keep(*Entry)
	Finish(document.File)
}

// An Entry is what Run makes of one document, or a skip.
type Entry struct {
	Record         // without its unit, unless there is a skip
	Skip           *document.Skip
	IsUnit         bool // the scanner found it
	Repaired       int  // see document.Document
	NoID           bool
	UnknownCharset string
}

// through keeps the records of new files and takes over those of stored ones.
func through(records *Steps[Record], w Work) {
	records.stored = func(f document.File) iter.Seq2[item[Record], error] {
		entries := w.Stored(f)
		if entries == nil {
			return nil
		}
		return func(yield func(item[Record], error) bool) {
			for e, err := range entries {
				if !yield(e.item(), err) {
					return
				}
			}
		}
	}
	records.keep = func(it *item[Record]) {
		skip, _ := errors.AsType[*document.Skip](it.err)
		w.Keep(&Entry{it.result, skip, it.number != noUnit, it.doc.Repaired, it.doc.NoID, it.doc.Charset})
	}
	records.finish = w.Finish
}

// item is the inverse of what keep makes.
func (e *Entry) item() item[Record] {
	it := item[Record]{number: unnumbered, result: e.Record, textBytes: e.TextBytes}
	it.doc.Repaired, it.doc.NoID, it.doc.Charset = e.Repaired, e.NoID, e.UnknownCharset
	if !e.IsUnit {
		it.number = noUnit
	}
	if e.Skip != nil {
		it.err = e.Skip
	}
	return it
}
