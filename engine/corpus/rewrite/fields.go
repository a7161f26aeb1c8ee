package rewrite

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/result"
)

// Fields are added to every document in copies of the inputs:
//
//	{"id": 7, "text": "..."}      ->  {"id": 7, "text": "...","ndd_kept":false,"ndd_kept_id":"3"}
//	7,...                         ->  7,...,0,3
//	a row of Parquet              ->  with optional columns after the others
//
// Everything else stays byte for byte. A command calls [CheckFields] before its work, and then [Job.Copy] with
// a Judge that sets Verdict.Note to the number of each document:
//
//	j := Job{Inputs: inputs, Options: options, FileUnits: report.FileUnits, Threads: threads,
//		Judge:  ..., // as for copies; Drop and Cuts do not matter
//		Fields: &Fields{columns, func(note int) []any { return []any{int64(7), nil, "text"} }}}
type Fields struct {
	Columns []result.Column

	// Values returns a value for each column of a document. note is the number of the document, or 0 for a record
	// without a document. A value is nil, or a string, int64, float64 or bool according to the column's kind. It may
	// also be a [json.RawMessage], which is written to JSON unchanged, and to other formats as a string. Several
	// goroutines call Values, each for the documents of a file or row group in order.
	Values func(note int) []any
}

func (f *Fields) names() (names []string) {
	for _, c := range f.Columns {
		names = append(names, c.Name)
	}
	return names
}

// CheckFields returns an error if fields cannot be added to the documents of the inputs, because they are not records
// or already have one of the fields. It reads the beginning of each file. It ignores files that cannot be read,
// because copying reports them.
func CheckFields(ctx context.Context, inputs []string, opts format.Options, columns []result.Column) error {
	for f, err := range input.Files(ctx, inputs) {
		if err != nil {
			continue
		}
		h, err := format.HeadOf(ctx, f, opts)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil && h.Format != "" && !h.Records() {
			return fmt.Errorf("%s: fields can be added to JSONL, JSON, CSV and Parquet, and this is %s", f.Path, h.Format)
		}
		for _, c := range columns {
			if slices.Contains(h.Names, c.Name) {
				return errTaken(f.Path, c.Name)
			}
		}
	}
	return nil
}

// errTaken is the error for a document that already has a field. The field may be the result of an earlier run, so it
// is not replaced.
func errTaken(place, name string) error {
	return fmt.Errorf("%s: field %s already exists: give the documents as they were before it was added", place, name)
}

// noteNames is the note of the CSV record with the names of the fields.
const noteNames = -1

// A fieldText writes the fields of documents in the format of a file. It belongs to one goroutine.
type fieldText struct {
	fields *Fields
	csv    bool
	tabs   bool
	text   bytes.Buffer
}

func newFieldText(f *Fields, h *format.Head) *fieldText {
	return &fieldText{fields: f, csv: h.Format == format.CSV, tabs: h.Tabs}
}

// format returns the fields of a note as text, valid until the next call.
func (n *fieldText) format(note int) ([]byte, error) {
	n.text.Reset()
	// The first record of CSV gets the names of the fields.
	if note == noteNames {
		return n.record(n.fields.names())
	}
	// Other records of CSV get the values.
	values := n.fields.Values(note)
	if n.csv {
		cells := make([]string, len(values))
		for i, v := range values {
			cells[i] = cellText(v)
		}
		return n.record(cells)
	}
	// Objects of JSON get members that follow their own.
	for i, v := range values {
		if f, ok := v.(float64); ok {
			v = result.Rounded(f)
		}
		name, err := json.Marshal(n.fields.Columns[i].Name)
		if err != nil {
			return nil, err
		}
		n.text.WriteByte(',')
		n.text.Write(name)
		n.text.WriteByte(':')
		e := json.NewEncoder(&n.text)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			return nil, err
		}
		n.text.Truncate(n.text.Len() - 1) // the line end
	}
	return n.text.Bytes(), nil
}

// record returns cells of CSV that follow other cells.
func (n *fieldText) record(cells []string) ([]byte, error) {
	w := csv.NewWriter(&n.text)
	if n.tabs {
		w.Comma = '\t'
	}
	err := w.Write(append([]string{""}, cells...))
	w.Flush()
	return bytes.TrimSuffix(n.text.Bytes(), []byte("\n")), err
}

// cellText returns a value as a cell of CSV.
func cellText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case bool:
		if v {
			return "1"
		}
		return "0"
	case float64:
		return strconv.FormatFloat(result.Rounded(v), 'g', -1, 64)
	case json.RawMessage:
		return string(v)
	}
	return fmt.Sprint(v)
}

// columnValue returns the value of a field for a column.
func columnValue(v any, column int) parquet.Value {
	switch v := v.(type) {
	case nil:
		return parquet.NullValue().Level(0, 0, column)
	case float64:
		return parquet.DoubleValue(result.Rounded(v)).Level(0, 1, column)
	case json.RawMessage:
		return parquet.ByteArrayValue(v).Level(0, 1, column)
	case string:
		return parquet.ByteArrayValue(bytes.ToValidUTF8([]byte(v), []byte("\ufffd"))).Level(0, 1, column)
	}
	return parquet.ValueOf(v).Level(0, 1, column)
}
