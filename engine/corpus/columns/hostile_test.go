package columns_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"example.org/ndd/engine/corpus/columns"
	"example.org/ndd/engine/oracle/hostile"
	"example.org/ndd/engine/oracle/must"
)

// A hostileFile is a file with one column "text" and any pages.
type hostileFile struct {
	rows   int64
	codec  format.CompressionCodec
	pages  []page
	footer func(*format.FileMetaData) // changes it; may be nil
}

// rows returns a file of n rows.
func rows(n int64, pages ...page) hostileFile { return hostileFile{rows: n, pages: pages} }

type page struct {
	header format.PageHeader
	body   []byte
}

// dataPage returns a data page of version 1. All rows have the level 1.
func dataPage(rows int32, encoding format.Encoding, values []byte) page {
	levels := binary.AppendUvarint(nil, uint64(rows)<<1)
	levels = append(levels, 1)
	body := append(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels...)
	body = append(body, values...)
	return page{format.PageHeader{Type: format.DataPage, UncompressedPageSize: int32(len(body)),
		DataPageHeader: thrift.New(format.DataPageHeader{NumValues: rows, Encoding: encoding,
			DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE})}, body}
}

// dictionaryPage returns a dictionary page with one value, which claims the given number of entries.
func dictionaryPage(entries int32) page {
	body := []byte("\x05\x00\x00\x00hello")
	return page{format.PageHeader{Type: format.DictionaryPage, UncompressedPageSize: int32(len(body)),
		DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: entries, Encoding: format.Plain})},
		body}
}

// apply changes the page.
func (p page) apply(change func(*format.PageHeader)) page { change(&p.header); return p }

// packed compresses a page that claims to have size bytes uncompressed.
func (p page) packed(body []byte, size int32) page {
	p.body, p.header.UncompressedPageSize = body, size
	return p
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	b, err := thrift.Marshal(new(thrift.CompactProtocol), v)
	must.Do(t, err)
	return b
}

func (h *hostileFile) bytes(t *testing.T) []byte {
	t.Helper()
	file := []byte("PAR1")
	for _, p := range h.pages {
		p.header.CompressedPageSize += int32(len(p.body))
		file = append(append(file, encode(t, &p.header)...), p.body...)
	}
	m := &format.FileMetaData{Version: 1, NumRows: h.rows,
		Schema: []format.SchemaElement{{Name: "schema", NumChildren: thrift.New[int32](1)},
			{Name: "text", Type: thrift.New(format.ByteArray), RepetitionType: thrift.New(format.Optional)}},
		RowGroups: []format.RowGroup{{NumRows: h.rows,
			Columns: []format.ColumnChunk{{MetaData: format.ColumnMetaData{Type: format.ByteArray, Codec: h.codec,
				PathInSchema: []string{"text"}, Encoding: []format.Encoding{format.Plain}, NumValues: h.rows,
				DataPageOffset: 4, TotalCompressedSize: int64(len(file) - 4)}}}}}}
	if h.footer != nil {
		h.footer(m)
	}
	return seal(file, encode(t, m))
}

// seal appends a footer to pages.
func seal(file, footer []byte) []byte {
	file = append(file, footer...)
	file = binary.LittleEndian.AppendUint32(file, uint32(len(footer)))
	return append(file, "PAR1"...)
}

// readAll reads the first column, and returns the number of its values.
func readAll(data []byte) (values int, err error) {
	f, err := columns.Open(bytes.NewReader(data), int64(len(data)), columns.Limits{PageBytes: 1 << 20})
	if err == nil {
		err = eachValue(f, 0, func(parquet.Value) { values++ })
		f.Close()
	}
	return values, err
}

// listPage returns a page of a list with the given number of empty values. The runs of the levels say which values
// begin a row.
func listPage(values int32, runs ...uint64) page {
	var levels []byte
	for i := 0; i < len(runs); i += 2 { // a level and its number of repetitions
		levels = append(binary.AppendUvarint(levels, runs[i+1]<<1), byte(runs[i]))
	}
	body := append(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels...)
	definitions := append(binary.AppendUvarint(nil, uint64(values)<<1), 0)
	body = append(binary.LittleEndian.AppendUint32(body, uint32(len(definitions))), definitions...)
	return page{format.PageHeader{Type: format.DataPage, UncompressedPageSize: int32(len(body)),
		DataPageHeader: thrift.New(format.DataPageHeader{NumValues: values, Encoding: format.Plain,
			DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE})}, body}
}

// TestHostile checks that small files that claim to be large, or to have lists that memory could not hold, are refused
// with a message. This holds for reading by value and by row, and before the claimed memory is allocated.
func TestHostile(t *testing.T) {
	zeros := make([]byte, 64<<20)
	zipped := func() []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(zeros)
		w.Close()
		return b.Bytes()
	}()
	e, err := zstd.NewWriter(nil)
	must.Do(t, err)
	defer e.Close()
	squeezed := e.EncodeAll(zeros, nil)
	lengths := make([]int32, 30000) // bytes that each value shares with the one before: the maximum
	for i := range lengths {
		lengths[i] = int32(i)
	}
	prefixes, _ := new(delta.BinaryPackedEncoding).EncodeInt32(nil, lengths)
	plain := []byte("\x05\x00\x00\x00hello")
	good := dataPage(1, format.Plain, plain)
	packed := func(codec format.CompressionCodec, body []byte, size int32) hostileFile {
		return hostileFile{rows: 1, codec: codec, pages: []page{dataPage(1, format.Plain, nil).packed(body, size)}}
	}
	column := func(change func(*format.ColumnMetaData)) hostileFile {
		f := rows(1, good)
		f.footer = func(m *format.FileMetaData) { change(&m.RowGroups[0].Columns[0].MetaData) }
		return f
	}
	schema := func(change func([]format.SchemaElement) []format.SchemaElement) hostileFile {
		return hostileFile{footer: func(m *format.FileMetaData) { m.Schema = change(m.Schema) }}
	}
	list := func(n, values int64, pages ...page) hostileFile {
		f := rows(n, pages...)
		f.footer = func(m *format.FileMetaData) {
			m.Schema[1].RepetitionType = thrift.New(format.Repeated)
			m.RowGroups[0].Columns[0].MetaData.NumValues = values
		}
		return f
	}
	for name, c := range map[string]struct {
		file hostileFile
		want string
	}{
		"sound": {rows(1, good), ""},
		"a long header": {rows(1, good.apply(func(h *format.PageHeader) {
			h.DataPageHeader.V.Statistics.MinValue = make([]byte, 100_000)
		})), ""},
		"rows":                 {rows(1<<40, good), "row group 1 claims 1099511627776 rows"},
		"values of the column": {column(func(m *format.ColumnMetaData) { m.NumValues = 2 }), "2 values in 1 rows"},
		"values of a page":     {rows(9, dataPage(math.MaxInt32, format.Plain, plain)), "page 1: 2147483647 values"},
		"missing values":       {rows(100, good), `row group 1, column "text": 99 values are missing`},
		"negative size":        {rows(1, good.apply(func(h *format.PageHeader) { h.CompressedPageSize = -100 })), "page 1: -"},
		"size of a page": {rows(1, good.packed(plain, math.MaxInt32)),
			"page 1: 2147483647 bytes, the limit is 1048576"},
		"page behind the end": {rows(1, good.apply(func(h *format.PageHeader) { h.CompressedPageSize = 1 << 20 })),
			"which end after the column"},
		"column behind the end": {column(func(m *format.ColumnMetaData) { m.TotalCompressedSize = math.MaxInt64 }),
			"bytes from byte 4 on in a file of"},
		"column before the file": {column(func(m *format.ColumnMetaData) { m.DataPageOffset = -4 }),
			"bytes from byte -4 on"},
		"snappy":                 {packed(format.Snappy, binary.AppendUvarint(nil, 1<<31), 1<<20), "5 bytes that become"},
		"snappy of another size": {packed(format.Snappy, snappy.Encode(nil, plain), 5), "that become 9"},
		"zstd bomb":              {packed(format.Zstd, squeezed, 1000), "page 1: "},
		"gzip bomb":              {packed(format.Gzip, zipped, 1000), "1001 bytes are decompressed where it claims 1000"},
		"lz4":                    {packed(format.Lz4Raw, plain, 1<<20), "page 1: lz4"},
		"unknown compression":    {packed(format.LZO, plain, 9), "LZO, which is not read"},
		"dictionary":             {rows(1, dictionaryPage(math.MaxInt32)), "a dictionary of 2147483647 entries in 9 bytes"},
		"index": {rows(1, dictionaryPage(1), dataPage(1, format.RLEDictionary, []byte{8, 2, 200})),
			`row group 1, column "text"`},
		"indexes": {rows(1, dictionaryPage(1),
			dataPage(1, format.RLEDictionary, append([]byte{8}, binary.AppendUvarint(nil, 1<<32)...))),
			"page 2: a run of 2147483648 values in a page of 1"},
		"indexes of many bits": {rows(1, dictionaryPage(1), dataPage(1, format.RLEDictionary, []byte{200, 2, 0})),
			"values of 200 bits"},
		"no dictionary": {rows(1, dataPage(1, format.RLEDictionary, []byte{8, 2, 0})), "of a dictionary without one"},
		"levels":        {packed(format.Uncompressed, []byte("\x05\x00\x00\x00\xfe\xff\xff\xff\x0f\x00"), 10), "a run of"},
		"levels behind the end": {packed(format.Uncompressed, []byte("\xff\xff\xff\xff"), 4),
			"levels of 4294967295 bytes"},
		"differences": {rows(1, dataPage(1, format.DeltaLengthByteArray,
			[]byte("\x80\x01\x04\xff\xff\xff\xff\x07\x00"))), "differences of 2147483647 values"},
		"prefixes": {rows(30000, dataPage(30000, format.DeltaByteArray, prefixes)), "values repeat"},
		"length of a text": {rows(1, dataPage(1, format.Plain, []byte("\xff\xff\xff\x7fhello"))),
			`row group 1, column "text"`},
		"schema": {schema(func([]format.SchemaElement) []format.SchemaElement { return deep(5000) }), "children, 64 deep"},
		"children": {schema(func(s []format.SchemaElement) []format.SchemaElement {
			s[0].NumChildren.V = math.MaxInt32
			return s
		}), "claims 2147483647 children"},
		"a column and a group of one name": {hostileFile{footer: func(m *format.FileMetaData) {
			m.Schema[0].NumChildren.V = 2
			m.Schema = append(m.Schema, format.SchemaElement{Name: "text", NumChildren: thrift.New[int32](1)},
				format.SchemaElement{Name: "b", Type: thrift.New(format.ByteArray)})
			m.RowGroups = nil
		}}, "have one name"},
		"second root": {schema(func(s []format.SchemaElement) []format.SchemaElement { return append(s, s[1]) }),
			"outside the schema's root"},
		"a page without its header": {rows(1, good.apply(func(h *format.PageHeader) { h.Type = format.DataPageV2 })),
			"without its header"},
		"sound list":      {list(2, 5, listPage(5, 0, 1, 1, 2, 0, 1, 1, 1)), ""},
		"values of a row": {list(1, 5<<20, listPage(5<<20, 0, 1, 1, 5<<20-1)), "row 1 has more than 4194304 values"},
		"a row over pages": {list(1, 6<<20, listPage(3<<20, 0, 1, 1, 3<<20-1), listPage(3<<20, 1, 3<<20)),
			"row 1 has more than 4194304 values"},
		"rows of a list":   {list(3, 5, listPage(5, 0, 1, 1, 2, 0, 1, 1, 1)), "values of 2 rows in a row group of 3"},
		"within a row":     {list(1, 3, listPage(3, 1, 2, 0, 1)), "begins within a row"},
		"levels of a list": {list(1, 3, listPage(3, 0, 1)), "levels of 1 values in a page of 3"},
		"values of a list": {list(1, 1<<40, listPage(1, 0, 1)), "1099511627776 values in 1 rows"},
		"fewer values":     {list(2, 1, listPage(1, 0, 1)), "1 values in 2 rows"},
		"a run":            {list(1, 1, listPage(1, 0, 1<<40)), "a run of 1099511627776 values in a page of 1"},
	} {
		t.Run(name, func(t *testing.T) {
			data := c.file.bytes(t)
			hostile.Allocates(t, 32<<20, func() {
				_, err := readAll(data)
				if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
			})
			// A row may have 4 Mi values of 24 bytes. A slice that doubles copies some of them.
			hostile.Allocates(t, 512<<20, func() {
				f, err := columns.Open(bytes.NewReader(data), int64(len(data)), columns.Limits{PageBytes: 1 << 20})
				if err == nil {
					err = dropFirst(f, 0)
					f.Close()
				}
				if (err == nil) != (c.want == "") {
					t.Errorf("rows: %v, want %q", err, c.want)
				}
			})
		})
	}
}

// deep is a schema of groups within one another.
func deep(n int) (s []format.SchemaElement) {
	for range n {
		s = append(s, format.SchemaElement{Name: "g", NumChildren: thrift.New[int32](1)})
	}
	return append(s, format.SchemaElement{Name: "text", Type: thrift.New(format.ByteArray)})
}

// TestHostileFooter checks that a footer's own structure is walked before anything is made of it.
func TestHostileFooter(t *testing.T) {
	for name, c := range map[string]struct{ footer, want string }{
		"2^31 structures": {"\x15\x02\x29\xfc\xff\xff\xff\xff\x07", "a list of 2147483647 values in 0 bytes"},
		"string of 2^31":  {"\x15\x02\x19\x1c\x48\xff\xff\xff\xff\x07", "does not end"},
		"structures":      {"\x15\x02" + strings.Repeat("\x1c", 100_000), "nested more than"},
		"lists":           {strings.Repeat("\x19", 8<<20), "a list of lists"},
		"map":             {"\x1b\x00", "a map"},
		"nested lists":    {strings.Repeat("\x19\x1c", 4<<20), "nested more than"},
		"empty":           {"\x15\x02\x19\xfc\x80\x80\x80\x01" + strings.Repeat("\x00", 2<<20) + "\x00", "structures in 2"},
		"none":            {"", "does not end"},
	} {
		t.Run(name, func(t *testing.T) {
			data := seal([]byte("PAR1"), []byte(c.footer))
			hostile.Allocates(t, 16<<20, func() {
				_, err := readAll(data)
				if !errors.Is(err, columns.ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
			})
		})
	}
}

// TestManyNulls checks that a file with many values in very few bytes is read if its claims are true.
func TestManyNulls(t *testing.T) {
	const n = 1 << 20
	levels := append(binary.AppendUvarint(nil, n<<1), 0)
	body := append(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels...)
	h := hostileFile{rows: n, pages: []page{dataPage(n, format.Plain, nil).packed(body, int32(len(body)))}}
	if values, err := readAll(h.bytes(t)); err != nil || values != n {
		t.Errorf("%d values, %v", values, err)
	}
}

// TestValueLimit checks that a text above the limit of a value is cut one byte after the limit, in pages of every kind,
// before the library copies it. Pages that unpack to much more than their size are read.
func TestValueLimit(t *testing.T) {
	type short struct {
		Text string `parquet:"text,optional,plain"`
	}
	type entry struct {
		Text string `parquet:"text,dict"`
	}
	const limit = 1000
	for version := 1; version <= 2; version++ {
		for codec := range codecs {
			var plain []short
			var entries []entry
			for _, n := range []int{0, limit, limit + 1, 200_000, 5} {
				text := strings.Repeat("x", n)
				plain, entries = append(plain, short{text}), append(entries, entry{text})
			}
			plain = append(plain, slices.Repeat([]short{{strings.Repeat("y", limit)}}, 700)...)
			o := []parquet.WriterOption{parquet.DataPageVersion(version), parquet.Compression(codecs[codec]),
				parquet.PageBufferSize(1 << 20), parquet.MaxRowsPerRowGroup(1000)}
			for name, data := range map[string][]byte{"plain": write(t, plain, o...), "dictionary": write(t, entries, o...)} {
				f, err := columns.Open(bytes.NewReader(data), int64(len(data)),
					columns.Limits{PageBytes: 1 << 20, ValueBytes: limit})
				must.Do(t, err)
				var got []int
				err = eachValue(f, 0, func(v parquet.Value) { got = append(got, len(v.ByteArray())) })
				want := []int{0, limit, limit + 1, limit + 1, 5}
				if name == "plain" {
					want = append(want, slices.Repeat([]int{limit}, 700)...)
				}
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%s, version %d, %s: %v, want %v: %v", codec, version, name, got, want, err)
				}
				f.Close()
			}
		}
	}
}

// wide is a file that ends as data does, and has zeros before that. It notes the longest read.
type wide struct {
	start, end []byte
	size       int64
	longest    int
}

func (w *wide) ReadAt(p []byte, position int64) (int, error) {
	w.longest = max(w.longest, len(p))
	clear(p)
	if position < int64(len(w.start)) {
		copy(p, w.start[position:])
	}
	if from := w.size - int64(len(w.end)); position+int64(len(p)) > from {
		copy(p[max(from-position, 0):], w.end[max(position-from, 0):])
	}
	return len(p), nil
}

// TestCompressedPage checks that a page is refused if it is longer compressed than any page can be, however large the
// file is.
func TestCompressedPage(t *testing.T) {
	const size = 1 << 31
	p := dataPage(1, format.Plain, []byte("\x05\x00\x00\x00hello"))
	p.header.CompressedPageSize = 64 << 20
	start := append([]byte("PAR1"), encode(t, &p.header)...)
	h := hostileFile{rows: 1,
		footer: func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = size - 1<<20 }}
	w := &wide{start: start, end: h.bytes(t), size: size}
	f, err := columns.Open(w, size, columns.Limits{PageBytes: 1 << 20})
	must.Do(t, err)
	defer f.Close()
	if _, err := valuesOf(f, 0); err == nil || !strings.Contains(err.Error(), "page 1: 67108864 bytes compressed") {
		t.Error(err)
	}
	if w.longest > 4<<20 {
		t.Errorf("%d bytes were read at a time", w.longest)
	}
}

// FuzzPages checks that for any content of a file, a copy of its columns without one row ends, perhaps with an error.
func FuzzPages(f *testing.F) {
	f.Add(write(f, nestedRows(20), parquet.DataPageVersion(1)))
	f.Add(write(f, flatRows(20), parquet.DataPageVersion(2)))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := columns.Open(bytes.NewReader(data), int64(len(data)), columns.Limits{PageBytes: 1 << 20})
		if err != nil {
			return
		}
		defer file.Close()
		for i := range file.Schema().Columns() {
			if file.Groups() > 0 && i < len(file.Metadata().RowGroups[0].Columns) {
				dropFirst(file, i)
			}
		}
	})
}
