package result

import (
	"fmt"
	"io"

	"example.org/ndd/engine/corpus/simhash"
)

// A Kind is the type of a column of a table.
type Kind int

// The kinds of columns, with their form in TSV, JSON and Parquet.
const (
	Text    Kind = iota + 1 // TSV: escaped as by [Escape]; JSON: a string; Parquet: a UTF-8 string
	Integer                 // decimal; a number; INT64
	Real                    // with 4 decimal places, enough for the similarity of some thousand shingles; a number; DOUBLE
	Flag                    // 1 or 0; true or false; BOOLEAN
)

// A Column is a column of a table. Only an Optional column may have cells without a value: empty fields in TSV, and
// null in JSON and Parquet.
type Column struct {
	Name     string
	Kind     Kind
	Optional bool
}

// A TableWriter writes a table with named columns. TSV begins with a header, JSON objects have a key for every
// column, in order, and Parquet has a schema. A row is written cell by cell:
//
//	t := result.NewTableWriter(w, result.TSV, result.Column{Name: "id", Kind: result.Text},
//		result.Column{Name: "distance", Kind: result.Integer})
//	t.Text("a").Integer(3)
//	err := t.End()
//
// Each row in TSV and JSON is one call of the stream's Write, so the stream should be buffered. Parquet holds up to 8
// MiB of a row group in memory. A TableWriter is used by one goroutine. It panics if cells have the wrong kind or
// number.
type TableWriter struct {
	columns []Column
	next    int // column of the next cell
	encoder encoder
	err     error // the first error
}

// An encoder writes the cells of a table in a format.
type encoder interface {
	text(column int, s string)
	fingerprint(column int, f simhash.Fingerprint) // a text of 16 hexadecimal digits
	integer(column int, v int64)
	real(column int, v float64)
	flag(column int, v bool)
	null(column int)
	end() error
	close() error // writes the rest; the stream stays open
}

// NewTableWriter returns a writer of a table to w in one of the formats of [Tables].
func NewTableWriter(w io.Writer, f Format, columns ...Column) *TableWriter {
	t := &TableWriter{columns: columns}
	switch f {
	case TSV:
		t.encoder = newTSVEncoder(w, columns)
	case JSON:
		t.encoder = newJSONEncoder(w, columns)
	case Parquet:
		t.encoder = newParquetEncoder(w, columns)
	default:
		panic(fmt.Sprintf("result: no tables in format %v", f))
	}
	return t
}

// WithoutHeader omits the header of TSV. It must be called before the first row.
func (t *TableWriter) WithoutHeader() {
	if e, ok := t.encoder.(*lineEncoder); ok {
		e.line = nil
	}
}

// nextColumn advances to the next column and returns its index. It panics if the column is not of kind k, or not
// optional if k is 0.
func (t *TableWriter) nextColumn(k Kind) int {
	i := t.next
	if i >= len(t.columns) {
		panic(fmt.Sprintf("result: a row of more than %d cells", len(t.columns)))
	}
	if c := t.columns[i]; k != 0 && c.Kind != k || k == 0 && !c.Optional {
		panic(fmt.Sprintf("result: column %s has another kind", c.Name))
	}
	t.next++
	return i
}

// Text writes the next cell. Its column must be of kind [Text].
func (t *TableWriter) Text(s string) *TableWriter { t.encoder.text(t.nextColumn(Text), s); return t }

// Integer writes the next cell. Its column must be of kind [Integer].
func (t *TableWriter) Integer(v int64) *TableWriter {
	t.encoder.integer(t.nextColumn(Integer), v)
	return t
}

// Real writes the next cell. Its column must be of kind [Real]. v must be a number.
func (t *TableWriter) Real(v float64) *TableWriter { t.encoder.real(t.nextColumn(Real), v); return t }

// Flag writes the next cell. Its column must be of kind [Flag].
func (t *TableWriter) Flag(v bool) *TableWriter { t.encoder.flag(t.nextColumn(Flag), v); return t }

// Null writes the next cell without a value. Its column must be optional.
func (t *TableWriter) Null() *TableWriter { t.encoder.null(t.nextColumn(0)); return t }

// Row writes the number of a row of a file, or no value if n is 0.
func (t *TableWriter) Row(n int64) *TableWriter {
	if n == 0 {
		return t.Null()
	}
	return t.Integer(n)
}

// End ends the row. After an error of the stream, all later calls return that error.
func (t *TableWriter) End() error {
	if t.next != len(t.columns) {
		panic(fmt.Sprintf("result: a row of %d cells in a table of %d columns", t.next, len(t.columns)))
	}
	t.next = 0
	if t.err == nil {
		t.err = t.encoder.end()
	}
	return t.err
}

// Close writes the end of the format, and the header of a table without rows. It does not close the stream. Without
// Close the output is incomplete.
func (t *TableWriter) Close() error {
	if t.next != 0 {
		panic("result: closed within a row")
	}
	if t.err == nil {
		t.err = t.encoder.close()
	}
	return t.err
}
