package result

import "io"

// A Writer writes hits to a stream, in TSV, JSON and [Binary] each with one call of its Write;
// give it a buffer. It belongs to one goroutine.
type Writer struct {
	to     io.Writer
	format Format
	lookup func(docID uint64) (string, error)
	line   []byte
	table  *TableWriter // of Parquet; nil for other formats
}

// NewWriter returns a writer of rows to w in a format. lookup returns the ID of a document, for
// formats that have it; where it is nil, rows have their IDs already.
func NewWriter(w io.Writer, f Format, lookup func(docID uint64) (string, error)) *Writer {
	return newWriter(w, f, lookup, Integer)
}

// NewNamedWriter is [NewWriter] for queries that have a text instead of a row, all of which are written with
// [Writer.WriteNamed]: the column of the query in Parquet is one of texts.
func NewNamedWriter(w io.Writer, f Format, lookup func(docID uint64) (string, error)) *Writer {
	return newWriter(w, f, lookup, Text)
}

func newWriter(w io.Writer, f Format, lookup func(docID uint64) (string, error), query Kind) *Writer {
	writer := &Writer{to: w, format: f, lookup: lookup}
	if f == Parquet {
		writer.table = NewTableWriter(w, f, Column{Name: "query", Kind: query}, Column{Name: "fingerprint", Kind: Text},
			Column{Name: "distance", Kind: Integer}, Column{Name: "id", Kind: Text})
	}
	return writer
}

// Write writes a row. Its error is that of the stream or of the look-up.
func (w *Writer) Write(r Row) error {
	if err := w.identify(&r); err != nil {
		return err
	}
	if w.table != nil {
		return w.cells(w.table.Integer(int64(r.Query)), &r)
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
	if w.table != nil {
		return w.cells(w.table.Text(query), &r)
	}
	w.line = w.format.AppendNamed(w.line[:0], query, &r)
	_, err := w.to.Write(w.line)
	return err
}

// cells writes the row behind the query.
func (w *Writer) cells(t *TableWriter, r *Row) error {
	return t.Text(r.Fingerprint.String()).Integer(int64(r.Distance)).Text(r.ID).End()
}

// Close writes what the format has at its end, which is something in [Parquet] only. It does not
// close the stream.
func (w *Writer) Close() error {
	if w.table == nil {
		return nil
	}
	return w.table.Close()
}

// identify sets the row's ID, if the format has one.
func (w *Writer) identify(r *Row) (err error) {
	if w.lookup != nil && w.format.HasID() {
		r.ID, err = w.lookup(r.DocID)
	}
	return err
}
