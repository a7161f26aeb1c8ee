package columns

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"

	"github.com/klauspost/compress/s2"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Edit drops the rows from the page. The file is a clone for this goroutine.
func (p *Page) Edit(f *File) (err error) {
	defer recovered(p.chunk.place(), &err)
	// Leave a page as it is if no row of it is dropped.
	switch {
	case p.Header.Type == format.DictionaryPage && p.entries != nil:
		return p.editDictionary(f)
	case !isData(p.Header) || !p.hasDropped() && (p.entries == nil || !isDictionary(encodingOf(p.Header))):
		return nil
	}
	// Decode the page without the dropped rows.
	c, err := p.packed(f).decode(p.size)
	if err != nil {
		return err
	}
	t, e := p.chunk.typeOf(p.Header)
	rows, stays := p.keep(&c)
	if p.Values = valuesOf(p.Header) - c.count; c.count == 0 {
		p.Head, p.Body = nil, nil
		return nil
	}
	values := keepValues(t, c.values, stays)
	// Encode its values and levels with the same encodings.
	if p.entries != nil && isDictionary(encodingOf(p.Header)) {
		indexes := values.Int32()
		for i, n := range indexes {
			indexes[i] = p.entries[n]
		}
	}
	if f.values, err = t.Encode(slices.Grow(f.values[:0], len(f.memory.plain)), values, e); err != nil {
		return err
	}
	repetitions, err := encodeLevels(c.repetitions, p.chunk.repeats)
	if err != nil {
		return err
	}
	definitions, err := encodeLevels(c.definitions, p.chunk.levels)
	if err != nil {
		return err
	}
	// Write the header with the new numbers.
	h := *p.Header
	if h.Type == format.DataPage {
		h.DataPageHeader.V.NumValues, h.DataPageHeader.V.Statistics = int32(c.count), format.Statistics{}
		plain := append(appendLevels(appendLevels(f.memory.plain[:0], repetitions), definitions), f.values...)
		f.memory.plain = plain
		return p.encode(f, &h, nil, plain, true)
	}
	d := &h.DataPageHeaderV2.V
	d.NumValues, d.NumRows, d.NumNulls = int32(c.count), int32(rows), d.NumNulls-int32(p.Nulls)
	d.RepetitionLevelsByteLength, d.DefinitionLevelsByteLength = int32(len(repetitions)), int32(len(definitions))
	d.Statistics = format.Statistics{}
	return p.encode(f, &h, append(repetitions, definitions...), f.values, !d.IsCompressed.Valid || d.IsCompressed.V)
}

// editDictionary drops the entries that no row has.
func (p *Page) editDictionary(f *File) error {
	values, err := p.packed(f).dictionary()
	if err != nil {
		return err
	}
	stays := make([]bool, len(p.entries))
	n := int32(0)
	for i, number := range p.entries {
		if stays[i] = number >= 0; stays[i] {
			n++
		}
	}
	t := p.chunk.leaf.Type()
	if f.values, err = t.Encode(f.values[:0], keepValues(t, values, stays), &parquet.Plain); err != nil {
		return err
	}
	h := *p.Header
	h.DictionaryPageHeader.V.NumValues = n
	return p.encode(f, &h, nil, f.values, true)
}

// hasDropped reports whether a row of the page is dropped.
func (p *Page) hasDropped() bool {
	i, _ := slices.BinarySearch(p.drop, max(p.row-1, 0)) // the last row before the page may continue in it
	return i < len(p.drop) && p.drop[i] < p.row+int64(valuesOf(p.Header))
}

// packed returns the page for a goroutine with its own clone of the file.
func (p *Page) packed(f *File) *packedPage {
	return &packedPage{f.chunk(p.chunk.group, p.chunk.number), p.Header, p.Body, &f.memory}
}

// keep drops the levels of dropped rows. It returns the number of the rows that begin in the page and stay, and of each
// value that is not null whether it stays.
func (p *Page) keep(c *pageContent) (rows int, stays []bool) {
	full := byte(p.chunk.leaf.MaxDefinitionLevel())
	row, drop, count := p.row-1, p.drop, 0
	for i := range c.count {
		// A value without a repetition begins a row.
		begins := c.repetitions == nil || c.repetitions[i] == 0
		if begins {
			row++
		}
		for len(drop) > 0 && drop[0] < row {
			drop = drop[1:]
		}
		// Count its value, or its null.
		stay, isNull := len(drop) == 0 || drop[0] != row, c.definitions != nil && c.definitions[i] != full
		switch {
		case !isNull:
			stays = append(stays, stay)
		case !stay:
			p.Nulls++
		}
		if !stay {
			continue
		}
		// Move the levels of a value that stays.
		if begins {
			rows++
		}
		if c.repetitions != nil {
			c.repetitions[count] = c.repetitions[i]
		}
		if c.definitions != nil {
			c.definitions[count] = c.definitions[i]
		}
		count++
	}
	if c.repetitions != nil {
		c.repetitions = c.repetitions[:count]
	}
	if c.definitions != nil {
		c.definitions = c.definitions[:count]
	}
	c.count = count
	return rows, stays
}

// keepValues returns the values that stay.
func keepValues(t parquet.Type, v encoding.Values, stays []bool) encoding.Values {
	data, offsets := v.Data()
	size, to, n := sizeOf(t), 0, 0
	// Strings and booleans have their own layouts. All other values have a fixed size.
	switch t.Kind() {
	case parquet.ByteArray:
		for i, stay := range stays {
			from, end := offsets[i], offsets[i+1]
			if offsets[n] = uint32(to); stay {
				to += copy(data[to:], data[from:end])
				n++
			}
		}
		offsets[n] = uint32(to)
		return t.NewValues(data[:to], offsets[:n+1])
	case parquet.Boolean:
		bits := make([]byte, (len(stays)+7)/8)
		for i, stay := range stays {
			if stay {
				bits[to/8] |= data[i/8] >> (i % 8) & 1 << (to % 8)
				to++
			}
		}
		return t.NewValues(bits[:(to+7)/8], nil)
	}
	for i, stay := range stays {
		if stay {
			to += copy(data[to:], data[i*size:(i+1)*size])
		}
	}
	return t.NewValues(data[:to], nil)
}

// encodeLevels encodes levels, nil if they have no bits.
func encodeLevels(levels []byte, bits int) ([]byte, error) {
	if bits == 0 {
		return nil, nil
	}
	return (&rle.Encoding{BitWidth: bits}).EncodeLevels(nil, levels)
}

// appendLevels appends levels in the form of data page version 1: first their length. It appends nothing if there are
// none.
func appendLevels(to, levels []byte) []byte {
	if levels == nil {
		return to
	}
	return append(binary.LittleEndian.AppendUint32(to, uint32(len(levels))), levels...)
}

// encode sets the bytes of the page: its header, and levels before values that are compressed as they were. The new
// body is in the memory of the old one, which is large enough for most.
func (p *Page) encode(f *File, h *format.PageHeader, levels, values []byte, compressed bool) (err error) {
	packed := values
	switch codec := p.chunk.codec; {
	case len(values) == 0 || codec == format.Uncompressed || !compressed:
	case codec == format.Snappy:
		f.packed = s2.EncodeSnappy(f.packed, values) // the library's codec is slower than what most writers have
		packed = f.packed
	default:
		f.packed, err = parquet.LookupCompressionCodec(codec).Encode(f.packed[:0], values)
		packed = f.packed
	}
	if err != nil {
		return err
	}
	p.Body = append(append(p.Body[:0], levels...), packed...)
	h.UncompressedPageSize, h.CompressedPageSize = int32(len(levels)+len(values)), int32(len(p.Body))
	if h.CRC != 0 {
		h.CRC = int32(crc32.ChecksumIEEE(p.Body))
	}
	var head bytes.Buffer
	if err := thrift.NewEncoder(new(thrift.CompactProtocol).NewWriter(&head)).Encode(h); err != nil {
		return err
	}
	p.Header, p.Head = h, head.Bytes()
	return nil
}
