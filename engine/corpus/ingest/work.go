package ingest

import (
	"context"
	"errors"
	"iter"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/input"
)

// A Work keeps the results of [Run] or [Extract] for each file. A later run uses them instead of reading the file.
type Work interface {
	// Begin is called before anything is read, with the inputs and the complete configuration. An
	// error ends the run.
	Begin(ctx context.Context, inputs []string, cfg *Config) error

	// Stored returns the entries of a file and its [FileUnits].Content, or nil if the file must be read. One goroutine
	// calls it in the order of the inputs. Another goroutine calls the iterator.
	Stored(input.File) (iter.Seq2[Entry, error], format.Checksum)

	// Keep gets each entry of a file that is read, in order. Finish is called at the end of the file. The goroutine
	// that called Run or Extract calls both. If a file causes an error that ends the run, Finish is not called.
	Keep(*Entry)
	Finish(input.File, format.Checksum)
}

// An Entry is the stored record of one document, or a skip.
type Entry struct {
	Record         // record without its unit; not set if there is a skip
	Skip           *input.Skip
	IsUnit         bool // true if the scanner found it
	Repaired       int  // see format.Document
	NoID           bool
	UnknownCharset string
}

// errPayload is the error of a payload that Steps.Result cannot read.
var errPayload = errors.New("stored work is corrupt: remove the work folder")

// entry returns the entry to keep for an item.
func (p *pipeline[R]) entry(it *item[R]) *Entry {
	e := &Entry{IsUnit: it.number != noUnit, Repaired: it.doc.Repaired, NoID: it.doc.NoID, UnknownCharset: it.doc.Charset}
	if e.Skip, _ = errors.AsType[*input.Skip](it.err); e.Skip == nil {
		e.Record = p.steps.Record(it.result)
	}
	return e
}

// item returns the item of an entry. It is the inverse of entry.
func (p *pipeline[R]) item(e *Entry) (it item[R], err error) {
	it = item[R]{number: unnumbered, textBytes: e.TextBytes, bytes: itemBytes + len(e.Payload)}
	it.doc.Repaired, it.doc.NoID, it.doc.Charset = e.Repaired, e.NoID, e.UnknownCharset
	if !e.IsUnit {
		it.number = noUnit
	}
	if e.Skip != nil {
		it.err = e.Skip
		return it, nil
	}
	defer func() {
		if recover() != nil { // the payload contradicts its lengths
			err = errPayload
		}
	}()
	it.result = p.steps.Result(e.Record)
	return it, nil
}
