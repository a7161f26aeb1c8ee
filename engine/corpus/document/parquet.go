package document

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"ndd/engine/corpus/columns"
)

// errNoFile is the error of a Parquet file that is not plain on disk: its index is at its end.
var errNoFile = errors.New("a Parquet file is read from its end: " +
	"it must be a file on disk that is not compressed as a whole")

// parquetPageMax is the most bytes of a page, decompressed, unless one document may be longer.
const parquetPageMax = 256 << 20

// parquetRows yields one unit a row of a Parquet file: of the columns, text, ID and values are
// read, page by page. A row group that is damaged loses its rows from there on, which are counted;
// the next one is read all the same.
func (s *stream) parquetRows() error {
	if s.plain == nil {
		return errNoFile
	}
	file, err := columns.Open(&meteredReaderAt{s, s.plain}, s.size, max(parquetPageMax, 2*s.opts.MaxDocumentBytes))
	if err != nil {
		return damage{err}
	}
	defer file.Close()
	for _, f := range file.Schema().Fields() {
		s.header = append(s.header, f.Name())
	}
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

// parquetLost yields the skip of rows that could not be read, from the one that is in hand to the
// last of its group.
func (s *stream) parquetLost(last int64, why error) error {
	first := s.line
	s.line = int(last)
	return s.skip(&Skip{Line: first, At: s.good, Reason: DamagedRows, Rows: last - int64(first) + 1,
		Err: fmt.Errorf("%w: rows %d to %d are lost", why, first, last)})
}

// parquetColumns returns the columns that are read, by their number in the file.
func (s *stream) parquetColumns(schema *parquet.Schema) (recordColumns, error) {
	paths := schema.Columns()
	find := func(name string) int {
		if name == "" { // no field: a column without a name is not it
			return -1
		}
		if i := slices.IndexFunc(paths, func(path []string) bool { return len(path) == 1 && path[0] == name }); i >= 0 {
			return i
		}
		steps := slices.DeleteFunc(fieldPath(name), func(step string) bool { return step == everyElement })
		return slices.IndexFunc(paths, func(path []string) bool {
			return slices.Equal(path, steps) || slices.Equal(withoutLists(schema, path), steps)
		})
	}
	isText := func(name string) bool {
		leaf, ok := schema.Lookup(name)
		return ok && leaf.MaxRepetitionLevel == 0 && leaf.Node.Type().Kind() == parquet.ByteArray
	}
	var have []string
	for _, path := range paths {
		have = append(have, strings.Join(withoutLists(schema, path), "."))
	}
	s.line = 0
	c, err := s.opts.columns(have, find, func(name string) bool {
		return isText(name) || slices.Contains(IDFields, name) && find(name) >= 0
	})
	if err != nil {
		err = s.noFields(err)
	}
	return c, err
}

// withoutLists returns the path of a column without the groups that the format puts into each list,
// such as list and element.
func withoutLists(schema *parquet.Schema, path []string) (steps []string) {
	node := parquet.Node(schema)
	inList := false
	for _, name := range path {
		group := node.Fields()
		i := slices.IndexFunc(group, func(f parquet.Field) bool { return f.Name() == name })
		if i < 0 {
			return path
		}
		node = group[i]
		wraps := len(group) == 1 && node.Repeated() && len(steps) > 0
		if !wraps && !(inList && slices.Contains([]string{"element", "item", "array_element"}, name)) {
			steps = append(steps, name)
		}
		inList = wraps
	}
	return steps
}

// parquetGroup yields the rows of one row group.
func (s *stream) parquetGroup(file *columns.File, group int, c recordColumns) error {
	numbers := slices.Concat([]int{c.text, c.id}, slices.Concat(c.values...))
	readers := make([]*columnReader, len(numbers))
	for i, n := range numbers {
		if n >= 0 {
			readers[i] = &columnReader{values: file.Values(group, n), repeats: file.IsRepeated(n)}
			defer readers[i].values.Close()
		}
	}
	row := make([]cell, len(numbers))
	for range file.Rows(group) {
		s.line++
		for i, r := range readers {
			row[i] = cell{most: s.opts.MaxDocumentBytes, isText: i == 0}
			if r == nil {
				continue
			}
			if err := r.next(row[i].add); err != nil {
				return err
			}
		}
		if err := s.parquetRow(row, numbers, c); err != nil {
			return err
		}
	}
	return nil
}

// parquetRow yields a row's document.
func (s *stream) parquetRow(row []cell, numbers []int, c recordColumns) error {
	text := row[0]
	if text.n == 0 {
		return s.skip(&Skip{Line: s.line, Reason: NoText, Err: fmt.Errorf("column %q has no text here", c.Text)})
	}
	if int64(len(text.content)) > s.opts.MaxDocumentBytes {
		return s.skip(s.tooLarge(s.line))
	}
	u := c.unit(text.content, func(column int) string { return row[1+slices.Index(numbers[1:], column)].one() })
	u.Line = s.line
	return s.emit(u)
}

// A cell is the content of a column in a row: a value as text, or those of a list with line ends
// between.
type cell struct {
	most    int64 // bytes, beyond which it does not matter how many there are
	isText  bool  // strings alone count
	n       int   // values that are not null
	content []byte
}

func (c *cell) add(v parquet.Value) {
	isBytes := v.Kind() == parquet.ByteArray || v.Kind() == parquet.FixedLenByteArray
	if v.IsNull() || c.isText && !isBytes {
		return
	}
	if c.n++; c.n > 1 {
		c.content = append(c.content, '\n')
	}
	switch {
	case int64(len(c.content)) > c.most:
	case isBytes:
		c.content = append(c.content, v.ByteArray()...)
	default:
		c.content = append(c.content, v.String()...)
	}
}

// one returns the content of a single value, "" where there are none or several.
func (c *cell) one() string {
	if c.n != 1 {
		return ""
	}
	return string(c.content)
}

// columnReader reads the values of a column row by row: a null is a value.
type columnReader struct {
	values  *columns.Values
	repeats bool // a row may have several values
	buffer  [128]parquet.Value
	ahead   []parquet.Value // of the buffer
}

// next calls add with the values of the next row, one at least.
func (r *columnReader) next(add func(parquet.Value)) error {
	for n := 0; n == 0 || r.repeats; n++ {
		if len(r.ahead) == 0 {
			k, err := r.values.ReadValues(r.buffer[:])
			if r.ahead = r.buffer[:k]; k == 0 {
				switch {
				case errors.Is(err, io.EOF) && n > 0:
					return nil
				case errors.Is(err, io.EOF):
					return io.ErrUnexpectedEOF
				}
				return err
			}
		}
		if n > 0 && r.ahead[0].RepetitionLevel() == 0 {
			return nil
		}
		add(r.ahead[0])
		r.ahead = r.ahead[1:]
	}
	return nil
}

// meteredReaderAt counts bytes, and fails when the context has ended.
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
