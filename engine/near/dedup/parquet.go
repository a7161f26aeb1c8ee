package dedup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"

	"ndd/engine/corpus/columns"
	"ndd/engine/corpus/document"
	"ndd/engine/parallel"
	"ndd/engine/storage/store"
)

const (
	columnsBytes = 64 << 20 // of a row group that is written, about: it is held in memory
	rowsTogether = 64       // read and written at a time; one, where a row may have many values

	columnsPageMax = 1 << 30 // bytes of a page, decompressed
)

// copyColumns copies a Parquet file without some rows, counted from 1 and ascending, and with some
// fields, if there are any, whose numbers the rows' notes have. Columns, their order, encodings and
// compression, and the file's own metadata stay. Several row
// groups are copied at the same time; larger ones than 64 MiB are divided, and copied by one goroutine.
func (p *packers) copyColumns(ctx context.Context, w io.Writer, content *document.Content, drop []int64,
	fields *Fields, notes []cut) (err error) {
	defer noPanic(&err)
	checked, err := columns.Open(content.Columns, content.Size, columns.Limits{PageBytes: columnsPageMax})
	if err != nil {
		return err
	}
	defer checked.Close()
	file, err := parquet.OpenFile(content.Columns, content.Size, parquet.SkipPageIndex(true),
		parquet.SkipBloomFilters(true))
	if err != nil {
		return err
	}
	schema := encodable(file.Schema())
	if fields != nil {
		schema = fields.schema(schema)
	}
	options := []parquet.WriterOption{schema}
	for _, pair := range file.Metadata().KeyValueMetadata {
		if fields != nil && slices.Contains(schemaCopies, pair.Key) {
			continue
		}
		options = append(options, parquet.KeyValueMetadata(pair.Key, pair.Value))
	}
	c := columnCopy{to: parquet.NewGenericWriter[any](w, options...), from: checked, together: rowsTogether,
		most: p.groupBytes, fields: fields, columns: len(file.Schema().Columns())}
	if checked.Repeats() {
		c.together = 1
	}
	produce := func(ctx context.Context, yield func(*columnGroup) bool) error {
		row := int64(0)
		for n := range checked.Groups() {
			if checked.Rows(n) == 0 {
				continue // its columns may have no place in the file
			}
			g := &columnGroup{number: n, row: row}
			row += checked.Rows(n)
			i, _ := slices.BinarySearch(drop, row+1)
			g.drop, drop = drop[:i], drop[i:]
			i, _ = slices.BinarySearchFunc(notes, row+1, func(c cut, row int64) int { return cmp.Compare(c.from, row) })
			g.notes, notes = notes[:i], notes[i:]
			select {
			case p.groups <- struct{}{}:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			if checked.Bytes(n) <= int64(p.groupBytes) {
				g.whole = c.to.BeginRowGroup()
			}
			if !yield(g) {
				return context.Cause(ctx)
			}
		}
		return nil
	}
	emit := func(g *columnGroup) error {
		defer func() { <-p.groups }()
		if g.whole == nil {
			return c.copy(checked, g, c.to)
		}
		if g.err != nil {
			return g.err
		}
		_, err := g.whole.Commit()
		return err
	}
	o := parallel.Options{Workers: p.threads, Ahead: p.threads + 1}
	if err := parallel.Ordered(ctx, o, produce, c.work, emit); err != nil {
		return err
	}
	return c.to.Close()
}

// encodable returns a schema of which all columns can be written. For a column without a dictionary the
// library takes the encoding that the file lists first, which may be RLE, that of levels: other writers
// list them in any order.
func encodable(of *parquet.Schema) *parquet.Schema {
	for _, path := range of.Columns() {
		if leaf, ok := of.Lookup(path...); ok && levelsOnly(leaf.Node) {
			return parquet.NewSchema(of.Name(), wider{of, plainFields(of)})
		}
	}
	return of
}

// levelsOnly reports whether a column has an encoding that is not for its values.
func levelsOnly(n parquet.Node) bool {
	return n.Leaf() && n.Type().Kind() != parquet.Boolean && n.Encoding() == encoding.Encoding(&parquet.RLE)
}

// plain is a field whose columns are encoded as they are where [levelsOnly] holds.
type plain struct{ parquet.Field }

func (p plain) Encoding() encoding.Encoding {
	if levelsOnly(p.Field) {
		return &parquet.Plain
	}
	return p.Field.Encoding()
}

func (p plain) Fields() []parquet.Field { return plainFields(p.Field) }

func plainFields(n parquet.Node) []parquet.Field {
	fields := slices.Clone(n.Fields())
	for i, f := range fields {
		fields[i] = plain{f}
	}
	return fields
}

// noPanic makes an error of the library's panic, of pages that contradict themselves.
func noPanic(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%w: %v", store.ErrCorrupt, r)
	}
}

// columnCopy copies the columns of a file.
type columnCopy struct {
	to       *parquet.GenericWriter[any]
	from     *columns.File
	together int // rows that are read at a time
	most     int // bytes of a group that is written
	fields   *Fields
	columns  int // of from
}

// columnGroup is a row group that is copied.
type columnGroup struct {
	number int
	row    int64                             // that was read last
	drop   []int64                           // ahead
	notes  []cut                             // ahead
	held   int                               // bytes of the group that is written
	whole  *parquet.ConcurrentRowGroupWriter // of it; nil where it is divided
	err    error
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
			c.note(g, buffer[:n])
		}
		if _, err := to.WriteRows(g.staying(buffer[:n])); err != nil {
			return err
		}
		switch {
		case g.whole != nil && g.held > c.most:
			return errLarge
		case g.whole == nil && (g.held >= c.most || err != nil):
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

// staying returns the rows that are not dropped, in front of the others.
func (g *columnGroup) staying(rows []parquet.Row) []parquet.Row {
	stay := 0
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
		rows[stay], rows[i] = rows[i], rows[stay]
		stay++
	}
	return rows[:stay]
}
