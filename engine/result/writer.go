package result

import (
	"encoding/binary"
	"io"

	"example.org/ndd/engine/corpus/simhash"
)

// A Row is one hit: a document whose fingerprint is within the distance of a query.
type Row struct {
	Query       int                 // row of the query in its file, from 0
	Text        string              // text of a query that is not a row of a file
	Fingerprint simhash.Fingerprint // fingerprint of the document
	Distance    int                 // number of bits in which it differs from the query
	DocID       uint64              // number of the document
	ID          string              // external ID of the document; a [Writer] may look it up
	Similarity  float32             // estimated Jaccard similarity of the texts; 0 if unknown
}

// A Writer writes hits to a stream. Except in Parquet, each row is one call of the stream's Write, so the stream
// should be buffered. It is used by one goroutine.
type Writer struct {
	lookup   func(docID uint64) (string, error)
	encoder  encoder // nil for Binary
	query    Kind    // kind of the query column
	verified bool    // rows have a similarity

	binary io.Writer
	line   []byte
}

// NewWriter returns a writer of rows to w. The query column is an [Integer], the row of the query, or a [Text] for
// queries that are not rows of a file. lookup returns the ID of a document, for formats with IDs. If lookup is nil,
// the rows contain their IDs.
//
// If verified is true, the last column is the similarity. It is empty if unknown. [Binary] does not have it.
func NewWriter(w io.Writer, f Format, query Kind, verified bool, lookup func(docID uint64) (string, error)) *Writer {
	if f == Binary {
		return &Writer{binary: w}
	}
	columns := []Column{{Name: "query", Kind: query}, {Name: "fingerprint", Kind: Text},
		{Name: "distance", Kind: Integer}, {Name: "id", Kind: Text}}
	if verified {
		columns = append(columns, Column{Name: "similarity", Kind: Real, Optional: true})
	}
	t := NewTableWriter(w, f, columns...)
	t.WithoutHeader() // so that parts of a result can be concatenated
	return &Writer{lookup: lookup, encoder: t.encoder, query: query, verified: verified}
}

// Write writes a row. It returns an error of the stream or of lookup.
func (w *Writer) Write(r Row) (err error) {
	if w.encoder == nil {
		w.line = w.line[:0]
		for _, v := range [4]uint64{uint64(r.Query), uint64(r.Fingerprint), uint64(r.Distance), r.DocID} {
			w.line = binary.LittleEndian.AppendUint64(w.line, v)
		}
		_, err = w.binary.Write(w.line)
		return err
	}
	if w.lookup != nil {
		if r.ID, err = w.lookup(r.DocID); err != nil {
			return err
		}
	}
	if w.query == Text {
		w.encoder.text(0, r.Text)
	} else {
		w.encoder.integer(0, int64(r.Query))
	}
	w.encoder.fingerprint(1, r.Fingerprint)
	w.encoder.integer(2, int64(r.Distance))
	w.encoder.text(3, r.ID)
	switch {
	case !w.verified:
	case r.Similarity == 0:
		w.encoder.null(4)
	default:
		w.encoder.real(4, float64(r.Similarity))
	}
	return w.encoder.end()
}

// Close writes the end of the format, which only [Parquet] has. It does not close the stream.
func (w *Writer) Close() error {
	if w.encoder == nil {
		return nil
	}
	return w.encoder.close()
}
