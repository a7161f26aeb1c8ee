package result

import (
	"ndd/engine/corpus/simhash"
)

// A Row is one hit: a document whose fingerprint is within the distance of a query.
type Row struct {
	Query       int                 // row of the query in its file, from 0
	Fingerprint simhash.Fingerprint // of the document
	Distance    int                 // between it and the query, in bits
	DocID       uint64              // number of the document
	ID          string              // its external key; a [Writer] may be left to look it up
}

// A Format is a way to write rows.
type Format int

const (
	TSV    Format = iota + 1 // tab-separated fields, a line a row
	JSON                     // an object a line
	Binary                   // records of 32 bytes

	// JSONEscaped is JSON in which <, > and & are written \u003c, \u003e and \u0026, so that no
	// browser takes an ID for markup, whatever type it believes the answer to have.
	JSONEscaped
)

// HasID reports whether the format writes the ID of a document, rather than its number.
func (f Format) HasID() bool { return f != Binary }

// Append appends the row in the format to dst and returns the extended slice. Of the document
// it writes the ID, or the number where f is [Binary].
func (f Format) Append(dst []byte, r *Row) []byte {
	switch f {
	case TSV:
		return appendTSV(dst, r, "", false)
	case JSON, JSONEscaped:
		return appendJSON(dst, r, "", false, f == JSONEscaped)
	case Binary:
		return appendBinary(dst, r)
	}
	panic("result: no such format")
}

// AppendNamed appends the row as [Format.Append] does, with the query's text in place of its row. Binary has no room
// for one: it panics.
func (f Format) AppendNamed(dst []byte, query string, r *Row) []byte {
	switch f {
	case TSV:
		return appendTSV(dst, r, query, true)
	case JSON, JSONEscaped:
		return appendJSON(dst, r, query, true, f == JSONEscaped)
	}
	panic("result: the format has no room for the text of a query")
}
