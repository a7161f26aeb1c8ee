package rewrite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/parquet-go/parquet-go"

	"ndd/engine/corpus/columns"
	"ndd/engine/corpus/format"
	"ndd/engine/parallel"
	"ndd/engine/storage/store"
)

const (
	rowsTogether = 64      // that are read and written at a time; 1 where a row may have many values
	pageBytesMax = 1 << 30 // of a page, decompressed
)

// copyColumns copies a Parquet file without some rows, which ascend from 1, and with fields unless they are
// nil. The cuts have the numbers of the rows' notes. Columns, their order, encodings and compression, and the
// metadata of the file stay. Several row groups are copied at the same time. One goroutine copies and divides
// row groups of more than 64 MiB.
func (p *packer) copyColumns(ctx context.Context, w io.Writer, content *format.Content, drop []int64,
	fields *Fields, notes []cut) (err error) {
	defer noPanic(&err)
	checked, err := columns.Open(content.Columns, content.Size, columns.Limits{PageBytes: pageBytesMax})
	if err != nil {
		return err
	}
	defer checked.Close()
	file, err := parquet.OpenFile(content.Columns, content.Size, parquet.SkipPageIndex(true),
		parquet.SkipBloomFilters(true))
	if err != nil {
		return err
	}
	c := columnCopy{packer: p, from: checked, together: rowsTogether, fields: fields, columns: len(file.Schema().Columns()),
		to: parquet.NewGenericWriter[any](w, columnOptions(file, fields)...)}
	if checked.Repeats() {
		c.together = 1
	}
	produce := func(ctx context.Context, yield func(*columnGroup) bool) error {
		return c.groups(ctx, drop, notes, yield)
	}
	o := parallel.Options{Workers: p.threads, Ahead: p.threads + 1}
	if err := parallel.Ordered(ctx, o, produce, c.work, c.emit); err != nil {
		return err
	}
	return c.to.Close()
}

// noPanic turns a panic of the library, at pages that contradict themselves, into an error.
func noPanic(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%w: %v", store.ErrCorrupt, r)
	}
}

// A columnCopy copies the columns of a file.
type columnCopy struct {
	packer   *packer
	to       *parquet.GenericWriter[any]
	from     *columns.File
	together int // rows that are read at a time
	fields   *Fields
	columns  int // of from
}

// A columnGroup is a row group that is copied.
type columnGroup struct {
	number int
	row    int64                             // last row that was read
	drop   []int64                           // rows after it
	notes  []cut                             // of rows after it
	held   int                               // bytes of the group that is written
	whole  *parquet.ConcurrentRowGroupWriter // of the group; nil if the group is divided
	err    error
}

// groups yields the row groups, each when the packer has room for it.
func (c *columnCopy) groups(ctx context.Context, drop []int64, notes []cut, yield func(*columnGroup) bool) error {
	row := int64(0)
	for n := range c.from.Groups() {
		if c.from.Rows(n) == 0 {
			continue // its columns may have no place in the file
		}
		g := &columnGroup{number: n, row: row}
		row += c.from.Rows(n)
		i, _ := slices.BinarySearch(drop, row+1)
		g.drop, drop = drop[:i], drop[i:]
		i, _ = slices.BinarySearchFunc(notes, row+1, func(c cut, row int64) int { return cmp.Compare(c.from, row) })
		g.notes, notes = notes[:i], notes[i:]
		select {
		case c.packer.groups <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if c.from.Bytes(n) <= int64(c.packer.groupBytes) {
			g.whole = c.to.BeginRowGroup()
		}
		if !yield(g) {
			return context.Cause(ctx)
		}
	}
	return nil
}

// errLarge says that a row group has more bytes than its file says.
var errLarge = errors.New("a large row group")

// work copies row groups that are not divided.
func (c *columnCopy) work(_ context.Context, groups iter.Seq[*columnGroup]) error {
	from := c.from.Clone()
	defer from.Close()
	for g := range groups {
		if g.whole == nil {
			continue
		}
		again := *g
		if g.err = c.copy(from, g, g.whole); errors.Is(g.err, errLarge) {
			again.whole = nil
			*g = again
		}
	}
	return nil
}

// emit writes row groups in order, and copies those that are divided.
func (c *columnCopy) emit(g *columnGroup) error {
	defer func() { <-c.packer.groups }()
	if g.whole == nil {
		return c.copy(c.from, g, c.to)
	}
	if g.err != nil {
		return g.err
	}
	_, err := g.whole.Commit()
	return err
}

// copy copies the rows of a row group.
func (c *columnCopy) copy(from *columns.File, g *columnGroup, to parquet.RowWriter) (err error) {
	defer noPanic(&err)
	rows := from.RowGroup(g.number).Rows()
	defer rows.Close()
	buffer := make([]parquet.Row, c.together)
	for {
		n, err := rows.ReadRows(buffer)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if c.fields != nil {
			c.addFields(g, buffer[:n])
		}
		if _, err := to.WriteRows(g.keep(buffer[:n])); err != nil {
			return err
		}
		switch {
		case g.whole != nil && g.held > c.packer.groupBytes:
			return errLarge
		case g.whole == nil && (g.held >= c.packer.groupBytes || err != nil):
			g.held = 0
			if err := c.to.Flush(); err != nil {
				return err
			}
		}
		switch {
		case err != nil && g.whole != nil:
			return g.whole.Flush()
		case err != nil:
			return nil
		}
	}
}

// keep returns the rows that are not dropped. It moves them before the others.
func (g *columnGroup) keep(rows []parquet.Row) []parquet.Row {
	kept := 0
	for i := range rows {
		if g.row++; len(g.drop) > 0 && g.drop[0] == g.row {
			g.drop = g.drop[1:]
			continue
		}
		for _, v := range rows[i] {
			g.held += 8
			if k := v.Kind(); k == parquet.ByteArray || k == parquet.FixedLenByteArray {
				g.held += len(v.ByteArray())
			}
		}
		rows[kept], rows[i] = rows[i], rows[kept]
		kept++
	}
	return rows[:kept]
}

// addFields appends the fields to rows.
func (c *columnCopy) addFields(g *columnGroup, rows []parquet.Row) {
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
