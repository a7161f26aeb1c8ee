package format

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/parquet-go/parquet-go"

	"example.org/ndd/engine/corpus/columns"
	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/unpack"
	"example.org/ndd/engine/parallel"
)

// errNoFile is the error for a Parquet file that is compressed or not on disk. Its index is at its end, so it must be
// read at offsets.
var errNoFile = errors.New("a Parquet file is read from its end: " +
	"it must be a file on disk that is not compressed as a whole")

// parquetPageMax is the maximum size of a decompressed page, unless one document may be longer.
const parquetPageMax = 256 << 20

// parquetRows yields one unit for each row of a Parquet file. It reads only the columns of text, ID and values, page by
// page, and several row groups at a time. If a row group is damaged, the rest of its rows are lost and counted, and
// reading continues with the next row group.
func parquetRows(c *Content) iter.Seq2[Unit, error] {
	return func(yield func(Unit, error) bool) {
		if head, err := c.r.Peek(1); len(head) == 0 && err == io.EOF {
			return
		}
		file, err := c.parquetFile()
		if err != nil {
			yield(Unit{}, err)
			return
		}
		defer file.Close()
		g, err := c.groups(file)
		if err != nil {
			yield(Unit{}, err)
			return
		}
		defer g.close()
		g.yield = yield
		for n := range file.Groups() {
			if err := g.group(n); err != nil {
				if !errors.Is(err, errStop) {
					yield(Unit{}, err)
				}
				return
			}
			g.line += int(file.Rows(n))
		}
	}
}

// errStop ends the reading of a row group when the consumer stops.
var errStop = errors.New("stop")

// parquetFile opens the content as a Parquet file.
func (c *Content) parquetFile() (*columns.File, error) {
	if c.table() == nil {
		return nil, errNoFile
	}
	limit := c.opts.MaxDocumentBytes
	file, err := columns.Open(c.table(), c.source.Bytes,
		columns.Limits{PageBytes: max(parquetPageMax, 2*limit), ValueBytes: limit})
	if err != nil {
		return nil, unpack.Damage(err)
	}
	for _, f := range file.Schema().Fields() {
		c.head.Names = append(c.head.Names, f.Name())
	}
	return file, nil
}

// groups returns the row groups of a file and the columns to read.
func (c *Content) groups(file *columns.File) (*groupReader, error) {
	table, err := c.parquetColumns(file)
	if err != nil {
		return nil, err
	}
	g := &groupReader{c: c, file: file, columns: table,
		numbers: slices.Concat(table.texts, []int{table.id}, slices.Concat(table.values...))}
	for _, n := range g.numbers {
		var f columns.Formatter
		if n >= 0 {
			if f, err = file.Format(n); err != nil {
				return nil, c.noFields(err)
			}
		}
		g.formats = append(g.formats, f)
	}
	c.chosen(table.Fields)
	if d := c.opts.Decoders; d != nil {
		g.ahead = &parallel.Queue[*rowGroup]{Limit: &d.Room, Max: d.Ahead}
	}
	return g, nil
}

// groupReader reads the row groups of a file, several at a time while memory suffices for all of them.
type groupReader struct {
	c         *Content
	file      *columns.File
	columns   *tableColumns
	numbers   []int                      // columns of texts, ID and values; -1 if there is none
	formats   []columns.Formatter        // formatter of each column
	line      int                        // rows of the groups before
	ahead     *parallel.Queue[*rowGroup] // nil without decoders
	nextGroup int                        // the first group that is not in ahead
	clones    sync.Pool                  // copies of file
	yield     func(Unit, error) bool
}

// close waits for the groups that are decoded ahead.
func (g *groupReader) close() {
	for g.ahead != nil && g.ahead.Len() > 0 {
		g.ahead.Remove()
	}
}

// A rowGroup holds the units of the rows of a row group.
type rowGroup struct {
	rows    []rowUnit
	isWhole bool // it has all rows; otherwise the rows must be read in order
}

// A rowUnit is the unit of a row, a *[input.Skip], or the reason why rows are lost. To is then the number of lost rows.
// Line is the number of the row in its row group.
type rowUnit struct {
	Unit
	err error
}

// rowBytes estimates the memory of a row in addition to its text.
const rowBytes = 400

// need returns the memory of a row group, assuming that its metadata is correct.
func (g *groupReader) need(n int) int64 {
	rows, size := g.file.Rows(n), g.file.Bytes(n)
	if rows > math.MaxInt32 || size < 0 || size > math.MaxInt64/2 {
		return math.MaxInt64
	}
	return rows*rowBytes + size
}

// group yields the units of the next row group.
func (g *groupReader) group(n int) error {
	g.decode(n)
	if g.nextGroup > n {
		defer g.ahead.Remove()
		if group := g.ahead.First(); group.isWhole {
			for i := range group.rows {
				if err := g.take(group.rows[i]); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return g.rows(g.file, n, g.take)
}

// decode starts the decoding of row groups, from number n on, while there is memory for them. A row group that needs
// more than half of all memory is read in order.
func (g *groupReader) decode(n int) {
	for g.nextGroup = max(g.nextGroup, n); g.ahead != nil && g.nextGroup < g.file.Groups(); g.nextGroup++ {
		number, need := g.nextGroup, g.need(g.nextGroup)
		if need > g.ahead.Limit.Max/2 || !g.ahead.Fits(need) {
			return
		}
		group := new(rowGroup)
		g.ahead.Add(group, need, func() int64 {
			group.isWhole = g.fill(group, number, need)
			return need
		})
	}
}

// fill decodes a row group. It returns false if the row group takes more memory than its metadata says.
func (g *groupReader) fill(to *rowGroup, n int, maxBytes int64) bool {
	file, _ := g.clones.Get().(*columns.File)
	if file == nil {
		file = g.file.Clone()
	}
	defer g.clones.Put(file)
	size := int64(0)
	return g.rows(file, n, func(u rowUnit) error {
		if size += int64(u.Size()) + rowBytes; size > maxBytes {
			return errStop
		}
		to.rows = append(to.rows, u)
		return nil
	}) == nil
}

// take yields a row, or the reason why the rows from this one to the last of its group are lost.
func (g *groupReader) take(u rowUnit) error {
	u.Line += g.line
	skip, isSkip := u.err.(*input.Skip)
	switch {
	case isSkip:
		skip.Line = u.Line
	case u.err != nil && g.c.ctx.Err() != nil:
		return u.err
	case u.err != nil:
		last := int64(u.Line) + u.To - 1
		u.err = &input.Skip{Line: u.Line, Reason: input.DamagedRows, Rows: u.To,
			Err: fmt.Errorf("%w: rows %d to %d are lost", u.err, u.Line, last)}
	}
	if !g.yield(u.Unit, u.err) {
		return errStop
	}
	return nil
}

// parquetColumns returns the columns that are read, by their number in the file.
func (c *Content) parquetColumns(file *columns.File) (*tableColumns, error) {
	// A column is found by its whole name, or by the steps of its path.
	schema := file.Schema()
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
		column := find(name)
		return column >= 0 && !file.IsRepeated(column) && file.IsText(column)
	}
	// Choose the columns.
	var have []string
	for _, path := range paths {
		have = append(have, strings.Join(withoutLists(schema, path), "."))
	}
	table, err := c.opts.columns(have, find, func(name string) bool {
		return isText(name) || slices.Contains(IDFields, name) && find(name) >= 0
	})
	// Say why a column that seems to be meant is no text.
	for _, column := range table.texts {
		if !file.IsText(column) {
			err = fmt.Errorf("column %q has the type %s, which is no text; --text names the field", have[column],
				file.TypeOf(column))
		}
	}
	if len(table.texts) == 0 && c.opts.TextField == "" {
		if i := slices.IndexFunc(c.opts.textFields(), func(name string) bool { return find(name) >= 0 }); i >= 0 {
			name := c.opts.textFields()[i]
			err = fmt.Errorf("column %q is a list; --text %[1]s joins what a list has to a text", name)
			if column := find(name); !file.IsRepeated(column) {
				err = fmt.Errorf("column %q has the type %s, which is no text; --text names the field", name, file.TypeOf(column))
			}
		}
	}
	if err != nil {
		return nil, c.noFields(err)
	}
	// If several columns may hold the text, the first rows decide.
	if len(table.candidates) > 1 {
		table.decide(&c.opts, countRows(file, table))
	}
	return table, nil
}

// countRows returns, for each candidate, the number of the first rows of a file that have a text in it. It stops at a
// row that cannot be read.
func countRows(file *columns.File, table *tableColumns) fieldCount {
	texts := fieldCount{}
	if file.Groups() == 0 {
		return texts
	}
	for _, column := range table.candidates {
		values := file.Values(0, column)
		for range min(file.Rows(0), heldMax) {
			hasText := false
			if values.Row(func(v parquet.Value) { hasText = len(v.ByteArray()) > 0 }) != nil {
				break // reading says why
			}
			if hasText {
				texts[table.names[column]]++
			}
		}
	}
	return texts
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

// rows calls yield with the unit of each row of a group. At the first row that cannot be read, it calls yield with the
// error and the number of lost rows, up to the end of the group.
func (g *groupReader) rows(file *columns.File, n int, yield func(rowUnit) error) error {
	readers := make([]*columns.Values, len(g.numbers))
	for i, column := range g.numbers {
		if column >= 0 {
			readers[i] = file.Values(n, column)
		}
	}
	row := make([]cell, len(g.numbers))
	for position := range file.Rows(n) {
		line := int(position) + 1
		for i, r := range readers {
			row[i] = cell{maxBytes: g.c.opts.MaxDocumentBytes, format: g.formats[i]}
			if r == nil {
				continue
			}
			if err := r.Row(row[i].add); err != nil {
				return yield(rowUnit{Unit{Line: line, To: file.Rows(n) - position}, err})
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
func (g *groupReader) row(row []cell) (u rowUnit) {
	texts := g.numbers[:len(g.columns.texts)]
	i := max(slices.IndexFunc(row[:len(texts)], func(c cell) bool { return len(c.content) > 0 || c.tooLong }),
		slices.IndexFunc(row[:len(texts)], func(c cell) bool { return c.n > 0 })) // -1, or before the other
	switch {
	case i < 0:
		u.err = &input.Skip{Reason: input.NoText, Err: fmt.Errorf("column %q has no text here", g.columns.Text)}
	case row[i].tooLong:
		u.err = g.c.tooLarge(0)
	default:
		g.columns.fill(&u.Unit, texts[i], row[i].content, func(column int) string {
			i := len(texts) + slices.Index(g.numbers[len(texts):], column)
			return row[i].value(g.c.opts.FirstValue && column != g.columns.id)
		})
	}
	return u
}

// A cell is the content of a column in a row: a value as text, or the values of a list, separated by line ends.
type cell struct {
	maxBytes   int64 // maximum bytes
	tooLong    bool  // the content exceeds maxBytes
	format     columns.Formatter
	n          int // number of values that are not null
	firstBytes int // bytes of the first value
	content    []byte
}

func (c *cell) add(v parquet.Value) {
	if v.IsNull() {
		return
	}
	if c.n++; c.n == 2 {
		c.firstBytes = len(c.content)
	}
	if c.n > 1 {
		c.content = append(c.content, '\n')
	}
	if isBytes := v.Kind() == parquet.ByteArray; c.tooLong || isBytes && int64(len(c.content)+len(v.ByteArray())) > c.maxBytes {
		c.tooLong = true
		return
	}
	c.content = c.format(c.content, v)
}

// value returns the content of a single value. If there are several values, it returns the first if first is true, and
// otherwise "". It returns "" if there is no value.
func (c *cell) value(first bool) string {
	if c.n > 1 && first {
		return string(c.content[:c.firstBytes])
	}
	if c.n != 1 {
		return ""
	}
	return string(c.content)
}
