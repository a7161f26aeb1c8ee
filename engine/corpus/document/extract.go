package document

import (
	"cmp"
	"fmt"
	"strings"
	"unsafe"

	"github.com/valyala/fastjson"
)

// Extractor makes documents of units. It reuses its memory; one goroutine at a time.
type Extractor struct {
	opts Options
	json fastjson.Parser
	page pageText
}

// NewExtractor makes an Extractor for units that were scanned with the same options.
func NewExtractor(opts Options) *Extractor {
	if filled, err := opts.withDefaults(); err == nil {
		opts = filled // Scan reports the error
	}
	return &Extractor{opts: opts}
}

// Extract returns the document of a unit, or a *[Skip]. The document owns its memory.
func (e *Extractor) Extract(u Unit) (Document, error) {
	doc, err := e.Borrow(u)
	if u.Line > 0 && (u.format == JSONL || u.format == Text) {
		doc.Text = strings.Clone(doc.Text)
	}
	return doc, err
}

// Borrow is [Extractor.Extract] for who needs the document's text only until the next call, which saves a copy of it. The
// document's other strings are its own.
func (e *Extractor) Borrow(u Unit) (Document, error) {
	doc := Document{ID: u.id, Source: u.Source, Line: u.Line, Bytes: len(u.raw), Value: u.value, Modified: u.modified}
	if u.format == httpResponse {
		var skip *Skip
		if u.raw, u.format, u.contentType, skip = e.response(u.raw); skip != nil {
			skip.Source, skip.Line = u.Source, u.Line
			return Document{}, skip
		}
	}
	switch u.format {
	case HTML:
		contentType := cmp.Or(u.contentType, e.opts.ContentType)
		page, repaired := decodeHTML(u.raw, contentType)
		doc.Text = e.page.extract(page, e.opts.Extract)
		doc.Repaired, doc.Charset = repaired, unknownCharset(u.raw, contentType, true)
	case JSONL:
		names := u.fields
		if names == nil { // of a unit that no stream made
			f, _ := e.opts.choose(func(string) bool { return true })
			names = &f
		}
		id, text, value, reason, err := e.jsonFields(u.raw, names)
		if err != nil {
			return Document{}, &Skip{Source: u.Source, Line: u.Line, Reason: reason, Err: err}
		}
		doc.ID, doc.Value = id, value
		if isHTML(names.Text) {
			page, repaired := decodeHTML(text, "")
			doc.Text, doc.Repaired, doc.Charset = e.page.extract(page, e.opts.Extract), repaired, unknownCharset(text, "", true)
			break
		}
		text, doc.Repaired = repair(text)
		doc.Text = ownString(text) // of the parser's memory
	case CSV:
		text, repaired := repair(u.raw)
		doc.Text, doc.Repaired = ownString(text), repaired
	default:
		contentType := cmp.Or(u.contentType, e.opts.ContentType)
		text, repaired := decodeText(u.raw, contentType)
		doc.Text, doc.Repaired, doc.Charset = ownString(text), repaired, unknownCharset(u.raw, contentType, false)
	}
	if doc.ID == "" {
		doc.ID, doc.NoID = place(u.Source, u.Line), e.opts.IDField != "" && (u.format == JSONL || u.format == CSV)
	}
	if len(doc.ID) > MaxIDBytes {
		return Document{}, &Skip{Source: u.Source, Line: u.Line, Reason: Broken,
			Err: fmt.Errorf("an ID of %d bytes, of which %d are the most, beginning with %.60q", len(doc.ID), MaxIDBytes, doc.ID)}
	}
	return doc, nil
}

// ownString makes a string of bytes that nobody writes to while it is used, without copying them.
func ownString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
