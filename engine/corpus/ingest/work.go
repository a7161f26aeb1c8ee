package ingest

import (
	"context"
	"errors"
	"iter"

	"example.org/ndd/engine/corpus/input"
)

// A Work keeps what [Run], or [Extract], makes of files, so that a later run takes it over instead of
// reading them.
type Work interface {
	// Begin is called before anything is read, with the inputs and the complete configuration. An
	// error ends the run.
	Begin(ctx context.Context, inputs []string, cfg *Config) error

	// Stored returns the entries of a file, or nil if the file is to be read. It is called in the
	// order of the inputs by one goroutine; what it returns is called by another.
	Stored(input.File) iter.Seq2[Entry, error]

	// Keep is called with each entry of a file that is read, in order, and Finish at its end, by the
	// goroutine that called Run or Extract. A file that ends the run is not finished.
	Keep(*Entry)
	Finish(input.File)
}

// An Entry is the record kept of one document, or a skip.
type Entry struct {
	Record         // without its unit, unless there is a skip
	Skip           *input.Skip
	IsUnit         bool // the scanner found it
	Repaired       int  // see format.Document
	NoID           bool
	UnknownCharset string
}

// errPayload is the error of a payload that Steps.Result cannot read.
var errPayload = errors.New("what was kept of a document makes no sense: remove the folder that keeps it")

// entry returns the entry of an item, which is kept.
func (p *pipeline) entry(it *item) *Entry {
	e := &Entry{IsUnit: it.number != noUnit, Repaired: it.doc.Repaired, NoID: it.doc.NoID, UnknownCharset: it.doc.Charset}
	if e.Skip, _ = errors.AsType[*input.Skip](it.err); e.Skip == nil {
		e.Record = p.steps.Record(it.result)
	}
	return e
}

// item is the inverse of entry.
func (p *pipeline) item(e *Entry) (it item, err error) {
	it = item{number: unnumbered, textBytes: e.TextBytes, kept: len(e.Payload)}
	it.doc.Repaired, it.doc.NoID, it.doc.Charset = e.Repaired, e.NoID, e.UnknownCharset
	if !e.IsUnit {
		it.number = noUnit
	}
	if e.Skip != nil {
		it.err = e.Skip
		return it, nil
	}
	defer func() {
		if recover() != nil { // lengths that its bytes contradict
			err = errPayload
		}
	}()
	it.result = p.steps.Result(e.Record)
	return it, nil
}
