package result

import (
	"encoding/binary"
	"io"

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

// A Writer writes hits to a stream, in TSV, JSON and [Binary] each with one call of its Write;
// give it a buffer. It belongs to one goroutine.
type Writer struct {
	lookup func(docID uint64) (string, error)
	to     encoder // nil: Binary

	binary io.Writer
	line   []byte
}

// NewWriter returns a writer of rows to w in a format. The column of the query is an [Integer], its row, or a [Text],
// for queries that are no rows of a file: all are written with [Writer.WriteNamed] then. lookup returns the ID of a
// document, for formats that have it; where it is nil, rows have their IDs already.
func NewWriter(w io.Writer, f Format, query Kind, lookup func(docID uint64) (string, error)) *Writer {
	if f == Binary {
		return &Writer{binary: w}
	}
	to := newEncoder(w, f, []Column{{Name: "query", Kind: query}, {Name: "fingerprint", Kind: Text},
		{Name: "distance", Kind: Integer}, {Name: "id", Kind: Text}})
	withoutHeader(to) // so that parts of a result can be concatenated
	return &Writer{lookup: lookup, to: to}
}

// Write writes a row. Its error is that of the stream or of the look-up.
func (w *Writer) Write(r Row) error {
	if w.to == nil {
		w.line = w.line[:0]
		for _, v := range [4]uint64{uint64(r.Query), uint64(r.Fingerprint), uint64(r.Distance), r.DocID} {
			w.line = binary.LittleEndian.AppendUint64(w.line, v)
		}
		_, err := w.binary.Write(w.line)
		return err
	}
	if err := w.identify(&r); err != nil {
		return err
	}
	w.to.integer(0, int64(r.Query))
	return w.cells(&r)
}

// WriteNamed writes a row with the query's text in place of its row. It panics where the format
// is [Binary].
func (w *Writer) WriteNamed(query string, r Row) error {
	if err := w.identify(&r); err != nil {
		return err
	}
	w.to.text(0, query)
	return w.cells(&r)
}

// identify sets the row's ID.
func (w *Writer) identify(r *Row) (err error) {
	if w.lookup != nil {
		r.ID, err = w.lookup(r.DocID)
	}
	return err
}

// cells writes the row behind the query.
func (w *Writer) cells(r *Row) error {
	w.to.print(1, r.Fingerprint)
	w.to.integer(2, int64(r.Distance))
	w.to.text(3, r.ID)
	return w.to.end()
}

// Close writes what the format has at its end, which is something in [Parquet] only. It does not
// close the stream.
func (w *Writer) Close() error {
	if w.to == nil {
		return nil
	}
	return w.to.close()
}
