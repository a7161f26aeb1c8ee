package result

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"example.org/ndd/engine/corpus/columns"
	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/corpus/input"
)

// A Cell is a value of a table as text. Found is false for an empty field of TSV and for null.
type Cell struct {
	Text  string
	Found bool
}

// ReadTable reads a table of a [TableWriter], or a similar one of another program. It calls row with the cells of the
// chosen columns. The extension of the name determines the format; .gz or .zst may follow. ReadTable first calls
// choose with the names of the columns: all in TSV and Parquet, those of the first object in JSON. choose returns the
// columns to read. It is not called for JSON without objects. The cells are valid only during the call. An error says
// where it occurred.
func ReadTable(ctx context.Context, path string, choose func(have []string) ([]string, error),
	row func(cells []Cell) error) error {
	// The extension gives the format.
	name := path
	for _, ending := range []string{".gz", ".zst"} {
		name = strings.TrimSuffix(name, ending)
	}
	kind, err := FormatOf(name)
	if err != nil {
		return err
	}
	as := format.Lines
	if kind == Parquet {
		as = format.Parquet
	}
	// Open the file and read it row by row.
	content, err := format.Open(ctx, input.File{Path: path}, format.Options{Format: as})
	if err != nil {
		return err
	}
	defer content.Close()
	t := tableReader{choose: choose, row: row}
	switch {
	case kind == TSV:
		if err = t.lines(content, t.tsv); err == nil && !t.isOpen {
			err = errors.New("the header is missing: the file is empty")
		}
	case kind == JSON:
		err = t.lines(content, t.json)
	case content.Columns == nil:
		err = errors.New("not a Parquet file")
	default:
		err = t.parquet(content)
	}
	// Add the place to an error.
	if err != nil && t.number > 0 {
		return fmt.Errorf("%s: row %d: %w", path, t.number, err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return ctx.Err()
}

// tableReader is the state of one ReadTable.
type tableReader struct {
	choose func([]string) ([]string, error)
	row    func([]Cell) error

	number  int64 // number of the current row, from 1; 0 before the first
	begun   bool  // the first line was read
	isOpen  bool  // the columns were chosen
	want    []string
	indexes []int               // indexes of the columns, for TSV and Parquet
	formats []columns.Formatter // formatters of Parquet columns
	text    []byte              // text of a Parquet cell
	cells   []Cell
}

// begin calls choose and looks up the columns.
func (t *tableReader) begin(have []string) (err error) {
	if t.want, err = t.choose(have); err != nil {
		return err
	}
	for _, name := range t.want {
		t.indexes = append(t.indexes, slices.Index(have, name))
	}
	t.isOpen, t.cells = true, make([]Cell, len(t.want))
	return nil
}

// lines calls one with each line that is not empty.
func (t *tableReader) lines(content io.Reader, take func(line []byte) error) error {
	lines := bufio.NewScanner(content)
	lines.Buffer(make([]byte, 1<<17), math.MaxInt)
	for lines.Scan() {
		line := bytes.TrimRight(lines.Bytes(), "\r")
		if !t.begun {
			line, t.begun = bytes.TrimPrefix(line, []byte("\ufeff")), true
		}
		if len(line) > 0 {
			if err := take(line); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

func (t *tableReader) tsv(line []byte) error {
	fields := strings.Split(string(line), "\t")
	if !t.isOpen {
		for i, f := range fields {
			fields[i] = Unescape(f)
		}
		return t.begin(fields)
	}
	t.number++
	for i, column := range t.indexes {
		if column >= len(fields) {
			return fmt.Errorf("%d fields, but column %q is number %d", len(fields), t.want[i], column+1)
		}
		t.cells[i] = Cell{Unescape(fields[column]), fields[column] != ""}
	}
	return t.row(t.cells)
}

func (t *tableReader) json(line []byte) error {
	t.number++
	var object map[string]json.RawMessage
	if err := json.Unmarshal(line, &object); err != nil {
		return err
	}
	if !t.isOpen {
		if err := t.begin(slices.Sorted(maps.Keys(object))); err != nil {
			return err
		}
	}
	for i, name := range t.want {
		t.cells[i] = Cell{}
		switch v := object[name]; {
		case len(v) == 0 || string(v) == "null":
		case v[0] == '"':
			t.cells[i].Found = true
			if err := json.Unmarshal(v, &t.cells[i].Text); err != nil {
				return err
			}
		default:
			t.cells[i] = Cell{string(v), true}
		}
	}
	return t.row(t.cells)
}

// pageMax is the maximum decompressed size of a page of a Parquet file.
const pageMax = 256 << 20

func (t *tableReader) parquet(content *format.Content) error {
	file, err := columns.Open(content.Columns, content.Size, columns.Limits{PageBytes: pageMax})
	if err != nil {
		return err
	}
	defer file.Close()
	var have []string
	for _, path := range file.Schema().Columns() {
		have = append(have, strings.Join(path, "."))
	}
	if err := t.begin(have); err != nil {
		return err
	}
	for i, column := range t.indexes {
		if file.IsRepeated(column) {
			return fmt.Errorf("column %q has lists", t.want[i])
		}
		format, err := file.Format(column)
		if err != nil {
			return err
		}
		t.formats = append(t.formats, format)
	}
	for group := range file.Groups() {
		if err := t.group(file, group); err != nil {
			return err
		}
	}
	return nil
}

// group reads a row group.
func (t *tableReader) group(file *columns.File, group int) error {
	readers := make([]*columns.Values, len(t.indexes))
	for i, column := range t.indexes {
		readers[i] = file.Values(group, column)
	}
	for range file.Rows(group) {
		t.number++
		for i, r := range readers {
			if err := r.Row(func(v parquet.Value) {
				if t.cells[i] = (Cell{}); !v.IsNull() {
					t.text = t.formats[i](t.text[:0], v)
					t.cells[i] = Cell{string(t.text), true}
				}
			}); err != nil {
				return err
			}
		}
		if err := t.row(t.cells); err != nil {
			return err
		}
	}
	return nil
}

// unescapes is the inverse of escapes.
var unescapes = strings.NewReplacer(`\t`, "\t", `\n`, "\n", `\r`, "\r", `\\`, `\`)

// Unescape is the inverse of [Escape]. Backslashes before other characters stay.
func Unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return unescapes.Replace(s)
}
