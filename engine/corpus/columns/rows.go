package columns

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// rowValuesMax is the most values that a row may have in one column: they are in memory together.
const rowValuesMax = 1 << 22

// RowGroup returns a row group with all its columns, those with repetitions too, whose pages are checked as those of [File.Pages]
// are. It is read once, from its start to its end, and the error of a page is one of a read. Rows are counted from 0 in the group.
func (f *File) RowGroup(group int) parquet.RowGroup {
	return &rowGroup{f.view.RowGroups()[group], f, group}
}

// Repeats says whether a column has lists or maps, of which a row may have many values.
func (f *File) Repeats() bool {
	for _, path := range f.Schema().Columns() {
		if leaf, ok := f.Schema().Lookup(path...); ok && leaf.MaxRepetitionLevel > 0 {
			return true
		}
	}
	return false
}

type rowGroup struct {
	parquet.RowGroup
	file   *File
	number int
}

func (g *rowGroup) Rows() parquet.Rows { return parquet.NewRowGroupRowReader(g) }

func (g *rowGroup) ColumnChunks() []parquet.ColumnChunk {
	chunks := g.RowGroup.ColumnChunks()
	checked := make([]parquet.ColumnChunk, len(chunks))
	for i := range chunks {
		checked[i] = &columnChunk{chunks[i], g, i}
	}
	return checked
}

type columnChunk struct {
	parquet.ColumnChunk
	group  *rowGroup
	number int
}

func (c *columnChunk) Pages() parquet.Pages {
	pages, err := c.group.file.pages(c.group.number, c.number)
	return &rowPages{pages, err}
}

// rowPages are the pages of a column as the library reads them.
type rowPages struct {
	pages *Pages
	err   error // of opening them
}

func (p *rowPages) ReadPage() (parquet.Page, error) {
	if p.err != nil {
		return nil, p.err
	}
	return p.pages.Next()
}

func (p *rowPages) SeekToRow(row int64) error {
	if row != 0 || p.err == nil && p.pages.from.number > 0 {
		return errors.New("columns: rows are read from the first one on")
	}
	return nil
}

func (p *rowPages) Close() error {
	if p.err == nil {
		p.pages.Close()
	}
	return nil
}

// repetitions walks the repetition levels of a page, whose runs are sound, and counts rows and the values of each.
func (s *stream) repetitions(b []byte, values int) error {
	width := s.repeats
	for len(b) > 0 && values > 0 {
		head, n := binary.Uvarint(b)
		b = b[n:]
		count := int(head >> 1)
		if head&1 == 0 {
			level := 0
			for i := range (width + 7) / 8 {
				level |= int(b[i]) << (8 * i)
			}
			b = b[(width+7)/8:]
			count = min(count, values)
			values -= count
			if err := s.repeated(level, count); err != nil {
				return err
			}
			continue
		}
		packed := b[:count*width]
		b = b[count*width:]
		for i := range min(8*count, values) {
			level := 0
			for bit := i * width; bit < (i+1)*width; bit++ {
				level |= int(packed[bit/8]>>(bit%8)&1) << (bit - i*width)
			}
			if err := s.repeated(level, 1); err != nil {
				return err
			}
		}
		values -= min(8*count, values)
	}
	if values > 0 {
		return corrupt("%d values without a level", values)
	}
	return nil
}

// repeated counts values of a level: a row begins with one of level 0.
func (s *stream) repeated(level, count int) error {
	switch {
	case level == 0:
		s.rows += int64(count)
		s.inRow = 1
	case s.rows == 0:
		return corrupt("a column that begins within a row")
	default:
		s.inRow += count
	}
	if s.inRow > rowValuesMax {
		return fmt.Errorf("row %d has more than %d values, which are the most", s.rows, rowValuesMax)
	}
	return nil
}

// ended returns the error of a column that ends too early, or in another row than the others.
func (s *stream) ended() error {
	switch {
	case s.left > 0:
		return corrupt("%d values are missing", s.left)
	case s.repeats > 0 && s.rows != s.groupRows:
		return corrupt("values of %d rows in a row group of %d", s.rows, s.groupRows)
	}
	return io.EOF
}
