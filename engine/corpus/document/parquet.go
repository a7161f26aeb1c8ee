package document

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"ndd/engine/corpus/columns"
)

// errNoFile is what stands against reading a Parquet file that is not plain on disk: its index is at its end.
var errNoFile = errors.New("a Parquet file is read from its end: it must be a file on disk that is not compressed as a whole")

// parquetPageMax is the most bytes of a page, decompressed, unless one document may be longer.
const parquetPageMax = 256 << 20

// parquetRows yields one unit a row of a Parquet file: of the columns, text, ID and values are read, page by page. A row group
// that is damaged loses its rows from there on, which are counted; the next one is read all the same.
func (s *stream) parquetRows() error {
	if s.plain == nil {
		return errNoFile
	}
	file, err := columns.Open(&meteredReaderAt{s, s.plain}, s.size, max(parquetPageMax, 2*s.opts.MaxDocumentBytes))
	if err != nil {
		return damage{err}
	}
	defer file.Close()
	c, err := s.parquetColumns(file.Schema())
	if err != nil {
		return err
	}
	s.chosen(c.Fields)
	s.line = 0
	for group := range file.Groups() {
		before := s.line
		err := s.parquetGroup(file, group, c)
		if err == nil {
			continue
		}
		if errors.Is(err, errStop) || s.ctx.Err() != nil || errors.As(err, new(*Skip)) {
			return err
		}
		if err := s.parquetLost(int64(before)+file.Rows(group), err); err != nil {
			return err
		}
	}
	return nil
}

// parquetLost yields the skip of rows that could not be read, from the one that is in hand to the last of its group.
func (s *stream) parquetLost(last int64, why error) error {
	first := s.line
	s.line = int(last)
	return s.skip(&Skip{Source: s.file.Path, Line: first, At: s.good, Reason: DamagedRows, Rows: last - int64(first) + 1,
		Err: fmt.Errorf("%w: rows %d to %d are lost", why, first, last)})
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
func (s *stream) parquetGroup(file *columns.File, group int, c parquetColumns) error {
	numbers := append([]int{c.text, c.id}, c.values...)
	readers := make([]*columnReader, len(numbers))
	defer func() {
		for _, r := range readers {
			if r != nil {
				r.pages.Close()
			}
		}
	}()
	for i, n := range numbers {
		if n < 0 {
			continue
		}
		pages, err := file.Pages(group, n)
		if err != nil {
			s.line++ // the first row of the group is lost, too
			return err
		}
		readers[i] = &columnReader{pages: pages}
	}
	row := make([]parquet.Value, len(numbers))
	for range file.Rows(group) {
		s.line++
		for i, r := range readers {
			if r == nil {
				continue
			}
			v, err := r.next()
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
	pages  *columns.Pages
	page   parquet.Page
	values parquet.ValueReader // of the page; nil before the first one
	buffer [128]parquet.Value
	ahead  []parquet.Value // of the buffer
}

// next returns the next value. There must be one.
func (r *columnReader) next() (v parquet.Value, err error) {
	for len(r.ahead) == 0 {
		if err := r.fill(); err != nil {
			return v, err
		}
	}
	v, r.ahead = r.ahead[0], r.ahead[1:]
	return v, nil
}

// fill reads values ahead, or the next page.
func (r *columnReader) fill() (err error) {
	if r.values == nil {
		if r.page, err = r.pages.Next(); err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		r.values = r.page.Values()
	}
	n, err := r.pages.Read(r.values, r.buffer[:])
	r.ahead = r.buffer[:n]
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if n == 0 {
		parquet.Release(r.page)
		r.values = nil
	}
	return nil
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
