package dedup

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"ndd/engine/corpus/document"
	"ndd/engine/result"
)

// Fields are added to every document in copies of the inputs:
//
//	{"id": 7, "text": "..."}      ->  {"id": 7, "text": "...","ndd_kept":false,"ndd_kept_id":"3"}
//	7,...                         ->  7,...,0,3
//	a row of Parquet              ->  with optional columns behind the others
//
// All else stays byte for byte. A command calls [CheckFields] before its work, and then
// [Rewriting.Copy] with a Judge that sets Verdict.Note to the number of each document:
//
//	w := Rewriting{Inputs: inputs, Options: options, FileUnits: report.FileUnits, Threads: threads,
//		Judge:  ..., // as for copies; Drop and Cuts do not matter
//		Fields: &Fields{columns, func(note int) []any { return []any{int64(7), nil, "text"} }}}
type Fields struct {
	Columns []result.Column

	// Values returns a value for each column, of the document with that number, which is 0 for a record
	// of which nothing is known: nil, a string, int64, float64 or bool, as the column's kind says, or a
	// [json.RawMessage], which stands in JSON as it is and elsewhere as a string. Several goroutines
	// call it, each for the documents of a file or row group in order.
	Values func(note int) []any
}

func (f *Fields) names() (names []string) {
	for _, c := range f.Columns {
		names = append(names, c.Name)
	}
	return names
}

// CheckFields returns why fields cannot be added to the documents of some inputs, as the beginning of
// each file tells: documents are no records, or have one of the fields. What cannot be read is left to
// the reading.
func CheckFields(ctx context.Context, inputs []string, opts document.Options, columns []result.Column) error {
	for f, err := range document.Files(ctx, inputs) {
		if err != nil {
			continue
		}
		h, err := f.Head(ctx, opts)
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

// errTaken is the error of a document that has a field already. It is not replaced, since it may be of
// a run that somebody still needs.
func errTaken(where, name string) error {
	return fmt.Errorf("%s: there is a field %s already: give the documents as they were before it was added", where, name)
}

// Annotations are the columns that [Result.Annotate] adds to documents.
var Annotations = []result.Column{{Name: "ndd_cluster", Kind: result.Integer, Optional: true},
	{Name: "ndd_kept", Kind: result.Flag}, {Name: "ndd_kept_id", Kind: result.Text, Optional: true},
	{Name: "ndd_distance", Kind: result.Integer, Optional: true}, {Name: "ndd_jaccard", Kind: result.Real, Optional: true},
	{Name: "ndd_contained", Kind: result.Real, Optional: true}}

// Annotate copies the inputs as [Result.Copy] does, with all documents, and adds [Annotations] to each:
// the number of its cluster, if it is in one, whether it is kept, and for one that is dropped the
// document kept for it, and how near that one is. Records without a decision are kept.
func (r *Result) Annotate(ctx context.Context, to *Copies) (CopyReport, error) {
	c := r.corpus
	if err := c.from.readable(); err != nil {
		return CopyReport{}, err
	}
	notes := r.notes()
	w := c.rewriting()
	w.Judge, w.Fields = r.judge(), &Fields{Annotations, notes.values}
	return w.Copy(ctx, to)
}

// notes find the values of documents in clusters, and of others that are dropped.
type notes struct {
	r    *Result
	list []noteOf // by row
	kept []Row    // of each cluster
}

// noteOf is the number of a document's cluster, from 0, and of its likeness.
type noteOf struct {
	row         Row
	cluster, at uint32
}

func (r *Result) notes() *notes {
	n := &notes{r: r, list: make([]noteOf, 0, r.found.Rows())}
	for i, c := range r.found.Clusters() {
		n.kept = append(n.kept, c.Representative)
		for j, row := range c.Rows {
			n.list = append(n.list, noteOf{row, uint32(i), uint32(r.found.At(i) + j)})
		}
	}
	slices.SortFunc(n.list, func(a, b noteOf) int { return cmp.Compare(a.row, b.row) })
	return n
}

// values returns the values of [Annotations]; a note is a row, from 1.
func (n *notes) values(note int) []any {
	r, row, none := n.r, Row(note-1), []any{nil, true, nil, nil, nil, nil}
	if note == 0 {
		return none
	}
	if d, gone := findDrop(r.SameURL, row); gone {
		if d.KeptRow < 0 {
			return []any{nil, false, d.Kept, nil, nil, nil}
		}
		return []any{nil, false, r.corpus.ID(Row(d.KeptRow)), int64(d.Distance), nil, nil}
	}
	if d, gone := findDrop(r.SameText, row); gone {
		return []any{nil, false, r.corpus.ID(Row(d.KeptRow)), int64(0), 1.0, 1.0}
	}
	if d, gone := findDrop(r.Known, row); gone {
		return append([]any{nil, false, d.Kept, int64(d.Distance)}, r.likeness(d.Likeness)...)
	}
	i, found := slices.BinarySearchFunc(n.list, row, func(n noteOf, row Row) int { return cmp.Compare(n.row, row) })
	if !found {
		return none
	}
	of := n.list[i]
	number, kept := int64(of.cluster)+1, n.kept[of.cluster]
	if row == kept {
		return []any{number, true, nil, nil, nil, nil}
	}
	var like Likeness
	if r.verified {
		like = r.likes[of.at]
	}
	return append([]any{number, false, r.corpus.ID(kept), int64(r.Distance(row, kept))}, r.likeness(like)...)
}

// likeness returns the two values of a likeness, if texts were compared.
func (r *Result) likeness(like Likeness) []any {
	if !r.verified {
		return []any{nil, nil}
	}
	return []any{float64(like.Jaccard), float64(like.Contained)}
}

// note notes where the fields of a unit go.
func (k *copier) note(x *scanned, u document.Unit, note int) error {
	switch k.head.Format {
	case document.Parquet:
		x.cuts = append(x.cuts, cut{from: int64(u.Line), note: note})
	case document.CSV:
		x.cuts = append(x.cuts, cut{from: u.To, note: note})
	default:
		end, taken, ok := u.ObjectEnd(k.fields.names())
		if taken != "" {
			return errTaken(document.Place(u.Source, u.Line), taken)
		}
		if !ok {
			k.report.Unnoted++
			return nil
		}
		x.cuts = append(x.cuts, cut{from: end, note: note})
	}
	return nil
}

// noteNames is the note of the record of CSV that has the names of the fields.
const noteNames = -1

// A noter writes the fields of documents in the format of a file. It belongs to one goroutine.
type noter struct {
	fields *Fields
	csv    bool
	tabs   bool
	line   bytes.Buffer
}

func newNoter(f *Fields, h *document.Head) *noter {
	return &noter{fields: f, csv: h.Format == document.CSV, tabs: h.Tabs}
}

// text returns the fields of a note as text, valid until the next call.
func (n *noter) text(note int) ([]byte, error) {
	n.line.Reset()
	if note == noteNames {
		return n.record(n.fields.names())
	}
	values := n.fields.Values(note)
	if n.csv {
		cells := make([]string, len(values))
		for i, v := range values {
			cells[i] = cellText(v)
		}
		return n.record(cells)
	}
	for i, v := range values {
		if f, ok := v.(float64); ok {
			v = result.Rounded(f)
		}
		name, err := json.Marshal(n.fields.Columns[i].Name)
		if err != nil {
			return nil, err
		}
		n.line.WriteByte(',')
		n.line.Write(name)
		n.line.WriteByte(':')
		e := json.NewEncoder(&n.line)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			return nil, err
		}
		n.line.Truncate(n.line.Len() - 1) // the line end
	}
	return n.line.Bytes(), nil
}

// record returns cells of CSV, as they stand behind others.
func (n *noter) record(cells []string) ([]byte, error) {
	w := csv.NewWriter(&n.line)
	if n.tabs {
		w.Comma = '\t'
	}
	err := w.Write(append([]string{""}, cells...))
	w.Flush()
	return bytes.TrimSuffix(n.line.Bytes(), []byte("\n")), err
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

// note copies up to where the fields of a document go, and adds them. In CSV that is before the end of
// the line, which the offset of the record is behind.
func (c *copying) note(at cut) error {
	text, err := c.notes.text(at.note)
	if err != nil || !c.notes.csv {
		if err == nil {
			err = c.copy(at.from)
		}
		if err == nil {
			err = c.put(text)
		}
		return err
	}
	if err := c.copy(at.from - 2); err != nil {
		return err
	}
	tail := make([]byte, at.from-c.at)
	if _, err := io.ReadFull(c.in, tail); err != nil {
		return err
	}
	c.at = at.from
	record := bytes.TrimSuffix(bytes.TrimSuffix(tail, []byte("\n")), []byte("\r"))
	return c.put(slices.Concat(record, text, tail[len(record):]))
}

// put puts bytes that are not of the content into the blocks.
func (c *copying) put(b []byte) error {
	for len(b) > 0 {
		if len(c.b.in) == cap(c.b.in) {
			if err := c.hand(); err != nil {
				return err
			}
		}
		n := min(len(b), cap(c.b.in)-len(c.b.in))
		c.b.in, b = append(c.b.in, b[:n]...), b[n:]
		c.begun = true
	}
	return nil
}

// schemaCopies are the keys of metadata that say again what the columns are.
var schemaCopies = []string{"ARROW:schema", "huggingface"}

// wider is a group with more fields than another.
type wider struct {
	parquet.Node
	fields []parquet.Field
}

func (w wider) Fields() []parquet.Field { return w.fields }

type zipped struct{ parquet.Field }

func (zipped) Compression() compress.Codec { return &parquet.Zstd }

func (f *Fields) schema(of *parquet.Schema) *parquet.Schema {
	columns := slices.Clone(f.Columns)
	for i := range columns {
		columns[i].Optional = true
	}
	fields := slices.Clone(of.Fields())
	for _, field := range result.Schema(columns).Fields() {
		fields = append(fields, zipped{field})
	}
	return parquet.NewSchema(of.Name(), wider{of, fields})
}

func (c *columnCopy) note(g *columnGroup, rows []parquet.Row) {
	for i := range rows {
		note := 0
		if len(g.notes) > 0 && g.notes[0].from == g.row+int64(i)+1 {
			note, g.notes = g.notes[0].note, g.notes[1:]
		}
		for j, v := range c.fields.Values(note) {
			rows[i] = append(rows[i], columnValue(v, c.columns+j))
		}
	}
}

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
