package document

import (
	"context"
	"errors"
	"io"
	"iter"
)

// Document is the text of one document and where it comes from.
type Document struct {
	// ID is the file's path as the input named it (with - for standard input), or the id field of a line
	// or record, or the URI of an archived page, or path:line where that is missing.
	ID       string
	Source   string // path of the file
	Line     int    // of the line or record in the decompressed file, from 1; 0 if the document is the whole file
	Text     string // valid UTF-8
	Bytes    int    // raw length: of the decompressed file or line
	Repaired int    // invalid byte sequences that were replaced by U+FFFD
	NoID     bool   // the options name a field for IDs, which the record does not have: it is called by its place
	Charset  string // that it declares, where it is not valid UTF-8 and no encoding has that name: then its bytes alone told how to read it
	Value    Value  // of a line or record, if Options.ValueFields asks for one
	Modified int64  // when the file was, in nanoseconds since 1970, if the document is the whole file; 0 if unknown
}

// Value is what a line or record has in a field beside its text: a string's content, or a number as it is written.
type Value struct {
	Text  string
	Found bool
}

// Read yields the documents of the inputs in order: inputs as given, folders sorted by path. stdin is read
// where an input is -, and may be nil otherwise. A *[Skip] is yielded as an error in its place, unless
// Options.Strict has made an end of it; after any other error, which names file and place, nothing follows.
//
//	for doc, err := range document.Read(ctx, inputs, document.Options{}, os.Stdin) {
//		if skip, ok := errors.AsType[*document.Skip](err); ok {
//			tally.Add(skip)
//			continue
//		}
//		if err != nil {
//			return err
//		}
//		use(doc)
//	}
func Read(ctx context.Context, inputs []string, opts Options, stdin io.Reader) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		extractor := NewExtractor(opts)
		for unit, err := range Scan(ctx, inputs, opts, stdin) {
			var doc Document
			if err == nil {
				doc, err = extractor.Extract(unit)
			}
			if !yield(doc, err) {
				return
			}
			if err != nil && !passable(err, opts.Strict) {
				return
			}
		}
	}
}

// passable tells a skip that may be passed over from an error that ends the reading.
func passable(err error, strict bool) bool {
	skip, ok := errors.AsType[*Skip](err)
	return ok && !(strict && skip.Reason.LosesData())
}
