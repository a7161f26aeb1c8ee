package format

import (
	"context"
	"fmt"
	"strings"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/text"
)

// Document is the text of one document and where it comes from.
type Document struct {
	// ID is the id field of a line or record, the URI of an archived page, or path:line if that is missing. For a file
	// that is one document, it is the path as the input named it; standard input is "-".
	ID       string
	Source   string // path of the file
	Line     int    // number of the line or record in the content, from 1; 0 if the document is the whole file
	Text     string // valid UTF-8
	Repaired int    // invalid byte sequences that were replaced by U+FFFD
	NoID     bool   // the record has no ID in the field for IDs; its place is its ID
	// Charset is the declared character set if it was unknown or wrong, or "none" if there was no declaration, so that
	// only the bytes determined the encoding. Otherwise it is "".
	Charset  string
	Values   []Value // one for each list of Options.ValueFields, if the document is a line or record; else nil
	Modified int64   // time of the file, in nanoseconds since 1970, if the document is the whole file; 0 if unknown
}

// Extractor makes documents of units. It reuses its memory; one goroutine at a time.
type Extractor struct {
	ctx     context.Context
	opts    Options
	text    []byte // a buffer for strings of records without their escapes
	decoder text.Decoder
}

// NewExtractor makes an Extractor for units that were scanned with the same options. After the end of
// ctx, also during a long page, it returns the error of ctx.
func NewExtractor(ctx context.Context, opts Options) *Extractor {
	if defaults, err := opts.withDefaults(); err == nil {
		opts = defaults // Scan reports the error
	}
	return &Extractor{ctx: ctx, opts: opts}
}

// Extract returns the document of a unit, or a *[input.Skip], or the error of the context. The document owns its
// memory.
func (e *Extractor) Extract(u Unit) (Document, error) {
	doc, err := e.Borrow(u)
	if u.Line > 0 && (u.format == JSONL || u.format == Text) {
		doc.Text = strings.Clone(doc.Text)
	}
	return doc, err
}

// Borrow is like [Extractor.Extract], but the document's text is valid only until the next call. This saves a copy. The
// document owns its other strings.
func (e *Extractor) Borrow(u Unit) (Document, error) {
	doc := Document{ID: u.id, Source: u.Source, Line: u.Line, Values: u.values, Modified: u.modified}
	if u.format == httpResponse || u.format == anyBody {
		var skip *input.Skip
		if u.raw, u.format, u.contentType, skip = pageOf(&u, e.opts.MaxDocumentBytes); skip != nil {
			skip.Source, skip.Line = u.Source, u.Line
			return Document{}, skip
		}
	}
	decoded, err := e.decode(&u, &doc)
	if err != nil {
		return Document{}, err
	}
	doc.Text, doc.Repaired, doc.Charset = decoded.Text, decoded.Repaired, decoded.Charset
	if doc.ID == "" {
		doc.ID, doc.NoID = input.Place(u.Source, u.Line), u.fields != nil && u.fields.ID != ""
	}
	if len(doc.ID) > MaxIDBytes {
		return Document{}, &input.Skip{Source: u.Source, Line: u.Line, Reason: input.Broken,
			Err: fmt.Errorf("ID has %d bytes, the limit is %d: %.60q", len(doc.ID), MaxIDBytes,
				doc.ID)}
	}
	return doc, nil
}

// decode returns the text of a unit. It sets ID and values of the document of a JSON object.
func (e *Extractor) decode(u *Unit, doc *Document) (text.Result, error) {
	declared := text.Declaration{ContentType: u.contentType, Extraction: e.opts.Extract}
	switch u.format {
	case JSONL:
		field := recordField(u.raw, u.fields.Text)
		content, reason, err := jsonText(u.raw, field, &e.text)
		if err == nil {
			reason = input.Broken
			doc.ID, _, err = jsonScalar(u.raw, u.fields.ID, false)
		}
		if err != nil {
			return text.Result{}, &input.Skip{Source: u.Source, Line: u.Line, Reason: reason, Err: err}
		}
		doc.Values = e.opts.values(func(field string) (v Value) {
			v.Text, v.Found, _ = jsonScalar(u.raw, field, e.opts.FirstValue)
			return v
		})
		if !isHTML(field) {
			return text.Result{Text: text.String(content)}, nil // jsonText has checked that it is UTF-8
		}
		declared.Kind = text.Page
		return e.decoder.Decode(e.ctx, content, declared)
	case HTML:
		declared.Kind = text.Page
	case CSV:
		declared.Kind = text.UTF8
	}
	return e.decoder.Decode(e.ctx, u.raw, declared)
}
