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

// A remainder is the part of a page that remains after dropped rows are removed.
type remainder struct {
	repetitions, definitions []byte // a level of each value; nil: the column has none
	count, rows              int    // values, including nulls; rows that begin in the page
	values                   encoding.Values
}

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
	r, err := p.open(f)
	if p.Values = valuesOf(p.Header) - r.count; err != nil || r.count == 0 {
		p.Head, p.Body = nil, nil
		return err
	}
	// Encode its values and levels with the same encodings.
	t, e := p.valueType()
	if p.entries != nil && isDictionary(encodingOf(p.Header)) {
		indexes := r.values.Int32()
		for i, n := range indexes {
			indexes[i] = p.entries[n]
		}
	}
	if f.values, err = t.Encode(slices.Grow(f.values[:0], len(f.plain)), r.values, e); err != nil {
		return err
	}
	repetitions, err := encodeLevels(r.repetitions, p.stream.repeats)
	if err != nil {
		return err
	}
	definitions, err := encodeLevels(r.definitions, p.stream.levels)
	if err != nil {
		return err
	}
	// Write the header with the new numbers.
	h := *p.Header
	if h.Type == format.DataPage {
		h.DataPageHeader.V.NumValues, h.DataPageHeader.V.Statistics = int32(r.count), format.Statistics{}
		f.plain = append(appendLevels(appendLevels(f.plain[:0], repetitions), definitions), f.values...)
		return p.encode(f, &h, nil, f.plain, true)
	}
	d := &h.DataPageHeaderV2.V
	d.NumValues, d.NumRows, d.NumNulls = int32(r.count), int32(r.rows), d.NumNulls-int32(p.Nulls)
	d.RepetitionLevelsByteLength, d.DefinitionLevelsByteLength = int32(len(repetitions)), int32(len(definitions))
	d.Statistics = format.Statistics{}
	return p.encode(f, &h, append(repetitions, definitions...), f.values, !d.IsCompressed.Valid || d.IsCompressed.V)
}

// editDictionary drops the entries that no row has.
func (p *Page) editDictionary(f *File) error {
	h := *p.Header
	b, err := p.stream.page(f, p.Body).open(&h)
	if err != nil {
		return err
	}
	t := p.chunk.Type()
	values, err := t.Decode(t.NewValues(nil, nil), b.values, &parquet.Plain)
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
	if values, err = keepValues(t, values, stays); err != nil {
		return err
	}
	if f.values, err = t.Encode(f.values[:0], values, &parquet.Plain); err != nil {
		return err
	}
	h.DictionaryPageHeader.V.NumValues = n
	return p.encode(f, &h, nil, f.values, true)
}

// hasDropped reports whether a row of the page is dropped.
func (p *Page) hasDropped() bool {
	i, _ := slices.BinarySearch(p.drop, max(p.row-1, 0)) // the last row before the page may continue in it
	return i < len(p.drop) && p.drop[i] < p.row+int64(valuesOf(p.Header))
}

// valueType returns the type and the encoding of the page's values. A page with a dictionary has indexes.
func (p *Page) valueType() (parquet.Type, encoding.Encoding) {
	if e := encodingOf(p.Header); !isDictionary(e) {
		return p.chunk.Type(), parquet.LookupEncoding(e)
	}
	return parquet.Int32Type, &parquet.RLEDictionary
}

// open returns what remains of the page, and counts the nulls that do not.
func (p *Page) open(f *File) (r remainder, err error) {
	// Decompress the page, and decode its levels.
	h := *p.Header
	s := p.stream.page(f, p.Body)
	b, err := s.open(&h)
	if f.plain = s.plain; err != nil {
		return r, err
	}
	n := valuesOf(&h)
	if r.repetitions, err = levelsOf(b.repetitions, p.stream.repeats, n); err != nil {
		return r, err
	}
	if r.definitions, err = levelsOf(b.definitions, p.stream.levels, n); err != nil {
		return r, err
	}
	// Decode its values, in memory that this goroutine reuses.
	t, e := p.valueType()
	to := t.NewValues(nil, nil)
	if t.Kind() == parquet.ByteArray {
		to = t.NewValues(slices.Grow(f.data[:0], len(b.values)), f.offsets[:0])
	}
	values, err := t.Decode(to, b.values, e)
	if err != nil {
		return r, err
	}
	if t.Kind() == parquet.ByteArray {
		f.data, f.offsets = values.Data()
	}
	// Check the indexes of a dictionary.
	if isDictionary(encodingOf(p.Header)) {
		for _, i := range values.Int32() {
			if uint32(i) >= uint32(p.size) {
				return r, corrupt("entry %d of a dictionary of %d", i, p.size)
			}
		}
	}
	r.values, err = keepValues(t, values, p.keep(&r, n))
	return r, err
}

// keep drops the levels of dropped rows. It returns of each value of the page that is not null whether it stays.
func (p *Page) keep(r *remainder, n int) (stays []bool) {
	full := byte(p.stream.file.leaf(p.chunk.number).MaxDefinitionLevel)
	row, drop := p.row-1, p.drop
	for i := range n {
		// A value without a repetition begins a row.
		begins := r.repetitions == nil || r.repetitions[i] == 0
		if begins {
			row++
		}
		for len(drop) > 0 && drop[0] < row {
			drop = drop[1:]
		}
		// Count its value, or its null.
		stay, isNull := len(drop) == 0 || drop[0] != row, r.definitions != nil && r.definitions[i] != full
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
			r.rows++
		}
		if r.repetitions != nil {
			r.repetitions[r.count] = r.repetitions[i]
		}
		if r.definitions != nil {
			r.definitions[r.count] = r.definitions[i]
		}
		r.count++
	}
	if r.repetitions != nil {
		r.repetitions = r.repetitions[:r.count]
	}
	if r.definitions != nil {
		r.definitions = r.definitions[:r.count]
	}
	return stays
}

// keepValues returns the values that stay.
func keepValues(t parquet.Type, v encoding.Values, stays []bool) (encoding.Values, error) {
	data, offsets := v.Data()
	size := map[parquet.Kind]int{parquet.Int32: 4, parquet.Float: 4, parquet.Int64: 8, parquet.Double: 8, parquet.Int96: 12,
		parquet.FixedLenByteArray: t.Length()}[t.Kind()]
	// Strings and booleans have their own layouts.
	switch {
	case t.Kind() == parquet.ByteArray:
		if len(stays) > 0 && len(offsets) <= len(stays) {
			return v, corrupt("%d values, want %d", len(offsets)-1, len(stays))
		}
		to, n := 0, 0
		for i, stay := range stays {
			from, end := offsets[i], offsets[i+1]
			if offsets[n] = uint32(to); stay {
				to += copy(data[to:], data[from:end])
				n++
			}
		}
		if len(stays) > 0 {
			offsets[n], offsets = uint32(to), offsets[:n+1]
		}
		return t.NewValues(data[:to], offsets), nil
	case t.Kind() == parquet.Boolean:
		if len(stays) > 8*len(data) {
			return v, corrupt("%d values, want %d", 8*len(data), len(stays))
		}
		to, bits := 0, make([]byte, (len(stays)+7)/8)
		for i, stay := range stays {
			if stay {
				bits[to/8] |= data[i/8] >> (i % 8) & 1 << (to % 8)
				to++
			}
		}
		return t.NewValues(bits[:(to+7)/8], nil), nil
	case len(stays)*size > len(data):
		return v, corrupt("%d bytes of values, want %d", len(data), len(stays)*size)
	}
	// All other values have a fixed size.
	to := 0
	for i, stay := range stays {
		if stay {
			to += copy(data[to:], data[i*size:(i+1)*size])
		}
	}
	return t.NewValues(data[:to], nil), nil
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
	switch codec := p.stream.codec; {
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
