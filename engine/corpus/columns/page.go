package columns

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"
)

const valuesMax = 1 << 24 // values of a page

// A packedPage is a page as it is in the file.
type packedPage struct {
	*columnChunk
	header *format.PageHeader
	packed []byte
	memory *pageMemory
}

// pageMemory is the memory of a page that is decompressed and decoded. The next page reuses it.
type pageMemory struct {
	plain, data []byte
	offsets     []uint32
}

// A body is a decompressed page whose sizes are checked.
type body struct{ repetitions, definitions, values []byte }

// A pageContent has the levels of the values of a page, and the values that are not null.
type pageContent struct {
	repetitions, definitions []byte // a level of each value; nil: the column has none
	count, present           int    // values, and those that are not null
	values                   encoding.Values
}

// isData reports whether a page has values of rows.
func isData(h *format.PageHeader) bool {
	return h.Type == format.DataPage || h.Type == format.DataPageV2
}

// valuesOf returns the number of a page's values, nulls among them.
func valuesOf(h *format.PageHeader) int {
	if h.Type == format.DataPageV2 {
		return int(h.DataPageHeaderV2.V.NumValues)
	}
	return int(h.DataPageHeader.V.NumValues)
}

// encodingOf returns the encoding of a page's values.
func encodingOf(h *format.PageHeader) format.Encoding {
	if h.Type == format.DataPageV2 {
		return h.DataPageHeaderV2.V.Encoding
	}
	return h.DataPageHeader.V.Encoding
}

// typeOf returns the type and the encoding of the values of a data page. A page with a dictionary has indexes.
func (c *columnChunk) typeOf(h *format.PageHeader) (parquet.Type, encoding.Encoding) {
	if e := encodingOf(h); !isDictionary(e) {
		return c.leaf.Type(), parquet.LookupEncoding(e)
	}
	return parquet.Int32Type, &parquet.RLEDictionary
}

// decode decodes a data page. entries is the number of entries of the dictionary before it.
func (p *packedPage) decode(entries int32) (c pageContent, err error) {
	// Decompress the page, and decode its levels.
	b, err := p.open()
	if err != nil {
		return c, err
	}
	c.count = valuesOf(p.header)
	if c.repetitions, err = levelsOf(b.repetitions, p.repeats, c.count); err != nil {
		return c, err
	}
	if c.definitions, err = levelsOf(b.definitions, p.levels, c.count); err != nil {
		return c, err
	}
	if c.present = c.count; c.definitions != nil {
		c.present = bytes.Count(c.definitions, []byte{byte(p.leaf.MaxDefinitionLevel())})
	}
	// Decode its values.
	t, e := p.typeOf(p.header)
	m := p.memory
	values, err := t.Decode(t.NewValues(slices.Grow(m.data[:0], len(b.values)), m.offsets[:0]), b.values, e)
	if err != nil {
		return c, err
	}
	isIndexes := isDictionary(encodingOf(p.header))
	if m.data, m.offsets = values.Data(); isIndexes { // writers may leave out zeros at the end
		m.data = append(m.data, make([]byte, max(4*c.present-len(m.data), 0))...)
	}
	c.values, err = firstValues(t, t.NewValues(m.data, m.offsets), c.present)
	// Check the indexes of a dictionary.
	for i := 0; isIndexes && err == nil && i < c.present; i++ {
		if n := c.values.Int32()[i]; uint32(n) >= uint32(entries) {
			err = corrupt("entry %d of a dictionary of %d", n, entries)
		}
	}
	return c, err
}

// sizeOf returns the size of a value in decoded form, 0 for strings and booleans. The library's EstimateSize is that of
// the logical type: 2 for an integer of 16 bits, which takes 4.
func sizeOf(t parquet.Type) int {
	switch t.Kind() {
	case parquet.Int32, parquet.Float:
		return 4
	case parquet.Int64, parquet.Double:
		return 8
	case parquet.Int96:
		return 12
	case parquet.FixedLenByteArray:
		return t.Length()
	}
	return 0
}

// firstValues returns the first n of some decoded values. It is an error if there are fewer.
func firstValues(t parquet.Type, values encoding.Values, n int) (encoding.Values, error) {
	data, offsets := values.Data()
	size := n * sizeOf(t)
	if t.Kind() == parquet.Boolean {
		size = (n + 7) / 8
	}
	switch isBytes := t.Kind() == parquet.ByteArray; {
	case isBytes && n == 0:
		return t.NewValues(nil, []uint32{0}), nil
	case isBytes && len(offsets) <= n:
		return values, corrupt("%d values, want %d", len(offsets)-1, n)
	case isBytes:
		return t.NewValues(data, offsets[:n+1]), nil
	case size > len(data):
		return values, corrupt("%d bytes of values, want %d", len(data), size)
	}
	return t.NewValues(data[:size], nil), nil
}

// dictionary decodes a dictionary.
func (p *packedPage) dictionary() (values encoding.Values, err error) {
	b, err := p.open()
	if err != nil {
		return values, err
	}
	t := p.leaf.Type()
	// Growing memory by doubling costs the system many new pages.
	n := int(p.header.DictionaryPageHeader.V.NumValues)
	memory := t.NewValues(make([]byte, 0, len(b.values)), make([]uint32, 0, n+1))
	if values, err = t.Decode(memory, b.values, &parquet.Plain); err != nil {
		return values, err
	}
	return firstValues(t, values, n)
}

// levelsOf decodes the levels of n values, nil if they have no bits.
func levelsOf(b []byte, bits, n int) ([]byte, error) {
	if bits == 0 {
		return nil, nil
	}
	levels, err := (&rle.Encoding{BitWidth: bits}).DecodeLevels(nil, b)
	if err == nil && len(levels) < n {
		err = corrupt("levels of %d values in a page of %d", len(levels), n)
	}
	return levels[:min(n, len(levels))], err
}

// open decompresses and checks the page.
func (p *packedPage) open() (b body, err error) {
	switch h := p.header; {
	case h.Type == format.IndexPage, h.Type > format.DataPageV2: // these pages are not needed
	case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
		b.values, err = p.openDictionary(&h.DictionaryPageHeader.V)
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		b, err = p.openData(&h.DataPageHeader.V)
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		b, err = p.openDataV2(&h.DataPageHeaderV2.V)
	default:
		err = corrupt("a page without its header")
	}
	if err == nil && isData(p.header) {
		err = p.check(b)
	}
	return b, err
}

// unpack decompresses values of size bytes and the blocks of levels before them. A text that exceeds the limit is cut
// to one byte more than the limit, so that the reader notices that it is too long.
func (p *packedPage) unpack(packed []byte, size, levels int, encoding format.Encoding, codec format.CompressionCodec) (
	_ []byte, err error) {
	f, m := p.file, p.memory
	if p.leaf.Type().Kind() == parquet.ByteArray && encoding == format.Plain && int64(size) > f.valueMax {
		m.plain, err = f.decompressor.cut(m.plain, codec, packed, size, levels, f.valueMax+1)
	} else {
		m.plain, err = f.decompressor.page(m.plain, codec, packed, size)
	}
	return m.plain, err
}

// openDictionary decompresses and checks a dictionary.
func (p *packedPage) openDictionary(d *format.DictionaryPageHeader) (values []byte, err error) {
	values, err = p.unpack(p.packed, int(p.header.UncompressedPageSize), 0, format.Plain, p.codec)
	if n := d.NumValues; err == nil && (n < 0 || int(n) > len(values)) {
		err = corrupt("a dictionary of %d entries in %d bytes", n, len(values))
	}
	return values, err
}

// openData decompresses a data page of version 1. Its levels, which begin with their length, and its values are
// compressed together.
func (p *packedPage) openData(d *format.DataPageHeader) (b body, err error) {
	blocks := min(p.repeats, 1) + min(p.levels, 1)
	plain, err := p.unpack(p.packed, int(p.header.UncompressedPageSize), blocks, d.Encoding, p.codec)
	if err != nil {
		return b, err
	}
	if b.repetitions, plain, err = cutLevels(plain, d.RepetitionLevelEncoding, p.repeats); err != nil {
		return b, err
	}
	b.definitions, b.values, err = cutLevels(plain, d.DefinitionLevelEncoding, p.levels)
	return b, err
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

// openDataV2 decompresses a data page of version 2. Only its values are compressed.
func (p *packedPage) openDataV2(d *format.DataPageHeaderV2) (b body, err error) {
	repetitions, definitions := int64(d.RepetitionLevelsByteLength), int64(d.DefinitionLevelsByteLength)
	size, codec := repetitions+definitions, p.codec
	switch {
	case repetitions < 0 || definitions < 0 || size > min(int64(len(p.packed)), int64(p.header.UncompressedPageSize)):
		return b, corrupt("levels of %d and %d bytes in a page of %d", repetitions, definitions, len(p.packed))
	case d.NumNulls < 0 || d.NumNulls > d.NumValues || d.NumRows < 0 || d.NumRows > d.NumValues ||
		p.repeats == 0 && d.NumRows != d.NumValues:
		return b, corrupt("%d nulls and %d rows among %d values", d.NumNulls, d.NumRows, d.NumValues)
	}
	if d.IsCompressed.Valid && !d.IsCompressed.V {
		codec = format.Uncompressed
	}
	b.repetitions, b.definitions = p.packed[:repetitions], p.packed[repetitions:size]
	packed, remaining := p.packed[size:], int(int64(p.header.UncompressedPageSize)-size)
	if remaining > 0 || len(packed) > 0 {
		b.values, err = p.unpack(packed, remaining, 0, d.Encoding, codec)
	}
	return b, err
}

// check checks the levels and values of a data page.
func (p *packedPage) check(b body) error {
	n := valuesOf(p.header)
	if n < 0 || n > valuesMax {
		return corrupt("%d values, the limit of a page is %d", n, valuesMax)
	}
	if err := errors.Join(checkRuns(b.repetitions, p.repeats, n), checkRuns(b.definitions, p.levels, n)); err != nil {
		return err
	}
	return checkValues(b.values, encodingOf(p.header), n, p.file.pageMax)
}
