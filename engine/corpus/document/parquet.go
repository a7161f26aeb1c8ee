package document

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// errNoFile is what stands against reading a Parquet file that is not plain on disk: its index is at its end.
var errNoFile = errors.New("a Parquet file is read from its end: it must be a file on disk that is not compressed as a whole")

// parquetRows yields one unit a row of a Parquet file: of the columns, text, ID and values are read, page by page.
func (s *stream) parquetRows() (err error) {
	if s.plain == nil {
		return errNoFile
	}
	defer func() {
		if r := recover(); r != nil { // the decoder's, of pages that contradict themselves
			err = damage{fmt.Errorf("%v", r)}
		}
	}()
	file, err := parquet.OpenFile(&meteredReaderAt{s, s.plain}, s.size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return damage{err}
	}
	columns, err := s.parquetColumns(file.Schema())
	if err != nil {
		return err
	}
	s.chosen(columns.Fields)
	s.line = 0
	for i, group := range file.RowGroups() {
		if err := s.parquetGroup(group, columns); err != nil {
			if errors.Is(err, errStop) || s.ctx.Err() != nil || errors.As(err, new(*Skip)) {
				return err
			}
			return damage{fmt.Errorf("row group %d: %w", i, err)}
		}
	}
	return nil
}

// parquetColumns are the columns that are read, by their number in the file; -1: none.
type parquetColumns struct {
	Fields
	text, id int
	values   []int
}

func (s *stream) parquetColumns(schema *parquet.Schema) (c parquetColumns, err error) {
	find := func(name string) int {
		for _, path := range [][]string{{name}, strings.Split(name, ".")} {
			if leaf, ok := schema.Lookup(path...); ok && leaf.MaxRepetitionLevel == 0 {
				return leaf.ColumnIndex
			}
		}
		return -1
	}
	isText := func(name string) bool {
		leaf, ok := schema.Lookup(name)
		return ok && leaf.MaxRepetitionLevel == 0 && leaf.Node.Type().Kind() == parquet.ByteArray
	}
	f, known := s.opts.choose(func(name string) bool { return isText(name) || slices.Contains(IDFields, name) && find(name) >= 0 })
	c = parquetColumns{Fields: f, text: -1, id: -1}
	var have []string
	for _, path := range schema.Columns() {
		have = append(have, strings.Join(path, "."))
	}
	s.line = 0
	if !known {
		return c, s.noFields(&FieldError{have})
	}
	if c.text = find(f.Text); c.text < 0 {
		return c, s.noFields(fmt.Errorf("no column %q among %.200q", f.Text, have))
	}
	if f.ID != "" {
		c.id = find(f.ID)
	}
	for _, name := range s.opts.ValueFields {
		if i := find(name); i >= 0 {
			c.values = append(c.values, i)
		}
	}
	return c, nil
}

// parquetGroup yields the rows of one row group.
func (s *stream) parquetGroup(group parquet.RowGroup, c parquetColumns) error {
	numbers := append([]int{c.text, c.id}, c.values...)
	readers := make([]*columnReader, len(numbers))
	defer func() {
		for _, r := range readers {
			if r != nil && r.pages != nil {
				r.pages.Close()
			}
		}
	}()
	for i, n := range numbers {
		if n >= 0 {
			readers[i] = &columnReader{pages: group.ColumnChunks()[n].Pages()}
		}
	}
	row := make([]parquet.Value, len(numbers))
	for range group.NumRows() {
		s.line++
		for i, r := range readers {
			if r == nil {
				continue
			}
			v, err := r.next()
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			if err != nil {
				return err
			}
			row[i] = v
		}
		if err := s.parquetRow(row, c); err != nil {
			return err
		}
	}
	return nil
}

// parquetRow yields a row's document.
func (s *stream) parquetRow(row []parquet.Value, c parquetColumns) error {
	text := row[0]
	if text.IsNull() || text.Kind() != parquet.ByteArray && text.Kind() != parquet.FixedLenByteArray {
		return s.skip(&Skip{Source: s.file.Path, Line: s.line, Reason: NoText, Err: fmt.Errorf("column %q has no text here", c.Text)})
	}
	raw := text.ByteArray()
	if int64(len(raw)) > s.opts.MaxDocumentBytes {
		return s.skip(s.tooLarge(s.line))
	}
	u := Unit{Line: s.line, format: CSV, raw: slices.Clone(raw), id: columnText(row[1])}
	if isHTML(c.Text) {
		u.format = HTML
	}
	for _, v := range row[2:] {
		if t := columnText(v); t != "" {
			u.value = Value{Text: t, Found: true}
			break
		}
	}
	return s.emit(u)
}

// columnText returns a value as text, "" where there is none.
func columnText(v parquet.Value) string {
	if v.IsNull() {
		return ""
	}
	switch v.Kind() {
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return string(v.ByteArray())
	case parquet.Int32:
		return strconv.FormatInt(int64(v.Int32()), 10)
	case parquet.Int64:
		return strconv.FormatInt(v.Int64(), 10)
	}
	return v.String()
}

// columnReader reads the values of a column one by one: a null is a value.
type columnReader struct {
	pages  parquet.Pages
	page   parquet.Page
	values parquet.ValueReader // of the page; nil before the first one
	buffer [128]parquet.Value
	ahead  []parquet.Value // of the buffer
}

func (r *columnReader) next() (v parquet.Value, err error) {
	for len(r.ahead) == 0 {
		if r.values != nil {
			n, err := r.values.ReadValues(r.buffer[:])
			r.ahead = r.buffer[:n]
			if err != nil && !errors.Is(err, io.EOF) {
				return v, err
			}
			if n > 0 {
				continue
			}
			parquet.Release(r.page)
			r.values = nil
		}
		if r.page, err = r.pages.ReadPage(); err != nil {
			return v, err
		}
		r.values = r.page.Values()
	}
	v, r.ahead = r.ahead[0], r.ahead[1:]
	return v, nil
}

// meteredReaderAt counts what is read, and ends with the context.
type meteredReaderAt struct {
	s *stream
	r io.ReaderAt
}

func (m *meteredReaderAt) ReadAt(p []byte, at int64) (int, error) {
	if err := m.s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.r.ReadAt(p, at)
	m.s.opts.Meter.Bytes.Add(int64(n))
	return n, err
}
