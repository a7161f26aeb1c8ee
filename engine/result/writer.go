package result

import "io"

// A Writer writes rows to a stream, each with one call of its Write; give it a buffer. It
// belongs to one goroutine.
type Writer struct {
	to     io.Writer
	format Format
	lookup func(docID uint64) (string, error)
	line   []byte
}

// NewWriter returns a writer of rows to w in a format. lookup returns the ID of a document, for
// formats that have it; where it is nil, rows have their IDs already.
func NewWriter(w io.Writer, f Format, lookup func(docID uint64) (string, error)) *Writer {
	return &Writer{to: w, format: f, lookup: lookup}
}

// Write writes a row. Its error is that of the stream or of the look-up.
func (w *Writer) Write(r Row) error {
	if err := w.identify(&r); err != nil {
		return err
	}
	w.line = w.format.Append(w.line[:0], &r)
	_, err := w.to.Write(w.line)
	return err
}

// WriteNamed writes a row with the query's text in place of its row. It panics where the format
// is [Binary].
func (w *Writer) WriteNamed(query string, r Row) error {
	if err := w.identify(&r); err != nil {
		return err
	}
	w.line = w.format.AppendNamed(w.line[:0], query, &r)
	_, err := w.to.Write(w.line)
	return err
}

// identify sets the row's ID, if the format has one.
func (w *Writer) identify(r *Row) (err error) {
	if w.lookup != nil && w.format.HasID() {
		r.ID, err = w.lookup(r.DocID)
	}
	return err
}
