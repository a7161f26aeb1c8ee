package columns

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	headerFirst = 4 << 10  // bytes that are read at first for the header of a page, which usually has some dozen
	headerMax   = 64 << 20 // bytes of a header: some writers put the first and the last text into it
	valuesMax   = 1 << 24  // values of a page

	// rowValuesMax is the maximum number of values of a row in one column. They are in memory at the same time.
	rowValuesMax = 1 << 22
)

// A columnChunk is a column of a row group whose pages are checked.
type columnChunk struct {
	parquet.ColumnChunk
	file          *File
	group, number int
}

func (f *File) chunk(group, column int) *columnChunk {
	return &columnChunk{f.view.RowGroups()[group].ColumnChunks()[column], f, group, column}
}

// place names the column for errors.
func (c *columnChunk) place() string {
	name := strings.Join(c.file.Schema().Columns()[c.number], ".")
	return fmt.Sprintf("row group %d, column %q", c.group+1, name)
}

func (c *columnChunk) Pages() parquet.Pages {
	s, err := c.stream()
	if err != nil {
		return &pages{place: c.place(), stream: &stream{err: err}}
	}
	return &pages{c.ColumnChunk.(*parquet.FileColumnChunk).PagesFrom(s), s, c.place()}
}

// stream opens the column and checks its place and the number of its values.
func (c *columnChunk) stream() (s *stream, err error) {
	defer recovered("type", &err) // the library panics at a list without elements
	f := c.file
	chunk := &f.footer.RowGroups[c.group].Columns[c.number]
	m := &chunk.MetaData
	s = &stream{file: f, codec: m.Codec, offset: m.DataPageOffset, valuesLeft: m.NumValues, viewOffset: pageBase,
		column: c.ColumnChunk.Type().Kind(), group: f.Rows(c.group)}
	if m.DictionaryPageOffset != 0 {
		s.offset = m.DictionaryPageOffset
	}
	s.end = s.offset + m.TotalCompressedSize
	switch {
	case chunk.FilePath != "":
		return nil, fmt.Errorf("its pages are in another file, %q", chunk.FilePath)
	case chunk.CryptoMetadata.Value != nil:
		return nil, errors.New("it is encrypted")
	case s.offset < pageBase || m.TotalCompressedSize < 0 || s.end > f.size || s.end < s.offset:
		return nil, corrupt("%d bytes from byte %d on in a file of %d", m.TotalCompressedSize, s.offset, f.size)
	}
	leaf := f.leaf(c.number)
	s.repeats, s.levels = bits.Len(uint(leaf.MaxRepetitionLevel)), bits.Len(uint(leaf.MaxDefinitionLevel))
	if m.NumValues < s.group || m.NumValues > s.group && s.repeats == 0 ||
		m.NumValues > rowsSpare+rowsPerByte*f.size {
		return nil, corrupt("%d values in %d rows", m.NumValues, s.group)
	}
	return s, nil
}

// pages are the checked pages of a column, for the library to read.
type pages struct {
	*parquet.FilePages // nil if the column cannot be opened
	stream             *stream
	place              string
}

func (p *pages) ReadPage() (page parquet.Page, err error) {
	if p.stream.err == nil {
		page, err = p.FilePages.ReadPage()
	}
	switch {
	case p.stream.err != nil:
		err = p.stream.err // the cause, which the library may have replaced
	case err == io.EOF:
		err = p.stream.checkEnd()
	case err == nil && p.stream.repeats > 0:
		err = p.stream.count(page.RepetitionLevels())
	}
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%s: %w", p.place, err)
	}
	return page, err
}

func (p *pages) Close() error {
	if p.FilePages == nil {
		return nil
	}
	return p.FilePages.Close()
}

// Values are the values of a column. They turn the library's panics into errors.
type Values struct {
	reader   parquet.ColumnChunkValueReader
	chunk    *columnChunk
	repeats  bool // a row may have several values
	buffer   [128]parquet.Value
	buffered []parquet.Value // part of the buffer that is not returned yet
}

// Values returns the values of a column in a row group. column is its number in the schema. The caller closes them.
func (f *File) Values(group, column int) *Values {
	chunk := f.chunk(group, column)
	return &Values{reader: parquet.NewColumnChunkValueReader(chunk), chunk: chunk, repeats: f.IsRepeated(column)}
}

// Row calls add with the values of the next row: at least one, since a null is a value. They are valid during the
// call.
func (v *Values) Row(add func(parquet.Value)) error {
	for n := 0; n == 0 || v.repeats; n++ {
		if len(v.buffered) == 0 {
			k, err := v.read()
			if v.buffered = v.buffer[:k]; k == 0 {
				switch {
				case errors.Is(err, io.EOF) && n > 0:
					return nil
				case errors.Is(err, io.EOF):
					return io.ErrUnexpectedEOF
				}
				return err
			}
		}
		if n > 0 && v.buffered[0].RepetitionLevel() == 0 {
			return nil
		}
		add(v.buffered[0])
		v.buffered = v.buffered[1:]
	}
	return nil
}

// read fills the buffer.
func (v *Values) read() (n int, err error) {
	defer recovered(v.chunk.place(), &err)
	return v.reader.ReadValues(v.buffer[:])
}

// Close ends the reading.
func (v *Values) Close() error { return v.reader.Close() }

// A stream gives the pages of a column to the library, checked and decompressed. The library reads it from start to
// end.
type stream struct {
	file        *File
	codec       format.CompressionCodec
	column      parquet.Kind
	offset, end int64 // offsets in the file of the pages that are left
	valuesLeft  int64 // values of the pages that are left
	levels      int   // bits of a definition level
	repeats     int   // bits of a repetition level; 0: each row has one value
	group       int64 // rows of the row group
	rowCount    int64 // rows that have begun, in a column with repetitions
	lastValues  int   // values of the last of these rows

	number      int  // number of the page
	entries     bool // the column has a dictionary
	onlyIndexes bool // fetch reads only pages of indexes, and levels of lists

	head, body []byte // the page that the library reads
	viewOffset int64  // its offset for the library
	err        error  // error of opening or reading the file

	packed, plain []byte // buffers
}

// ReadAt reads the next bytes. It may return fewer bytes than p can hold.
func (s *stream) ReadAt(p []byte, position int64) (int, error) {
	if position < s.viewOffset {
		return 0, corrupt("it is read backwards") // the library does this to find a missing dictionary
	}
	for position >= s.viewOffset+int64(len(s.head)+len(s.body)) {
		if s.err == nil && s.offset >= s.end {
			return 0, io.EOF
		}
		if s.err == nil {
			s.err = s.next()
		}
		if s.err != nil {
			return 0, s.err
		}
	}
	if offset := position - s.viewOffset - int64(len(s.head)); offset >= 0 {
		return copy(p, s.body[offset:]), nil
	}
	return copy(p, s.head[position-s.viewOffset:]), nil
}

// next reads the next page and checks it.
func (s *stream) next() error {
	h, _, err := s.fetch()
	if err != nil {
		return err
	}
	b, err := s.open(h)
	if err == nil && (h.Type == format.DictionaryPage || isData(h)) {
		err = s.hand(h, b.levels, b.values)
	}
	return s.withPlace(err)
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

// A body is a decompressed page. In data pages of version 1 the length of the levels precedes them.
type body struct{ levels, repetitions, definitions, values []byte }

// isData reports whether a page has values of rows.
func isData(h *format.PageHeader) bool {
	return h.Type == format.DataPage || h.Type == format.DataPageV2
}

// open decompresses and checks the page that was fetched.
func (s *stream) open(h *format.PageHeader) (b body, err error) {
	switch {
	case h.Type == format.IndexPage, h.Type > format.DataPageV2: // these pages are not needed
	case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
		b.values, err = s.dictionary(h)
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		b, err = s.data(h)
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		b, err = s.dataV2(h)
	default:
		err = corrupt("a page without its header")
	}
	return b, err
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

// unpack decompresses the values of a page and the blocks of levels before them. A text that exceeds the limit is cut to
// one byte more than the limit, so that the reader notices that it is too long.
func (s *stream) unpack(codec format.CompressionCodec, packed []byte, size, levels int, encoding format.Encoding) (
	_ []byte, err error) {
	if s.column == parquet.ByteArray && encoding == format.Plain && int64(size) > s.file.valueMax {
		s.plain, err = s.file.decompressor.cut(s.plain, codec, packed, size, levels, s.file.valueMax+1)
	} else {
		s.plain, err = s.file.decompressor.page(s.plain, codec, packed, size)
	}
	return s.plain, err
}

// dictionary checks a dictionary.
func (s *stream) dictionary(h *format.PageHeader) (values []byte, err error) {
	d := &h.DictionaryPageHeader.V
	//lint:ignore SA1019 files of the first version of the format have it
	if d.Encoding == format.PlainDictionary {
		d.Encoding = format.Plain
	}
	if values, err = s.unpack(s.codec, s.packed, int(h.UncompressedPageSize), 0, d.Encoding); err != nil {
		return nil, err
	}
	n := d.NumValues
	if n < 0 || int(n) > len(values) {
		return nil, corrupt("a dictionary of %d entries in %d bytes", n, len(values))
	}
	s.entries = true
	return values, nil
}

// data checks a data page of version 1. Its levels, which begin with their length, and its values are compressed
// together.
func (s *stream) data(h *format.PageHeader) (b body, err error) {
	d := &h.DataPageHeader.V
	blocks := min(s.repeats, 1) + min(s.levels, 1)
	plain, err := s.unpack(s.codec, s.packed, int(h.UncompressedPageSize), blocks, d.Encoding)
	if err != nil {
		return b, err
	}
	if b.repetitions, b.values, err = cutLevels(plain, d.RepetitionLevelEncoding, s.repeats); err != nil {
		return b, err
	}
	if b.definitions, b.values, err = cutLevels(b.values, d.DefinitionLevelEncoding, s.levels); err != nil {
		return b, err
	}
	b.levels = plain[:len(plain)-len(b.values)]
	return b, s.check(b, d.Encoding, int(d.NumValues))
}

// cutLevels returns the levels at the beginning of a data page of version 1, if it has any, and the rest.
func cutLevels(b []byte, encoding format.Encoding, width int) (levels, rest []byte, err error) {
	switch {
	case width == 0:
		return nil, b, nil
	case encoding != format.RLE:
		return nil, nil, fmt.Errorf("levels encoded as %v, which is not read", encoding)
	case len(b) < 4:
		return nil, nil, corrupt("levels without a length")
	}
	n := int64(binary.LittleEndian.Uint32(b))
	if b = b[4:]; n > int64(len(b)) {
		return nil, nil, corrupt("levels of %d bytes in a page of %d", n, len(b))
	}
	return b[:n], b[n:], nil
}

// dataV2 checks a data page of version 2. Only its values are compressed.
func (s *stream) dataV2(h *format.PageHeader) (b body, err error) {
	d := &h.DataPageHeaderV2.V
	size := int64(d.RepetitionLevelsByteLength) + int64(d.DefinitionLevelsByteLength)
	switch {
	case d.RepetitionLevelsByteLength < 0 || d.DefinitionLevelsByteLength < 0 ||
		size > min(int64(len(s.packed)), int64(h.UncompressedPageSize)):
		return b, corrupt("levels of %d and %d bytes in a page of %d", d.RepetitionLevelsByteLength,
			d.DefinitionLevelsByteLength, len(s.packed))
	case d.NumNulls < 0 || d.NumNulls > d.NumValues || d.NumRows < 0 || d.NumRows > d.NumValues ||
		s.repeats == 0 && d.NumRows != d.NumValues:
		return b, corrupt("%d nulls and %d rows among %d values", d.NumNulls, d.NumRows, d.NumValues)
	}
	codec := s.codec
	if d.IsCompressed.Valid && !d.IsCompressed.V {
		codec = format.Uncompressed
	}
	packed := s.packed[size:]
	b.levels = s.packed[:size]
	b.repetitions, b.definitions = b.levels[:d.RepetitionLevelsByteLength], b.levels[d.RepetitionLevelsByteLength:]
	if remaining := int(int64(h.UncompressedPageSize) - size); remaining > 0 || len(packed) > 0 {
		if b.values, err = s.unpack(codec, packed, remaining, 0, d.Encoding); err != nil {
			return b, err
		}
	}
	d.IsCompressed = thrift.Null[bool]{}
	return b, s.check(b, d.Encoding, int(d.NumValues))
}

// check checks the levels and values of a page of n values, and counts the values.
func (s *stream) check(b body, encoding format.Encoding, n int) error {
	if n < 0 || n > valuesMax || int64(n) > s.valuesLeft {
		return corrupt("%d values: %d are left of the column, and the limit of a page is %d", n, s.valuesLeft, valuesMax)
	}
	s.valuesLeft -= int64(n)
	if err := errors.Join(checkRuns(b.repetitions, s.repeats, n), checkRuns(b.definitions, s.levels, n)); err != nil {
		return err
	}
	if isDictionary(encoding) && !s.entries {
		return corrupt("entries of a dictionary without one")
	}
	return checkValues(b.values, encoding, n, s.file.pageMax)
}

// count counts the rows that begin in a page of a column with repetitions.
func (s *stream) count(levels []byte) error {
	for _, level := range levels {
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
	case s.repeats > 0 && s.rowCount != s.group:
		return corrupt("values of %d rows in a row group of %d", s.rowCount, s.group)
	}
	return io.EOF
}

// hand encodes the header that the library reads next, before the levels and values.
func (s *stream) hand(h *format.PageHeader, levels, values []byte) error {
	size := int32(len(levels) + len(values))
	h.CRC, h.CompressedPageSize, h.UncompressedPageSize = 0, size, size
	h.DataPageHeader.V.Statistics, h.DataPageHeaderV2.V.Statistics = format.Statistics{}, format.Statistics{}
	b := bytes.NewBuffer(s.head[:0])
	var compact thrift.CompactProtocol
	if err := thrift.NewEncoder(compact.NewWriter(b)).Encode(h); err != nil {
		return corrupt("%v", err)
	}
	s.viewOffset += int64(len(s.head) + len(s.body))
	b.Write(levels)
	s.head, s.body = b.Bytes(), values
	return nil
}
