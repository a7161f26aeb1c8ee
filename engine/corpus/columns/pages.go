package columns

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	headerFirst = 4 << 10 // bytes that are read for a page's header, which as a rule has some dozen
	headerMax   = 1 << 20
	valuesMax   = 1 << 24 // of a page
)

// Pages are those of a column in a row group. They are read in order, and belong to one goroutine.
type Pages struct {
	pages *parquet.FilePages
	from  *stream
	place string
}

// Pages returns the pages of a column, by its number in the schema. They must be closed. A column with repetitions is refused.
func (f *File) Pages(group, column int) (p *Pages, err error) {
	path := f.Schema().Columns()[column]
	if leaf, ok := f.Schema().Lookup(path...); !ok || leaf.MaxRepetitionLevel != 0 {
		return nil, fmt.Errorf("row group %d, column %q: it has repetitions", group+1, f.name(column))
	}
	return f.pages(group, column)
}

// pages returns the pages of any column.
func (f *File) pages(group, column int) (p *Pages, err error) {
	p = &Pages{place: fmt.Sprintf("row group %d, column %q", group+1, f.name(column))}
	defer p.say(&err)
	chunk := &f.own.RowGroups[group].Columns[column]
	m := &chunk.MetaData
	s := &stream{file: f, codec: m.Codec, at: m.DataPageOffset, left: m.NumValues, from: pageBase}
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
	leaf, ok := f.Schema().Lookup(f.Schema().Columns()[column]...)
	if !ok {
		return nil, errors.New("the schema does not have it")
	}
	s.repeats, s.groupRows = bits.Len(uint(leaf.MaxRepetitionLevel)), f.Rows(group)
	if m.NumValues < s.groupRows || m.NumValues > s.groupRows && s.repeats == 0 || m.NumValues > rowsSpare+rowsPerByte*f.size {
		return nil, corrupt("%d values in %d rows", m.NumValues, s.groupRows)
	}
	in := f.view.RowGroups()[group].ColumnChunks()[column].(*parquet.FileColumnChunk)
	s.levels = bits.Len(uint(leaf.MaxDefinitionLevel))
	p.pages, p.from = in.PagesFrom(s), s
	return p, nil
}

// say adds the place to an error, or makes one of a panic.
func (p *Pages) say(err *error) {
	if r := recover(); r != nil {
		*err = corrupt("%v", r)
	}
	if *err != nil && *err != io.EOF {
		*err = fmt.Errorf("%s: %w", p.place, *err)
	}
}

// Next returns the next page, io.EOF behind the last one, which must be released with [parquet.Release].
func (p *Pages) Next() (page parquet.Page, err error) {
	defer p.say(&err)
	page, err = p.pages.ReadPage()
	switch {
	case p.from.err != nil:
		err = p.from.err // which the library may have taken for something else
	case err == io.EOF:
		err = p.from.ended()
	}
	return page, err
}

// Read reads values of a page, as [parquet.ValueReader] has it.
func (p *Pages) Read(from parquet.ValueReader, to []parquet.Value) (n int, err error) {
	defer p.say(&err)
	return from.ReadValues(to)
}

// Close gives back what the pages hold.
func (p *Pages) Close() { p.pages.Close() }

// A stream hands the pages of a column to the library, checked and decompressed. It is read from its start to its end.
type stream struct {
	file    *File
	codec   format.CompressionCodec
	levels  int   // bits of a definition level
	at, end int64 // of the pages that are to come, in the file
	left    int64 // values of them
	repeats int   // bits of a repetition level; 0: each row has one value

	groupRows int64 // of the row group
	rows      int64 // that began so far, where there are repetitions
	inRow     int   // values of the last one

	number  int  // of the page
	entries bool // there is a dictionary

	out  []byte // what the library sees of a page
	from int64  // where that is, for the library
	err  error  // what was wrong with the file

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

// next reads the next page.
func (s *stream) next() error {
	s.number++
	h, n, err := s.header()
	if err != nil {
		return err
	}
	if h.CompressedPageSize < 0 || int64(h.CompressedPageSize) > s.end-s.at-int64(n) {
		return corrupt("%d bytes, which end behind the column", h.CompressedPageSize)
	}
	if most := s.file.page + s.file.page/4 + packedSpare; int64(h.CompressedPageSize) > most {
		return corrupt("%d bytes compressed, of which %d are the most", h.CompressedPageSize, most)
	}
	if h.UncompressedPageSize < 0 || int64(h.UncompressedPageSize) > s.file.page {
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
	switch h.Type {
	case format.DictionaryPage:
		err = s.dictionary(h)
	case format.DataPage:
		err = s.data(h)
	case format.DataPageV2:
		err = s.dataV2(h)
	default: // of an index, which nothing needs
		return nil
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
	if !h.DictionaryPageHeader.Valid {
		return corrupt("a dictionary without its header")
	}
	if s.plain, err = s.file.decompressor.page(s.plain, s.codec, s.packed, int(h.UncompressedPageSize)); err != nil {
		return err
	}
	if n := h.DictionaryPageHeader.V.NumValues; n < 0 || int(n) > len(s.plain) {
		return corrupt("a dictionary of %d entries in %d bytes", n, len(s.plain))
	}
	s.entries = true
	return nil
}

// values checks a page's values.
func (s *stream) values(b []byte, encoding format.Encoding, n int32) error {
	if (encoding == format.RLEDictionary || encoding == plainDictionary) && !s.entries {
		return corrupt("entries of a dictionary without one")
	}
	return checkValues(b, encoding, int(n), s.file.page)
}

// count checks how many values a page has, and counts them.
func (s *stream) count(n int32) error {
	if n < 0 || n > valuesMax || int64(n) > s.left {
		return corrupt("%d values, where %d are left of the column and %d are the most of a page", n, s.left, valuesMax)
	}
	s.left -= int64(n)
	return nil
}

// data checks a page of the first version: levels with their length before them and values, compressed together.
func (s *stream) data(h *format.PageHeader) (err error) {
	if !h.DataPageHeader.Valid {
		return corrupt("a page without its header")
	}
	d := &h.DataPageHeader.V
	if err := s.count(d.NumValues); err != nil {
		return err
	}
	if s.plain, err = s.file.decompressor.page(s.plain, s.codec, s.packed, int(h.UncompressedPageSize)); err != nil {
		return err
	}
	values := s.plain
	if s.repeats > 0 {
		var levels []byte
		if levels, values, err = s.levelsOf(values, d.RepetitionLevelEncoding, s.repeats, d.NumValues); err != nil {
			return err
		}
		if err := s.repetitions(levels, int(d.NumValues)); err != nil {
			return err
		}
	}
	if s.levels > 0 {
		if _, values, err = s.levelsOf(values, d.DefinitionLevelEncoding, s.levels, d.NumValues); err != nil {
			return err
		}
	}
	return s.values(values, d.Encoding, d.NumValues)
}

// levelsOf returns the levels at the beginning of a page of the first version, checked, and what follows them.
func (s *stream) levelsOf(b []byte, encoding format.Encoding, width int, values int32) (levels, rest []byte, err error) {
	if encoding != format.RLE {
		return nil, nil, fmt.Errorf("levels encoded as %v, which is not read", encoding)
	}
	if len(b) < 4 {
		return nil, nil, corrupt("levels without a length")
	}
	n := int64(binary.LittleEndian.Uint32(b))
	if b = b[4:]; n > int64(len(b)) {
		return nil, nil, corrupt("levels of %d bytes in a page of %d", n, len(s.plain))
	}
	return b[:n], b[n:], checkRuns(b[:n], width, int(values))
}

// dataV2 checks a page of the second version: only the values are compressed.
func (s *stream) dataV2(h *format.PageHeader) (err error) {
	if !h.DataPageHeaderV2.Valid {
		return corrupt("a page without its header")
	}
	d := &h.DataPageHeaderV2.V
	if err := s.count(d.NumValues); err != nil {
		return err
	}
	levels := int64(d.RepetitionLevelsByteLength) + int64(d.DefinitionLevelsByteLength)
	if d.RepetitionLevelsByteLength < 0 || d.DefinitionLevelsByteLength < 0 || levels > min(int64(len(s.packed)), int64(h.UncompressedPageSize)) {
		return corrupt("levels of %d and %d bytes in a page of %d", d.RepetitionLevelsByteLength, d.DefinitionLevelsByteLength, len(s.packed))
	}
	if d.NumNulls < 0 || d.NumNulls > d.NumValues || d.NumRows < 0 || d.NumRows > d.NumValues || s.repeats == 0 && d.NumRows != d.NumValues {
		return corrupt("%d nulls and %d rows among %d values", d.NumNulls, d.NumRows, d.NumValues)
	}
	if s.repeats > 0 {
		b := s.packed[:d.RepetitionLevelsByteLength]
		if err := checkRuns(b, s.repeats, int(d.NumValues)); err != nil {
			return err
		}
		if err := s.repetitions(b, int(d.NumValues)); err != nil {
			return err
		}
	}
	if err := checkRuns(s.packed[d.RepetitionLevelsByteLength:levels], s.levels, int(d.NumValues)); err != nil {
		return err
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
	if err := s.values(values, d.Encoding, d.NumValues); err != nil {
		return err
	}
	s.plain = append(append(make([]byte, 0, int(levels)+len(values)), s.packed[:levels]...), values...)
	d.IsCompressed = thrift.Null[bool]{}
	return nil
}

// hand makes the page what the library reads next.
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
