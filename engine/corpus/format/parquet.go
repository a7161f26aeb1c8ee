package format

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
	"ndd/engine/corpus/input"
	"ndd/engine/corpus/unpack"
	"ndd/engine/parallel"
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
	if head, err := s.r.Peek(1); len(head) == 0 && err == io.EOF {
		return nil
	}
	if s.table() == nil {
		return errNoFile
	}
	most := s.opts.MaxDocumentBytes
	file, err := columns.Open(s.table(), s.source.Bytes,
		columns.Limits{PageBytes: max(parquetPageMax, 2*most), ValueBytes: most})
	if err != nil {
		return unpack.Damage(err)
	}
	defer file.Close()
	for _, f := range file.Schema().Fields() {
		s.head.Names = append(s.head.Names, f.Name())
	}
	c, err := s.parquetColumns(file)
	if err != nil {
		return err
	}
	g := &groups{s: s, file: file, columns: c, numbers: slices.Concat(c.texts, []int{c.id}, slices.Concat(c.values...))}
	for _, n := range g.numbers {
		var f columns.Formatter
		if n >= 0 {
			if f, err = file.Format(n); err != nil {
				return s.noFields(err)
			}
		}
		g.formats = append(g.formats, f)
	}
	s.chosen(c.Fields)
	if d := s.opts.Decoders; d != nil {
		g.ahead = &parallel.Queue[*rowGroup]{Room: &d.Room, Max: d.Ahead}
		defer func() {
			for g.ahead.Len() > 0 {
				g.ahead.Remove()
			}
		}()
	}
	for n := range file.Groups() {
		if err := g.group(n); err != nil {
			return err
		}
		g.line += int(file.Rows(n))
	}
	return nil
}

// groups reads the row groups of a file, several at a time while there is room for all of them.
type groups struct {
	s       *stream
	file    *columns.File
	columns recordColumns
	numbers []int                      // of texts, ID and values; -1 where there is none
	formats []columns.Formatter        // of them
	line    int                        // rows of the groups before
	ahead   *parallel.Queue[*rowGroup] // nil without decoders
	next    int                        // the group behind those ahead
	clones  sync.Pool                  // of file
}

// A rowGroup is what the rows of a row group are.
type rowGroup struct {
	rows  []rowUnit
	whole bool // all of them; else they are to be read in order
}

// A rowUnit is the unit of a row, or a *[input.Skip], or why rows are lost and, as To, how many. Its line is that in
// its row group.
type rowUnit struct {
	Unit
	err error
}

// rowBytes is what a row takes beside its text, about.
const rowBytes = 400

// need returns how many bytes a row group takes in memory, by what it claims.
func (g *groups) need(n int) int64 {
	rows, size := g.file.Rows(n), g.file.Bytes(n)
	if rows > math.MaxInt32 || size < 0 || size > math.MaxInt64/2 {
		return math.MaxInt64
	}
	return rows*rowBytes + size
}

// group yields what the rows of a group are, the next one in order.
func (g *groups) group(n int) error {
	g.decode(n)
	if g.next > n {
		defer g.ahead.Remove()
		if group := g.ahead.First(); group.whole {
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

// decode has row groups from one on decoded as far as there is room. One that needs more than half of all
// memory is read in order.
func (g *groups) decode(n int) {
	for g.next = max(g.next, n); g.ahead != nil && g.next < g.file.Groups(); g.next++ {
		number, need := g.next, g.need(g.next)
		if need > g.ahead.Room.Max/2 || !g.ahead.Fits(need) {
			return
		}
		group := new(rowGroup)
		g.ahead.Add(group, need, func() int64 {
			group.whole = g.fill(group, number, need)
			return need
		})
	}
}

// fill decodes a row group, and returns false where it takes more memory than it claims.
func (g *groups) fill(to *rowGroup, n int, most int64) bool {
	file, _ := g.clones.Get().(*columns.File)
	if file == nil {
		file = g.file.Clone()
	}
	defer g.clones.Put(file)
	size := int64(0)
	return g.rows(file, n, func(u rowUnit) error {
		if size += int64(u.Size()) + rowBytes; size > most {
			return errStop
		}
		to.rows = append(to.rows, u)
		return nil
	}) == nil
}

// take yields what a row is.
func (g *groups) take(u rowUnit) error {
	s := g.s
	u.Line += g.line
	s.line = u.Line
	if skip, ok := u.err.(*input.Skip); ok {
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
	return s.skip(&input.Skip{Line: s.line, At: s.good, Reason: input.DamagedRows, Rows: last - int64(s.line) + 1,
		Err: fmt.Errorf("%w: rows %d to %d are lost", why, s.line, last)})
}

// parquetColumns returns the columns that are read, by their number in the file.
func (s *stream) parquetColumns(file *columns.File) (recordColumns, error) {
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
	var have []string
	for _, path := range paths {
		have = append(have, strings.Join(withoutLists(schema, path), "."))
	}
	s.line = 0
	c, err := s.opts.columns(have, find, func(name string) bool {
		return isText(name) || slices.Contains(IDFields, name) && find(name) >= 0
	})
	for _, column := range c.texts {
		if !file.IsText(column) {
			err = fmt.Errorf("column %q has the type %s, which is no text; --text names the field", have[column],
				file.TypeOf(column))
		}
	}
	if len(c.texts) == 0 && s.opts.TextField == "" {
		if i := slices.IndexFunc(s.opts.textFields(), func(name string) bool { return find(name) >= 0 }); i >= 0 {
			name := s.opts.textFields()[i]
			err = fmt.Errorf("column %q is a list; --text %[1]s joins what a list has to a text", name)
			if column := find(name); !file.IsRepeated(column) {
				err = fmt.Errorf("column %q has the type %s, which is no text; --text names the field", name, file.TypeOf(column))
			}
		}
	}
	if err == nil && len(c.candidates) > 1 {
		c.decide(&s.opts, firstRows(file, c.candidates, len(have)))
	}
	if err != nil {
		err = s.noFields(err)
	}
	return c, err
}

// firstRows returns the first rows of a file, as far as they can be read, with "x" in each of some columns that has a
// text.
func firstRows(file *columns.File, numbers []int, width int) (rows []tableRow) {
	if file.Groups() == 0 {
		return nil
	}
	for range min(file.Rows(0), heldMax) {
		rows = append(rows, tableRow{record: make([]string, width)})
	}
	for _, column := range numbers {
		values := file.Values(0, column)
		defer values.Close()
		for _, row := range rows {
			if values.Row(func(v parquet.Value) { row.record[column] = "x"[:min(len(v.ByteArray()), 1)] }) != nil {
				break // reading says why
			}
		}
	}
	return rows
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

// rows calls yield with what each row of a group is, and at the first that cannot be read with the error and
// the number of rows that are lost, up to the end of the group.
func (g *groups) rows(file *columns.File, n int, yield func(rowUnit) error) error {
	readers := make([]*columns.Values, len(g.numbers))
	for i, column := range g.numbers {
		if column >= 0 {
			readers[i] = file.Values(n, column)
			defer readers[i].Close()
		}
	}
	row := make([]cell, len(g.numbers))
	for at := range file.Rows(n) {
		line := int(at) + 1
		for i, r := range readers {
			row[i] = cell{most: g.s.opts.MaxDocumentBytes, format: g.formats[i]}
			if r == nil {
				continue
			}
			if err := r.Row(row[i].add); err != nil {
				return yield(rowUnit{Unit{Line: line, To: file.Rows(n) - at}, err})
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
func (g *groups) row(row []cell) (u rowUnit) {
	texts := g.numbers[:len(g.columns.texts)]
	i := max(slices.IndexFunc(row[:len(texts)], func(c cell) bool { return len(c.content) > 0 || c.tooLong }),
		slices.IndexFunc(row[:len(texts)], func(c cell) bool { return c.n > 0 })) // -1, or before the other
	switch {
	case i < 0:
		u.err = &input.Skip{Reason: input.NoText, Err: fmt.Errorf("column %q has no text here", g.columns.Text)}
	case row[i].tooLong:
		u.err = g.s.tooLarge(0)
	default:
		u.Unit = g.columns.unit(texts[i], row[i].content, func(column int) string {
			i := len(texts) + slices.Index(g.numbers[len(texts):], column)
			return row[i].one(g.s.opts.FirstValue && column != g.columns.id)
		})
	}
	return u
}

// A cell is the content of a column in a row: a value as text, or those of a list with line ends
// between.
type cell struct {
	most    int64 // maximum bytes
	tooLong bool  // they are more
	format  columns.Formatter
	n       int // values that are not null
	first   int // bytes of the first
	content []byte
}

func (c *cell) add(v parquet.Value) {
	if v.IsNull() {
		return
	}
	if c.n++; c.n == 2 {
		c.first = len(c.content)
	}
	if c.n > 1 {
		c.content = append(c.content, '\n')
	}
	if isBytes := v.Kind() == parquet.ByteArray; c.tooLong || isBytes && int64(len(c.content)+len(v.ByteArray())) > c.most {
		c.tooLong = true
		return
	}
	c.content = c.format(c.content, v)
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
