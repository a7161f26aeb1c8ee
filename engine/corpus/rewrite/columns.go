package rewrite

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"io"
	"iter"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	parquetformat "github.com/parquet-go/parquet-go/format"

	"example.org/ndd/engine/corpus/columns"
	"example.org/ndd/engine/corpus/format"
	"example.org/ndd/engine/parallel"
	"example.org/ndd/engine/result"
)

const (
	pageBytesMax = 1 << 30 // maximum size of a decompressed page
	pagesMax     = 8 << 20 // maximum bytes of pages that wait for a goroutine, except for one larger page

	parquetMagic = "PAR1"
)

// copyColumns copies a Parquet file without the rows in drop, which are numbered from 1 and ascend. If fields is not
// nil, it adds the fields. The cuts have the numbers of the rows' notes.
//
//	row group without dropped rows   its columns are copied unchanged
//	page without dropped rows        is copied unchanged
//	other page                       is decompressed, loses rows, and is compressed
//
// The copy keeps the columns, their order, encodings and compression, and the metadata of the file. It does not keep
// page indexes and Bloom filters.
func (p *packer) copyColumns(ctx context.Context, w io.Writer, content *format.Content, drop []int64,
	fields *Fields, notes []cut) (err error) {
	from, err := columns.Open(content.Columns, content.Size, columns.Limits{PageBytes: pageBytesMax})
	if err != nil {
		return err
	}
	defer from.Close()
	c := columnCopy{from: from, file: content.Columns, fields: fields, drop: drop, notes: notes, to: w, footer: *from.Metadata()}
	c.footer.RowGroups, c.footer.NumRows = nil, 0
	if _, err := io.WriteString(w, parquetMagic); err != nil {
		return err
	}
	c.written = int64(len(parquetMagic))
	o := parallel.Options{Workers: p.threads, Window: 4 * p.threads, Budget: pagesMax}
	if err := parallel.Ordered(ctx, o, c.pieces, c.work, c.emit); err != nil {
		return err
	}
	return c.end()
}

// A columnCopy copies the columns of a file.
type columnCopy struct {
	from   *columns.File
	file   io.ReaderAt
	fields *Fields
	drop   []int64 // rows that are not copied yet
	notes  []cut   // notes of rows that are not copied yet
	row    int64   // number of rows in earlier row groups

	to      io.Writer
	written int64 // number of bytes written
	footer  parquetformat.FileMetaData
}

// A columnPiece is a page, or a whole column of a row group, that is copied.
type columnPiece struct {
	column  *parquetformat.ColumnChunk // column in the footer of the copy
	page    *columns.Page              // nil: the whole column
	content *io.SectionReader          // the column's bytes
	err     error
}

// Weight returns the bytes that the piece holds.
func (p *columnPiece) Weight() int64 {
	if p.page == nil {
		return 0
	}
	return int64(len(p.page.Body))
}

// pieces yields the pieces of all row groups.
func (c *columnCopy) pieces(ctx context.Context, yield func(*columnPiece) bool) (err error) {
	for n, group := range c.from.Metadata().RowGroups {
		var drop []int64
		end := c.row + group.NumRows
		i, _ := slices.BinarySearch(c.drop, end+1)
		for _, row := range c.drop[:i] {
			drop = append(drop, row-1-c.row)
		}
		c.drop = c.drop[i:]
		if group.NumRows > int64(len(drop)) {
			if err := c.group(n, drop, yield); err != nil {
				return cmp.Or(ctx.Err(), err)
			}
		}
		c.row = end
	}
	return nil
}

// group yields the pieces of a row group, and adds the row group to the footer.
func (c *columnCopy) group(n int, drop []int64, yield func(*columnPiece) bool) error {
	// The row group of the copy has fewer rows and the columns of the new fields.
	group := c.from.Metadata().RowGroups[n]
	group.Columns = slices.Clone(group.Columns)
	group.NumRows -= int64(len(drop))
	c.footer.NumRows += group.NumRows
	extra, file, err := c.fieldColumns(group.NumRows)
	if err != nil {
		return err
	}
	own := len(group.Columns)
	group.Columns = append(group.Columns, extra...)
	c.footer.RowGroups = append(c.footer.RowGroups, group)
	for i := range group.Columns {
		chunk := &group.Columns[i]
		// Find the bytes of the column, in the file or in the new fields.
		from, to, source := int64(0), int64(0), c.file
		if i < own {
			from, to, err = c.from.Place(n, i)
		} else {
			m := &chunk.MetaData
			from = cmp.Or(m.DictionaryPageOffset, m.DataPageOffset)
			to, source = from+m.TotalCompressedSize, file
		}
		if err != nil {
			return err
		}
		// Indexes and Bloom filters are not copied, so the footer must not point to them.
		piece := &columnPiece{column: chunk}
		chunk.FileOffset, chunk.OffsetIndexOffset, chunk.OffsetIndexLength = 0, 0, 0
		chunk.ColumnIndexOffset, chunk.ColumnIndexLength = 0, 0
		chunk.MetaData.IndexPageOffset, chunk.MetaData.BloomFilterOffset, chunk.MetaData.BloomFilterLength = 0, 0, 0
		// Only a column that loses rows is split into pages.
		if len(drop) > 0 {
			err = c.pages(n, i, drop, chunk, yield)
		} else if piece.content = io.NewSectionReader(source, from, to-from); !yield(piece) {
			err = context.Canceled
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pages yields the pages of a column that loses rows.
func (c *columnCopy) pages(n, column int, drop []int64, chunk *parquetformat.ColumnChunk,
	yield func(*columnPiece) bool) error {
	m := &chunk.MetaData
	m.DataPageOffset, m.DictionaryPageOffset = 0, 0
	m.TotalCompressedSize, m.TotalUncompressedSize = 0, 0
	m.EncodingStats, m.SizeStatistics, m.Statistics.DistinctCount = nil, parquetformat.SizeStatistics{}, 0
	for page, err := range c.from.Pages(n, column, drop) {
		if err != nil {
			return err
		}
		if !yield(&columnPiece{column: chunk, page: page}) {
			return context.Canceled
		}
	}
	return nil
}

// work edits pages.
func (c *columnCopy) work(_ context.Context, pieces iter.Seq[*columnPiece]) error {
	from := c.from.Clone()
	defer from.Close()
	for p := range pieces {
		if p.page != nil {
			p.err = p.page.Edit(from)
		}
	}
	return nil
}

// emit writes a piece, and adds its place to the footer.
func (c *columnCopy) emit(p *columnPiece) error {
	if p.err != nil {
		return p.err
	}
	// If a column is copied as a whole, its offsets change by the same number.
	m := &p.column.MetaData
	if p.page == nil {
		first := cmp.Or(m.DictionaryPageOffset, m.DataPageOffset)
		if m.DataPageOffset += c.written - first; m.DictionaryPageOffset > 0 {
			m.DictionaryPageOffset = c.written
		}
		n, err := io.Copy(c.to, p.content)
		c.written += n
		return err
	}
	// Subtract the rows that the page lost. A page without rows is not written.
	m.NumValues -= int64(p.page.Values)
	m.Statistics.NullCount = max(m.Statistics.NullCount-int64(p.page.Nulls), 0)
	if len(p.page.Head) == 0 {
		return nil
	}
	// The footer has the offsets of the dictionary and of the first data page.
	h := p.page.Header
	if h.Type == parquetformat.DictionaryPage {
		m.DictionaryPageOffset = c.written
	} else if m.DataPageOffset == 0 {
		m.DataPageOffset = c.written
	}
	// Count the bytes of the page and write it.
	head, body := int64(len(p.page.Head)), int64(len(p.page.Body))
	c.written += head + body
	m.TotalCompressedSize += head + body
	m.TotalUncompressedSize += head + int64(h.UncompressedPageSize)
	_, err := c.to.Write(p.page.Head)
	if err == nil {
		_, err = c.to.Write(p.page.Body)
	}
	return err
}

// end writes the footer.
func (c *columnCopy) end() error {
	for n := range c.footer.RowGroups {
		group := &c.footer.RowGroups[n]
		group.TotalByteSize, group.TotalCompressedSize, group.Ordinal = 0, 0, int16(n)
		for i := range group.Columns {
			m := &group.Columns[i].MetaData
			group.TotalByteSize += m.TotalUncompressedSize
			group.TotalCompressedSize += m.TotalCompressedSize
		}
		m := &group.Columns[0].MetaData
		group.FileOffset = cmp.Or(m.DictionaryPageOffset, m.DataPageOffset)
	}
	if c.fields != nil {
		if err := c.addFields(); err != nil {
			return err
		}
	}
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &c.footer)
	if err != nil {
		return err
	}
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(footer)))
	_, err = c.to.Write(append(footer, parquetMagic...))
	return err
}

// addFields adds the columns of the fields to the schema, and removes the metadata that repeats it.
func (c *columnCopy) addFields() error {
	_, file, err := c.fieldColumns(0)
	if err != nil {
		return err
	}
	fields, err := parquet.OpenFile(file, file.Size())
	if err != nil {
		return err
	}
	newFields, footer := fields.Metadata(), &c.footer
	footer.Schema = slices.Concat(footer.Schema, newFields.Schema[1:])
	footer.Schema[0].NumChildren.V += int32(len(newFields.Schema) - 1)
	if len(footer.ColumnOrders) > 0 {
		footer.ColumnOrders = slices.Concat(footer.ColumnOrders, newFields.ColumnOrders)
	}
	footer.KeyValueMetadata = slices.DeleteFunc(slices.Clone(footer.KeyValueMetadata),
		func(kv parquetformat.KeyValue) bool { return slices.Contains(schemaCopies, kv.Key) })
	return nil
}

// schemaCopies are the keys of metadata that repeat the schema.
var schemaCopies = []string{"ARROW:schema", "huggingface"}

// fieldColumns returns the columns with the fields of the next rows, and a file with only these columns.
func (c *columnCopy) fieldColumns(rows int64) ([]parquetformat.ColumnChunk, *bytes.Reader, error) {
	if c.fields == nil {
		return nil, nil, nil
	}
	// Every added column is optional, because a row may have no value for it.
	columns := slices.Clone(c.fields.Columns)
	for i := range columns {
		columns[i].Optional = true
	}
	// Write the fields of each row as a Parquet file in memory. Rows without a note have the values of note 0.
	var b bytes.Buffer
	w := parquet.NewGenericWriter[any](&b, result.Schema(columns), parquet.Compression(&parquet.Zstd))
	var row parquet.Row
	for i := range rows {
		note := 0
		if len(c.notes) > 0 && c.notes[0].from == c.row+i+1 {
			note, c.notes = c.notes[0].note, c.notes[1:]
		}
		row = row[:0]
		for j, v := range c.fields.Values(note) {
			row = append(row, columnValue(v, j))
		}
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			return nil, nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, nil, err
	}
	// Its only row group has the columns.
	file := bytes.NewReader(b.Bytes())
	parquetFile, err := parquet.OpenFile(file, file.Size())
	if err != nil || rows == 0 {
		return nil, file, err
	}
	return parquetFile.Metadata().RowGroups[0].Columns, file, nil
}
