package columns

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

const (
	headerFirst = 4 << 10  // bytes that are read at first for the header of a page, which usually has some dozen
	headerMax   = 64 << 20 // bytes of a header: some writers put the first and the last text into it

	// rowValuesMax is the maximum number of values of a row in one column. They are in memory at the same time.
	rowValuesMax = 1 << 22
)

// A columnChunk is a column of a row group.
type columnChunk struct {
	file            *File
	group, number   int
	leaf            *parquet.Column
	levels, repeats int // bits of a definition level and of a repetition level; 0: the column has none
	codec           format.CompressionCodec
}

func (f *File) chunk(group, column int) *columnChunk {
	leaf := f.leaves[column]
	return &columnChunk{file: f, group: group, number: column, leaf: leaf, levels: bits.Len(uint(leaf.MaxDefinitionLevel())),
		repeats: bits.Len(uint(leaf.MaxRepetitionLevel())), codec: f.metadata(group, column).Codec}
}

// metadata returns what the footer says about a column of a row group.
func (f *File) metadata(group, column int) *format.ColumnMetaData {
	return &f.footer.RowGroups[group].Columns[column].MetaData
}

// place names the column for errors.
func (c *columnChunk) place() string {
	return fmt.Sprintf("row group %d, column %q", c.group+1, strings.Join(c.leaf.Path(), "."))
}

// stream opens the column and checks its place and the number of its values.
func (c *columnChunk) stream() (*stream, error) {
	f := c.file
	chunk, m, rows := &f.footer.RowGroups[c.group].Columns[c.number], f.metadata(c.group, c.number), f.Rows(c.group)
	s := &stream{columnChunk: c, offset: cmp.Or(m.DictionaryPageOffset, m.DataPageOffset), valuesLeft: m.NumValues}
	s.end = s.offset + m.TotalCompressedSize
	switch {
	case chunk.FilePath != "":
		return nil, fmt.Errorf("its pages are in another file, %q", chunk.FilePath)
	case chunk.CryptoMetadata.Value != nil:
		return nil, errors.New("it is encrypted")
	case s.offset < int64(len(magic)) || m.TotalCompressedSize < 0 || s.end > f.size || s.end < s.offset:
		return nil, corrupt("%d bytes from byte %d on in a file of %d", m.TotalCompressedSize, s.offset, f.size)
	case m.NumValues < rows || m.NumValues > rows && c.repeats == 0 || m.NumValues > rowsSpare+rowsPerByte*f.size:
		return nil, corrupt("%d values in %d rows", m.NumValues, rows)
	}
	return s, nil
}

// A stream reads the pages of a column from start to end.
type stream struct {
	*columnChunk
	offset, end int64 // offsets in the file of the pages that are left
	valuesLeft  int64 // values of the pages that are left
	rowCount    int64 // rows that have begun
	lastValues  int   // values of the last of these rows, in a column with repetitions
	number      int   // number of the page
	onlyIndexes bool  // fetch reads only pages of indexes, and levels of lists

	packed []byte // the body of the page
	memory pageMemory
}

// withPlace names the page in an error.
func (s *stream) withPlace(err error) error {
	if err != nil {
		err = fmt.Errorf("page %d: %w", s.number, err)
	}
	return err
}

// fetch reads the next page without decompressing it. It returns the header, decoded and as bytes of the file.
func (s *stream) fetch() (h *format.PageHeader, head []byte, err error) {
	defer recovered("page", &err)
	s.number++
	h, head, err = s.header()
	if err != nil {
		return nil, nil, s.withPlace(err)
	}
	limit, n := s.file.pageMax+s.file.pageMax/4+packedSpare, int64(len(head))
	switch size := int64(h.CompressedPageSize); {
	case size < 0 || size > s.end-s.offset-n:
		err = corrupt("%d bytes, which end after the column", size)
	case size > limit:
		err = corrupt("%d bytes compressed, the limit is %d", size, limit)
	case h.UncompressedPageSize < 0 || int64(h.UncompressedPageSize) > s.file.pageMax:
		err = corrupt("%d bytes, the limit is %d", h.UncompressedPageSize, s.file.pageMax)
	}
	isRead := !s.onlyIndexes || s.repeats > 0 || isDictionary(encodingOf(h))
	if err == nil && isRead {
		s.packed = grow(s.packed, int(h.CompressedPageSize))
		err = s.read(s.packed, s.offset+n)
	}
	s.offset += n + int64(h.CompressedPageSize)
	if err == nil && isRead && h.CRC != 0 && uint32(h.CRC) != crc32.ChecksumIEEE(s.packed) {
		err = corrupt("checksum mismatch")
	}
	return h, head, s.withPlace(err)
}

// header reads the header of a page, and returns its bytes, too.
func (s *stream) header() (h *format.PageHeader, head []byte, err error) {
	for size := int64(headerFirst); ; size *= 16 {
		b := make([]byte, min(size, s.end-s.offset))
		if err := s.read(b, s.offset); err != nil {
			return nil, nil, err
		}
		h = new(format.PageHeader)
		if n, err := decode(b, h); err != errShort || int64(len(b)) == s.end-s.offset || size >= headerMax {
			return h, b[:n], err
		}
	}
}

func (s *stream) read(b []byte, offset int64) error {
	n, err := s.file.r.ReadAt(b, offset)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// count counts the values of a page, and the rows that begin in it. repetitions are the levels of the page, if it has
// any.
func (s *stream) count(values int, repetitions []byte) error {
	if values < 0 || int64(values) > s.valuesLeft {
		return corrupt("%d values: %d are left of the column", values, s.valuesLeft)
	}
	if s.valuesLeft -= int64(values); s.repeats == 0 {
		s.rowCount += int64(values)
	}
	for _, level := range repetitions {
		switch {
		case level == 0:
			s.rowCount++
			s.lastValues = 1
		case s.rowCount == 0:
			return corrupt("a column that begins within a row")
		default:
			s.lastValues++
		}
		if s.lastValues > rowValuesMax {
			return fmt.Errorf("row %d has more than %d values, which is the limit", s.rowCount, rowValuesMax)
		}
	}
	return nil
}

// checkEnd returns the error of a column that ends too early or in another row than the other columns, else io.EOF.
func (s *stream) checkEnd() error {
	switch {
	case s.valuesLeft > 0:
		return corrupt("%d values are missing", s.valuesLeft)
	case s.repeats > 0 && s.rowCount != s.file.Rows(s.group):
		return corrupt("values of %d rows in a row group of %d", s.rowCount, s.file.Rows(s.group))
	}
	return io.EOF
}
