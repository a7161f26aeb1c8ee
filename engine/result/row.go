package result

import "ndd/engine/corpus/simhash"

// A Row is one hit: a document whose fingerprint is within the distance of a query.
type Row struct {
	Query       int                 // row of the query in its file, from 0
	Fingerprint simhash.Fingerprint // of the document
	Distance    int                 // between it and the query, in bits
	DocID       uint64              // number of the document
	ID          string              // its external key; a [Writer] may be left to look it up
}

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
