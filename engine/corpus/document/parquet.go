package document

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/parquet-go/parquet-go"

	"ndd/engine/corpus/columns"
)

// errNoFile is the error of a Parquet file that is not plain on disk: its index is at its end.
var errNoFile = errors.New("a Parquet file is read from its end: " +
	"it must be a file on disk that is not compressed as a whole")

// parquetPageMax is the most bytes of a page, decompressed, unless one document may be longer.
const parquetPageMax = 256 << 20

// parquetRows yields one unit a row of a Parquet file: of the columns, text, ID and values are
// read, page by page, of several row groups at a time. A row group that is damaged loses its rows from
// there on, which are counted; the next one is read all the same.
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
	g := &groups{s: s, file: file, columns: c, numbers: slices.Concat([]int{c.text, c.id}, slices.Concat(c.values...))}
	for line := 0; g.more(); {
		cutting := &cutting{s: s, read: g.fetch, cut: g.cut, line: line}
		if err := cutting.each(g.take); err != errInOrder {
			return err
		}
		line = cutting.line
		rows := cutting.blocks[0].rows
		for i, b := range cutting.blocks[1:] {
			g.ahead = slices.Insert(g.ahead, i, b.rows)
		}
		lost := false
		if err := g.rows(file, rows, func(u cutUnit) error {
			_, skipped := u.err.(*Skip)
			lost = u.err != nil && !skipped
			u.Line += line
			return g.take(&u)
		}); err != nil {
			return err
		}
		line += int(rows.To - rows.From)
		for lost && len(g.ahead) > 0 && g.ahead[0].Group == rows.Group {
			line += int(g.ahead[0].To - g.ahead[0].From)
			g.ahead = g.ahead[1:]
		}
	}
	return nil
}

// groups reads the row groups of a file, several ranges of rows at a time while there is room for all of
// them.
type groups struct {
	s       *stream
	file    *columns.File
	columns recordColumns
	numbers []int           // of text, ID and values; -1 where there is none
	next    int             // the group behind those ahead
	ahead   []columns.Range // that are fetched next
	clones  sync.Pool       // of file
}

const (
	rowBytes    = 400 // what a row takes beside its text, about
	rangeBlocks = 4   // a range has about as many bytes as so many blocks
)

// more reports whether there are rows ahead, and finds out where the next ones can be divided.
func (g *groups) more() bool {
	if len(g.ahead) > 0 || g.next == g.file.Groups() {
		return len(g.ahead) > 0
	}
	g.ahead = []columns.Range{g.file.Range(g.next)}
	if g.s.opts.Decoders != nil {
		of := slices.DeleteFunc(slices.Clone(g.numbers), func(n int) bool { return n < 0 })
		g.ahead = g.file.Ranges(g.next, of, rangeBlocks*int64(g.s.opts.blockBytes))
	}
	g.next++
	return true
}

// need returns how many bytes a range takes in memory, by what it claims.
func need(r columns.Range) int64 {
	rows := r.To - r.From
	if rows > math.MaxInt32 || r.Bytes < 0 || r.Bytes > math.MaxInt64/2 {
		return math.MaxInt64
	}
	return rows*rowBytes + r.Bytes
}

// fetch is of a [cutting]. A range that needs more than half of all memory is read in order.
func (g *groups) fetch(c *cutting) *block {
	if !g.more() {
		c.err = io.EOF
		return nil
	}
	b := &block{rows: g.ahead[0], held: need(g.ahead[0])}
	g.ahead = g.ahead[1:]
	if d := g.s.opts.Decoders; d == nil || b.held > d.bytes/2 {
		b.inOrder, b.held, c.err = true, 0, errInOrder
	} else if g.more() {
		c.size = int(min(need(g.ahead[0]), math.MaxInt32, d.bytes))
	}
	return b
}

// cut is of a [cutting]. A range that takes more memory than it claims is read in order.
func (g *groups) cut(b *block) {
	file, _ := g.clones.Get().(*columns.File)
	if file == nil {
		file = g.file.Clone()
	}
	defer g.clones.Put(file)
	size := int64(0)
	b.lines = int(b.rows.To - b.rows.From)
	if err := g.rows(file, b.rows, func(u cutUnit) error {
		if size += int64(u.Size()) + rowBytes; size > b.held {
			return errInOrder
		}
		if _, skipped := u.err.(*Skip); u.err != nil && !skipped {
			return errInOrder
		}
		b.units = append(b.units, u)
		return nil
	}); err != nil {
		b.units, b.inOrder = nil, true
	}
}

// take yields what a row is.
func (g *groups) take(u *cutUnit) error {
	s := g.s
	s.line = u.Line
	if skip, ok := u.err.(*Skip); ok {
		skip.Line = u.Line
		return s.skip(skip)
	}
	switch {
	case u.err == nil:
		return s.emit(u.Unit)
	case s.ctx.Err() != nil:
		return u.err
	}
	return s.parquetLost(int64(u.Line)+u.To-1, u.err)
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

// rows calls yield with what each row of a range is, and at the first that cannot be read with the error
// and, as To, the number of rows that are lost, up to the end of its group.
func (g *groups) rows(file *columns.File, rows columns.Range, yield func(cutUnit) error) error {
	readers := make([]*columnReader, len(g.numbers))
	for i, n := range g.numbers {
		if n >= 0 {
			readers[i] = &columnReader{values: file.Values(rows, n), repeats: file.IsRepeated(n)}
			defer readers[i].values.Close()
		}
	}
	row := make([]cell, len(g.numbers))
	for at := rows.From; at < rows.To; at++ {
		line := int(at-rows.From) + 1
		for i, r := range readers {
			row[i] = cell{most: g.s.opts.MaxDocumentBytes, isText: i == 0}
			if r == nil {
				continue
			}
			if err := r.next(row[i].add); err != nil {
				return yield(cutUnit{Unit{Line: line, To: file.Rows(rows.Group) - at}, err})
			}
		}
		u := g.row(row)
		u.Line = line
		if err := yield(u); err != nil {
			return err
		}
	}
	return nil
}

// row returns a row's document.
func (g *groups) row(row []cell) (u cutUnit) {
	switch text := row[0]; {
	case text.n == 0:
		u.err = &Skip{Reason: NoText, Err: fmt.Errorf("column %q has no text here", g.columns.Text)}
	case int64(len(text.content)) > g.s.opts.MaxDocumentBytes:
		u.err = g.s.tooLarge(0)
	default:
		u.Unit = g.columns.unit(text.content, func(column int) string {
			return row[1+slices.Index(g.numbers[1:], column)].one(g.s.opts.FirstValue && column != g.columns.id)
		})
	}
	return u
}

// A cell is the content of a column in a row: a value as text, or those of a list with line ends
// between.
type cell struct {
	most    int64 // bytes, beyond which it does not matter how many there are
	isText  bool  // strings alone count
	n       int   // values that are not null
	first   int   // bytes of the first
	content []byte
}

func (c *cell) add(v parquet.Value) {
	isBytes := v.Kind() == parquet.ByteArray || v.Kind() == parquet.FixedLenByteArray
	if v.IsNull() || c.isText && !isBytes {
		return
	}
	if c.n++; c.n == 2 {
		c.first = len(c.content)
	}
	if c.n > 1 {
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

// one returns the content of a single value, "" where there are none or several, unless the first is wanted.
func (c *cell) one(first bool) string {
	if c.n > 1 && first {
		return string(c.content[:c.first])
	}
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
