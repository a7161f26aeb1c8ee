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
	headerFirst = 4 << 10 // bytes that are read for a page's header, which as a rule has some dozen
	headerMax   = 1 << 20
	valuesMax   = 1 << 24 // of a page

	// rowValuesMax is the most values that a row may have in one column: they are in memory
	// together.
	rowValuesMax = 1 << 22
)

// RowGroup returns a row group whose pages are checked. It is read once, from its start on.
// An error of a page is returned by the read that needs it; of pages that contradict themselves the
// library may panic.
func (f *File) RowGroup(group int) parquet.RowGroup {
	return &rowGroup{f.view.RowGroups()[group], f, group}
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

// place names the column for errors.
func (c *columnChunk) place() string {
	name := strings.Join(c.group.file.Schema().Columns()[c.number], ".")
	return fmt.Sprintf("row group %d, column %q", c.group.number+1, name)
}

func (c *columnChunk) Pages() parquet.Pages {
	s, err := c.stream()
	if err != nil {
		return &pages{place: c.place(), from: &stream{err: err}}
	}
	return &pages{c.ColumnChunk.(*parquet.FileColumnChunk).PagesFrom(s), s, c.place()}
}

// stream opens the column and checks its place and the number of its values.
func (c *columnChunk) stream() (*stream, error) {
	f := c.group.file
	chunk := &f.own.RowGroups[c.group.number].Columns[c.number]
	m := &chunk.MetaData
	s := &stream{file: f, codec: m.Codec, at: m.DataPageOffset, left: m.NumValues, from: pageBase,
		rows: rowCount{group: f.Rows(c.group.number)}}
	if m.DictionaryPageOffset != 0 {
		s.at = m.DictionaryPageOffset
	}
	s.end = s.at + m.TotalCompressedSize
	switch {
	case chunk.FilePath != "":
		return nil, fmt.Errorf("its pages are in another file, %q", chunk.FilePath)
	case chunk.CryptoMetadata.Value != nil:
		return nil, errors.New("it is encrypted")
	case s.at < pageBase || m.TotalCompressedSize < 0 || s.end > f.size || s.end < s.at:
		return nil, corrupt("%d bytes from byte %d on in a file of %d", m.TotalCompressedSize, s.at, f.size)
	}
	leaf, ok := f.Schema().Lookup(f.Schema().Columns()[c.number]...)
	if !ok {
		return nil, errors.New("the schema does not have it")
	}
	s.repeats, s.levels = bits.Len(uint(leaf.MaxRepetitionLevel)), bits.Len(uint(leaf.MaxDefinitionLevel))
	if m.NumValues < s.rows.group || m.NumValues > s.rows.group && s.repeats == 0 ||
		m.NumValues > rowsSpare+rowsPerByte*f.size {
		return nil, corrupt("%d values in %d rows", m.NumValues, s.rows.group)
	}
	return s, nil
}

// pages are the checked pages of a column, as the library reads them.
type pages struct {
	*parquet.FilePages // nil where the column cannot be opened
	from               *stream
	place              string
}

func (p *pages) ReadPage() (page parquet.Page, err error) {
	if p.from.err == nil {
		page, err = p.FilePages.ReadPage()
	}
	switch {
	case p.from.err != nil:
		err = p.from.err // which the library may have taken for something else
	case err == io.EOF:
		err = p.from.ended()
	}
	if err != nil && err != io.EOF {
		err = fmt.Errorf("%s: %w", p.place, err)
	}
	return page, err
}

func (p *pages) SeekToRow(row int64) error {
	if row != 0 || p.from.number > 0 {
		return errors.New("columns: rows are read from the first one on")
	}
	return nil
}

func (p *pages) Close() error {
	if p.FilePages == nil {
		return nil
	}
	return p.FilePages.Close()
}

// Values are the values of a column, without the library's panics.
type Values struct {
	from    parquet.ColumnChunkValueReader
	chunk   *columnChunk
	repeats bool // a row may have several values
	buffer  [128]parquet.Value
	ahead   []parquet.Value // of the buffer
}

// Values returns the values of a column of a row group, by its number in the schema. They must be closed.
func (f *File) Values(group, column int) *Values {
	chunk := f.RowGroup(group).ColumnChunks()[column].(*columnChunk)
	return &Values{from: parquet.NewColumnChunkValueReader(chunk), chunk: chunk, repeats: f.IsRepeated(column)}
}

// Row calls add with the values of the next row, which are one at least: a null is a value. They are valid
// during the call.
func (v *Values) Row(add func(parquet.Value)) error {
	for n := 0; n == 0 || v.repeats; n++ {
		if len(v.ahead) == 0 {
			k, err := v.read()
			if v.ahead = v.buffer[:k]; k == 0 {
				switch {
				case errors.Is(err, io.EOF) && n > 0:
					return nil
				case errors.Is(err, io.EOF):
					return io.ErrUnexpectedEOF
				}
				return err
			}
		}
		if n > 0 && v.ahead[0].RepetitionLevel() == 0 {
			return nil
		}
		add(v.ahead[0])
		v.ahead = v.ahead[1:]
	}
	return nil
}

// read fills the buffer.
func (v *Values) read() (n int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: %w", v.chunk.place(), corrupt("%v", r))
		}
	}()
	return v.from.ReadValues(v.buffer[:])
}

// Close ends the reading.
func (v *Values) Close() error { return v.from.Close() }

// A stream hands the pages of a column to the library, checked and decompressed. It is read from
// its start to its end.
type stream struct {
	file    *File
	codec   format.CompressionCodec
	at, end int64 // of the pages that are to come, in the file
	left    int64 // values of them
	levels  int   // bits of a definition level
	repeats int   // bits of a repetition level; 0: each row has one value
	rows    rowCount

	number  int  // of the page
	entries bool // there is a dictionary

	out  []byte // the page as the library sees it
	from int64  // where that is, for the library
	err  error  // of opening or reading the file

	packed, plain []byte // buffers
}

// ReadAt reads on. It may return fewer bytes than p has room for.
func (s *stream) ReadAt(p []byte, at int64) (int, error) {
	if at < s.from {
		return 0, corrupt("it is read backwards") // which the library does for a dictionary that has not come
	}
	for at >= s.from+int64(len(s.out)) {
		if s.err != nil {
			return 0, s.err
		}
		if s.at >= s.end {
			return 0, io.EOF
		}
		if err := s.next(); err != nil {
			s.err = fmt.Errorf("page %d: %w", s.number, err)
			return 0, s.err
		}
	}
	return copy(p, s.out[at-s.from:]), nil
}

// next reads the next page and checks it.
func (s *stream) next() error {
	s.number++
	h, n, err := s.header()
	if err != nil {
		return err
	}
	most := s.file.page + s.file.page/4 + packedSpare
	switch size := int64(h.CompressedPageSize); {
	case size < 0 || size > s.end-s.at-int64(n):
		return corrupt("%d bytes, which end behind the column", size)
	case size > most:
		return corrupt("%d bytes compressed, of which %d are the most", size, most)
	case h.UncompressedPageSize < 0 || int64(h.UncompressedPageSize) > s.file.page:
		return corrupt("%d bytes, of which %d are the most", h.UncompressedPageSize, s.file.page)
	}
	s.packed = grow(s.packed, int(h.CompressedPageSize))
	if err := s.read(s.packed, s.at+int64(n)); err != nil {
		return err
	}
	s.at += int64(n) + int64(h.CompressedPageSize)
	if h.CRC != 0 && uint32(h.CRC) != crc32.ChecksumIEEE(s.packed) {
		return corrupt("checksum mismatch")
	}
	switch {
	case h.Type == format.IndexPage, h.Type > format.DataPageV2: // which nothing needs
		return nil
	case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
		err = s.dictionary(h)
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		err = s.data(h)
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		err = s.dataV2(h)
	default:
		return corrupt("a page without its header")
	}
	if err != nil {
		return err
	}
	return s.hand(h)
}

// header reads a page's header and returns how long it is.
func (s *stream) header() (h *format.PageHeader, n int, err error) {
	for size := int64(headerFirst); ; size *= 16 {
		b := make([]byte, min(size, s.end-s.at))
		if err := s.read(b, s.at); err != nil {
			return nil, 0, err
		}
		n, err = structure(b)
		if err == errShort && int64(len(b)) < s.end-s.at && size < headerMax {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		h = new(format.PageHeader)
		return h, n, decode(b[:n], h)
	}
}

func (s *stream) read(b []byte, at int64) error {
	n, err := s.file.r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// dictionary checks a dictionary.
func (s *stream) dictionary(h *format.PageHeader) (err error) {
	if s.plain, err = s.file.decompressor.page(s.plain, s.codec, s.packed, int(h.UncompressedPageSize)); err != nil {
		return err
	}
	if n := h.DictionaryPageHeader.V.NumValues; n < 0 || int(n) > len(s.plain) {
		return corrupt("a dictionary of %d entries in %d bytes", n, len(s.plain))
	}
	s.entries = true
	return nil
}

// data checks a page of the first version: levels with their length before them and values,
// compressed together.
func (s *stream) data(h *format.PageHeader) (err error) {
	d := &h.DataPageHeader.V
	if s.plain, err = s.file.decompressor.page(s.plain, s.codec, s.packed, int(h.UncompressedPageSize)); err != nil {
		return err
	}
	repetitions, values, err := cutLevels(s.plain, d.RepetitionLevelEncoding, s.repeats)
	if err != nil {
		return err
	}
	definitions, values, err := cutLevels(values, d.DefinitionLevelEncoding, s.levels)
	if err != nil {
		return err
	}
	return s.check(repetitions, definitions, values, d.Encoding, int(d.NumValues))
}

// cutLevels returns the levels at the beginning of a page of the first version, if there are any,
// and the rest.
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

// dataV2 checks a page of the second version: only the values are compressed.
func (s *stream) dataV2(h *format.PageHeader) (err error) {
	d := &h.DataPageHeaderV2.V
	levels := int64(d.RepetitionLevelsByteLength) + int64(d.DefinitionLevelsByteLength)
	switch {
	case d.RepetitionLevelsByteLength < 0 || d.DefinitionLevelsByteLength < 0 ||
		levels > min(int64(len(s.packed)), int64(h.UncompressedPageSize)):
		return corrupt("levels of %d and %d bytes in a page of %d", d.RepetitionLevelsByteLength,
			d.DefinitionLevelsByteLength, len(s.packed))
	case d.NumNulls < 0 || d.NumNulls > d.NumValues || d.NumRows < 0 || d.NumRows > d.NumValues ||
		s.repeats == 0 && d.NumRows != d.NumValues:
		return corrupt("%d nulls and %d rows among %d values", d.NumNulls, d.NumRows, d.NumValues)
	}
	codec := s.codec
	if d.IsCompressed.Valid && !d.IsCompressed.V {
		codec = format.Uncompressed
	}
	var values []byte
	if size := int(int64(h.UncompressedPageSize) - levels); size > 0 || levels < int64(len(s.packed)) {
		if values, err = s.file.decompressor.page(s.plain, codec, s.packed[levels:], size); err != nil {
			return err
		}
	}
	s.plain = append(append(make([]byte, 0, int(levels)+len(values)), s.packed[:levels]...), values...)
	d.IsCompressed = thrift.Null[bool]{}
	return s.check(s.packed[:d.RepetitionLevelsByteLength], s.packed[d.RepetitionLevelsByteLength:levels], values,
		d.Encoding, int(d.NumValues))
}

// check checks the levels and values of a page of n values, and counts these and the rows.
func (s *stream) check(repetitions, definitions, values []byte, encoding format.Encoding, n int) error {
	if n < 0 || n > valuesMax || int64(n) > s.left {
		return corrupt("%d values, where %d are left of the column and %d are the most of a page", n, s.left, valuesMax)
	}
	s.left -= int64(n)
	if s.repeats > 0 {
		if err := walkRuns(repetitions, s.repeats, n, s.rows.add); err != nil {
			return err
		}
	}
	if err := walkRuns(definitions, s.levels, n, nil); err != nil {
		return err
	}
	if isDictionary(encoding) && !s.entries {
		return corrupt("entries of a dictionary without one")
	}
	return checkValues(values, encoding, n, s.file.page)
}

// A rowCount counts the rows of a column with repetitions.
type rowCount struct {
	group int64 // rows of the row group
	begun int64 // rows so far
	last  int   // values of the last one
}

// add counts values of a level, 0 or more: a row begins with one of level 0.
func (r *rowCount) add(isZero bool, count int) error {
	switch {
	case isZero:
		r.begun += int64(count)
		r.last = 1
	case r.begun == 0:
		return corrupt("a column that begins within a row")
	default:
		r.last += count
	}
	if r.last > rowValuesMax {
		return fmt.Errorf("row %d has more than %d values, which are the most", r.begun, rowValuesMax)
	}
	return nil
}

// ended returns the error of a column that ends too early, or in another row than the others, else
// io.EOF.
func (s *stream) ended() error {
	switch {
	case s.left > 0:
		return corrupt("%d values are missing", s.left)
	case s.repeats > 0 && s.rows.begun != s.rows.group:
		return corrupt("values of %d rows in a row group of %d", s.rows.begun, s.rows.group)
	}
	return io.EOF
}

// hand encodes the page for the library to read next.
func (s *stream) hand(h *format.PageHeader) error {
	h.CRC = 0
	h.CompressedPageSize, h.UncompressedPageSize = int32(len(s.plain)), int32(len(s.plain))
	h.DataPageHeader.V.Statistics, h.DataPageHeaderV2.V.Statistics = format.Statistics{}, format.Statistics{}
	var b bytes.Buffer
	var compact thrift.CompactProtocol
	if err := thrift.NewEncoder(compact.NewWriter(&b)).Encode(h); err != nil {
		return corrupt("%v", err)
	}
	s.from += int64(len(s.out))
	s.out = append(append(s.out[:0], b.Bytes()...), s.plain...)
	return nil
}
