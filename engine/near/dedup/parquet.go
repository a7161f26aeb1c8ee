package dedup

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"ndd/engine/corpus/columns"
	"ndd/engine/corpus/document"
	"ndd/engine/storage/store"
)

const (
	columnsBytes = 64 << 20 // of a row group that is written, about: it is held in memory
	rowsTogether = 64       // read and written at a time; one, where a row may have many values

	columnsPageMax = 1 << 30 // bytes of a page, decompressed
)

// copyColumns copies a Parquet file without some rows, counted from 1 and ascending. Columns, their
// order, encodings and compression, and the file's own metadata stay; so do the row groups, but for
// larger ones than columnsBytes, which are divided.
func copyColumns(w io.Writer, content *document.Content, drop []int64) (err error) {
	defer func() {
		if r := recover(); r != nil { // the library's, of pages that contradict themselves
			err = fmt.Errorf("%w: %v", store.ErrCorrupt, r)
		}
	}()
	checked, err := columns.Open(content.Columns, content.Size, columnsPageMax)
	if err != nil {
		return err
	}
	defer checked.Close()
	file, err := parquet.OpenFile(content.Columns, content.Size, parquet.SkipPageIndex(true),
		parquet.SkipBloomFilters(true))
	if err != nil {
		return err
	}
	options := []parquet.WriterOption{file.Schema()}
	for _, pair := range file.Metadata().KeyValueMetadata {
		options = append(options, parquet.KeyValueMetadata(pair.Key, pair.Value))
	}
	c := columnCopy{to: parquet.NewGenericWriter[any](w, options...), drop: drop, together: rowsTogether}
	if checked.Repeats() {
		c.together = 1
	}
	for group := range checked.Groups() {
		if err := c.group(checked.RowGroup(group)); err != nil {
			return err
		}
	}
	return c.to.Close()
}

// columnCopy is the state of one.
type columnCopy struct {
	to   *parquet.GenericWriter[any]
	drop []int64 // ahead

	together int   // rows that are read at a time
	row      int64 // that was read last
	held     int   // bytes of the group that is written
}

// group copies a row group.
func (c *columnCopy) group(group parquet.RowGroup) error {
	rows := group.Rows()
	defer rows.Close()
	buffer := make([]parquet.Row, c.together)
	for {
		n, err := rows.ReadRows(buffer)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if _, err := c.to.WriteRows(c.staying(buffer[:n])); err != nil {
			return err
		}
		if c.held >= columnsBytes || err != nil {
			c.held = 0
			if err := c.to.Flush(); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

// staying returns the rows that are not dropped, in front of the others.
func (c *columnCopy) staying(rows []parquet.Row) []parquet.Row {
	stay := 0
	for i := range rows {
		if c.row++; len(c.drop) > 0 && c.drop[0] == c.row {
			c.drop = c.drop[1:]
			continue
		}
		for _, v := range rows[i] {
			c.held += 8
			if k := v.Kind(); k == parquet.ByteArray || k == parquet.FixedLenByteArray {
				c.held += len(v.ByteArray())
			}
		}
		rows[stay], rows[i] = rows[i], rows[stay]
		stay++
	}
	return rows[:stay]
}
