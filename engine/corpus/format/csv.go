package format

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unsafe"

	"example.org/ndd/engine/corpus/input"
)

// A table of text is a sequence of records. The first one names the fields. A field that begins with a quotation
// mark is quoted: it ends at the next mark that is not doubled, maybe in a later line.
//
//	1,"He said ""no"",⏎and left."     a record of two lines
//	1⇥"No," he said.                  between tabs: no quotation, since no tab or line end follows the second mark
//
// A quotation without an end seems to hold all lines up to a later quotation mark or the end of the file. In this case
// only the first line is a broken record, and the other lines are read again. A quotation that ends in a later line is
// handled in the same way if each of its lines looks like a record.

// tableRecords yields one unit a record. The first one names the fields.
func tableRecords(c *Content) iter.Seq2[Unit, error] {
	return func(yield func(Unit, error) bool) {
		c.skipMark()
		t := &tableReader{c: c, lines: lineReader{c: c}, comma: separator(c.file.Path), offset: c.r.Offset(), line: 1}
		columns, err := t.header()
		switch {
		case errors.Is(err, io.EOF):
		case err != nil:
			yield(Unit{Line: t.lines.number}, err)
		default:
			rowChoice(c, columns).units(each(t.row))(yield)
		}
	}
}

// header reads the first record and returns the columns to read. The error is io.EOF if the file is empty.
func (t *tableReader) header() (columns *tableColumns, err error) {
	names, err := t.read()
	if skip, ok := errors.AsType[*input.Skip](err); ok {
		return nil, skip.Err // without the place: the caller adds it
	}
	if err != nil {
		return nil, err
	}
	t.fields = len(names)
	t.c.head = Head{t.c.head.Format, slices.Clone(names), t.comma == "\t", t.offset}
	return t.c.tableColumns(t.c.head.Names)
}

// row returns the unit of the next record, without its text.
func (t *tableReader) row() (u Unit, err error) {
	u.From = t.offset
	u.cells, err = t.read()
	u.Line, u.To = t.lines.number, t.offset
	return u, err
}

// rowChoice returns the choice of the column of the text. If there is only one column to choose, no records are held.
func rowChoice(c *Content, columns *tableColumns) *choice {
	texts := fieldCount{}
	return &choice{
		isDecided: len(columns.candidates) < 2,
		count: func(u *Unit) bool {
			u.cells = slices.Clone(u.cells)
			for _, column := range columns.candidates {
				if u.cells[column] != "" {
					texts[columns.names[column]]++
				}
			}
			return false
		},
		decide: func([]rowUnit) (bool, error) {
			columns.decide(&c.opts, texts)
			c.chosen(columns.Fields)
			return true, nil
		},
		fill: columns.fillRow,
	}
}

// fillRow completes the unit of a record by its cells.
func (c *tableColumns) fillRow(u *Unit) {
	cells := u.cells
	column := c.texts[max(slices.IndexFunc(c.texts, func(i int) bool { return cells[i] != "" }), 0)]
	text := cells[column] // a part of a string that only this record has
	c.fill(u, column, unsafe.Slice(unsafe.StringData(text), len(text)), func(i int) string { return strings.Clone(cells[i]) })
	u.cells = nil
}

// tableColumns returns the columns to read of a table, given their names in the first record. If several columns may
// hold the text, the first rows decide.
func (c *Content) tableColumns(names []string) (*tableColumns, error) {
	if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, "\r") }) {
		return nil, errors.New(`its lines end with CR alone: change that first, such as by tr '\r' '\n'`)
	}
	find := func(name string) int { return slices.Index(names, name) }
	columns, err := c.opts.columns(names, find, func(name string) bool { return find(name) >= 0 })
	if err != nil {
		return nil, c.noFields(err)
	}
	if len(columns.candidates) < 2 {
		c.chosen(columns.Fields)
	}
	return columns, nil
}

// separator returns a tab for .tsv, whatever compression's extension follows, and a comma
// otherwise.
func separator(path string) string {
	if strings.Contains(strings.ToLower(filepath.Base(path)), ".tsv") {
		return "\t"
	}
	return ","
}

const (
	csvFieldsMax = 1 << 16  // fields of a table
	csvMarksMax  = 1 << 21  // separators in a record: the parser remembers each
	csvHeldMax   = 16 << 20 // bytes of a record of several lines, unless the limit of a document is larger
)

// A tableReader reads records line by line.
type tableReader struct {
	c      *Content
	lines  lineReader // their number is the first line of the last record
	comma  string     // between fields
	fields int        // number in each record; 0: any number
	offset int64      // offset of the next line in the content
	line   int        // its number

	buffered  [][]byte // lines that have been read
	nextIndex int      // index in ahead of the first line to read again
	raw       []byte   // a record of several lines
	in        bytes.Reader
	csv       *csv.Reader // reads in; nil after an error
}

// nextLine returns the next line with its end.
func (t *tableReader) nextLine() (line []byte, err error) {
	if t.nextIndex == len(t.buffered) {
		from := t.c.r.Offset()
		if line, err = t.lines.read(); err == nil {
			t.buffered = append(t.buffered, line)
		} else if t.c.r.Offset() > from { // a line beyond the limit
			t.offset += t.c.r.Offset() - from
			t.line++
		}
		if err != nil {
			return nil, err
		}
	}
	line = t.buffered[t.nextIndex]
	t.nextIndex++
	t.line++
	t.offset += int64(len(line))
	return line, nil
}

// read returns the next record, valid until the next call. The error of a broken record is a *[input.Skip].
func (t *tableReader) read() (record []string, err error) {
	if t.nextIndex > len(t.buffered)/2 {
		t.buffered, t.nextIndex = slices.Delete(t.buffered, 0, t.nextIndex), 0
	}
	// Read the first line that is not empty, and the further lines of its quotations.
	var first []byte
	for len(bytes.TrimRight(first, "\r\n")) == 0 {
		t.lines.number = t.line
		if first, err = t.nextLine(); err != nil {
			return nil, err
		}
	}
	begin := t.nextIndex
	raw, err := t.quotations(first)
	if err == nil {
		record, err = t.parse(raw)
	}
	// Return a record of one line. Suspect a record of several lines.
	lines := t.nextIndex - begin
	if err == nil && lines > 0 && t.comma == "," && t.areRecords(append([][]byte{first}, t.buffered[begin:t.nextIndex]...)) {
		err = t.skip("a quotation ends in a line that looks like another record")
	}
	skip, isSkip := errors.AsType[*input.Skip](err)
	if err == nil && lines == 0 || err != nil && !(isSkip && skip.Reason == input.Broken) {
		return record, err
	}
	// Between tabs, the first line may be a record by itself.
	var alone []string // fields of the first line
	if t.comma == "\t" && (err != nil || bytes.Count(raw, []byte("\t")) == (lines+1)*(t.fields-1)) {
		alone = t.splitTabs(first)
	}
	if err == nil && alone == nil {
		return record, nil
	}
	if alone != nil {
		record, err = alone, nil
	}
	// Read the other lines again.
	for _, line := range t.buffered[begin:t.nextIndex] {
		t.offset -= int64(len(line))
	}
	t.line, t.nextIndex = t.line-lines, begin
	if err != nil && lines > 0 {
		skip.Err = fmt.Errorf("%w: the record seems to cover %d lines, and reading resumes at the second of them",
			skip.Err, lines+1)
	}
	return record, err
}

// areRecords reports whether each of the lines of a quotation looks like a record. Each line must have the right number
// of fields. At least one column, such as an ID, must have numbers of the same form in all lines.
func (t *tableReader) areRecords(lines [][]byte) bool {
	for i, line := range lines {
		if t.fields < 2 || bytes.Count(line, []byte(t.comma)) != t.fields-1 || i > 0 && prose.Match(line) {
			return false
		}
	}
	forms := map[string]int{} // the number of lines with each form of each column
	for _, line := range lines {
		for i, field := range strings.Split(strings.TrimRight(string(line), "\r\n"), t.comma) {
			if form := digits.ReplaceAllString(letters.ReplaceAllString(field, "a"), "9"); strings.Contains(form, "9") {
				forms[fmt.Sprint(i, form)]++
			}
		}
	}
	return slices.Contains(slices.Collect(maps.Values(forms)), len(lines))
}

var (
	prose   = regexp.MustCompile(`, |[0-9],[0-9]{3}\b`) // commas between words and within a number
	digits  = regexp.MustCompile(`[0-9]+`)
	letters = regexp.MustCompile(`\pL+`)
)

// quotations returns the record that begins with a line. It adds more lines until all quotations end.
func (t *tableReader) quotations(first []byte) (raw []byte, err error) {
	if isEven(first) {
		return first, nil
	}
	t.raw = append(t.raw[:0], first...)
	for {
		line, err := t.nextLine()
		t.raw = append(t.raw, line...)
		switch {
		case errors.Is(err, io.EOF), int64(len(t.raw)) > max(csvHeldMax, t.c.opts.MaxDocumentBytes):
			return t.raw, t.skip("a quotation does not end")
		case err != nil, !isEven(line): // the record ends
			return t.raw, err
		}
	}
}

// isEven reports whether the number of quotation marks is even, so that all quotations end.
func isEven(line []byte) bool { return bytes.Count(line, []byte{'"'})%2 == 0 }

// parse splits a record into its fields.
func (t *tableReader) parse(raw []byte) (record []string, err error) {
	limit := csvMarksMax
	if t.fields == 0 {
		limit = csvFieldsMax
	}
	if n := bytes.Count(raw, []byte(t.comma)); n > limit {
		return nil, t.skip("%d separators, the limit is %d", n, limit)
	}
	if t.csv == nil {
		t.csv = csv.NewReader(&t.in)
		t.csv.Comma, t.csv.ReuseRecord, t.csv.FieldsPerRecord = rune(t.comma[0]), true, -1
	}
	t.in.Reset(raw)
	record, err = t.csv.Read()
	switch parse, failed := errors.AsType[*csv.ParseError](err); {
	case failed:
		t.csv = nil // the rest of the record is in it
		return nil, t.skip("%w", parse.Err)
	case t.fields > 0 && len(record) != t.fields:
		return nil, t.skip("%d fields where the first record has %d", len(record), t.fields)
	case int64(len(raw)) > t.c.opts.MaxDocumentBytes:
		return nil, t.c.tooLarge(t.lines.number)
	}
	return record, nil
}

func (t *tableReader) skip(format string, args ...any) *input.Skip {
	return &input.Skip{Line: t.lines.number, Reason: input.Broken, Err: fmt.Errorf(format, args...)}
}

// splitTabs returns the fields of a line, separated by tabs. It returns nil if the line alone is not a record. A field
// is quoted if it ends with a quotation mark and the quotation marks within it are doubled.
func (t *tableReader) splitTabs(line []byte) []string {
	fields := strings.Split(strings.TrimRight(string(line), "\r\n"), "\t")
	if t.fields > 0 && len(fields) != t.fields {
		return nil
	}
	for i, f := range fields {
		if len(f) > 1 && f[0] == '"' && f[len(f)-1] == '"' {
			in := f[1 : len(f)-1]
			if strings.Count(in, `"`) == 2*strings.Count(in, `""`) {
				fields[i] = strings.ReplaceAll(in, `""`, `"`)
			}
		}
	}
	return fields
}
