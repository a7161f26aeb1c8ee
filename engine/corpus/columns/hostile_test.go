package columns_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"ndd/engine/corpus/columns"
	"ndd/engine/oracle/must"
)

// A hostile file has one column "text", whose pages are as a test wants them.
type hostile struct {
	rows   int64
	codec  format.CompressionCodec
	pages  []page
	footer func(*format.FileMetaData) // changes it; may be nil
}

type page struct {
	header format.PageHeader
	body   []byte
}

// dataPage is a page of the first version, all of whose rows have a level of 1.
func dataPage(rows int32, encoding format.Encoding, values []byte) page {
	levels := binary.AppendUvarint(nil, uint64(rows)<<1)
	levels = append(levels, 1)
	body := append(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels...)
	body = append(body, values...)
	return page{format.PageHeader{Type: format.DataPage, UncompressedPageSize: int32(len(body)),
		DataPageHeader: thrift.New(format.DataPageHeader{NumValues: rows, Encoding: encoding,
			DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE})}, body}
}

// dictionaryPage is one with a single entry.
func dictionaryPage(entries int32) page {
	body := []byte("\x05\x00\x00\x00hello")
	return page{format.PageHeader{Type: format.DictionaryPage, UncompressedPageSize: int32(len(body)),
		DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: entries, Encoding: format.Plain})},
		body}
}

// with changes the page.
func (p page) with(change func(*format.PageHeader)) page { change(&p.header); return p }

// packed compresses a page, which claims to be so many bytes before.
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

func (h *hostile) bytes(t *testing.T) []byte {
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

// seal puts a footer behind pages.
func seal(file, footer []byte) []byte {
	file = append(file, footer...)
	file = binary.LittleEndian.AppendUint32(file, uint32(len(footer)))
	return append(file, "PAR1"...)
}

// readAll reads the first column, and returns the number of its values and how many bytes were
// allocated meanwhile.
func readAll(data []byte) (values int, allocated uint64, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := columns.Open(bytes.NewReader(data), int64(len(data)), 1<<20)
	if err == nil {
		err = eachValue(f, 0, func(parquet.Value) { values++ })
		f.Close()
	}
	runtime.ReadMemStats(&after)
	return values, after.TotalAlloc - before.TotalAlloc, err
}

// listPage is a page of a list: so many values of no content, of which those of the levels' runs
// begin a row.
func listPage(values int32, runs ...uint64) page {
	var levels []byte
	for i := 0; i < len(runs); i += 2 { // a level, how often it stands
		levels = append(binary.AppendUvarint(levels, runs[i+1]<<1), byte(runs[i]))
	}
	body := append(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels...)
	definitions := append(binary.AppendUvarint(nil, uint64(values)<<1), 0)
	body = append(binary.LittleEndian.AppendUint32(body, uint32(len(definitions))), definitions...)
	return page{format.PageHeader{Type: format.DataPage, UncompressedPageSize: int32(len(body)),
		DataPageHeader: thrift.New(format.DataPageHeader{NumValues: values, Encoding: format.Plain,
			DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE})}, body}
}

// TestHostile: small files that claim to be large, or lists that memory could not hold, are refused
// in words, by value and by row, before memory is taken for what they claim.
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
	prefixes, _ := new(delta.BinaryPackedEncoding).EncodeInt32(nil, make30k(1))
	plain := []byte("\x05\x00\x00\x00hello")
	list := func(values int64) func(*format.FileMetaData) {
		return func(m *format.FileMetaData) {
			m.Schema[1].RepetitionType = thrift.New(format.Repeated)
			m.RowGroups[0].Columns[0].MetaData.NumValues = values
		}
	}
	for name, c := range map[string]struct {
		file hostile
		want string
	}{
		"sound": {hostile{rows: 1, pages: []page{dataPage(1, format.Plain, plain)}}, ""},
		"rows": {hostile{rows: 1 << 40, pages: []page{dataPage(1, format.Plain, plain)}},
			"row group 1 claims 1099511627776 rows"},
		"values of the column": {hostile{rows: 1, pages: []page{dataPage(1, format.Plain, plain)},
			footer: func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.NumValues = 2 }},
			"2 values in 1 rows"},
		"values of a page": {hostile{rows: 9, pages: []page{dataPage(math.MaxInt32, format.Plain, plain)}},
			"page 1: 2147483647 values"},
		"missing values": {hostile{rows: 100, pages: []page{dataPage(1, format.Plain, plain)}},
			`row group 1, column "text": 99 values are missing`},
		"negative size": {hostile{rows: 1, pages: []page{dataPage(1, format.Plain,
			plain).with(func(h *format.PageHeader) { h.CompressedPageSize = -100 })}}, "page 1: -"},
		"size of a page": {hostile{rows: 1, pages: []page{dataPage(1, format.Plain, plain).packed(plain,
			math.MaxInt32)}}, "page 1: 2147483647 bytes, of which 1048576 are the most"},
		"page behind the end": {hostile{rows: 1, pages: []page{dataPage(1, format.Plain,
			plain).with(func(h *format.PageHeader) { h.CompressedPageSize = 1 << 20 })}},
			"which end behind the column"},
		"column behind the end": {hostile{rows: 1, pages: []page{dataPage(1, format.Plain, plain)},
			footer: func(m *format.FileMetaData) {
				m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = math.MaxInt64
			}}, "bytes from byte 4 on in a file of"},
		"column before the file": {hostile{rows: 1, pages: []page{dataPage(1, format.Plain, plain)},
			footer: func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.DataPageOffset = -4 }},
			"bytes from byte -4 on"},
		"snappy": {hostile{rows: 1, codec: format.Snappy, pages: []page{dataPage(1, format.Plain,
			nil).packed(binary.AppendUvarint(nil, 1<<31), 1<<20)}}, "5 bytes that become"},
		"snappy of another size": {hostile{rows: 1, codec: format.Snappy, pages: []page{dataPage(1, format.Plain,
			nil).packed(snappy.Encode(nil, plain), 5)}}, "that become 9"},
		"zstd bomb": {hostile{rows: 1, codec: format.Zstd, pages: []page{dataPage(1, format.Plain,
			nil).packed(squeezed, 1000)}}, "page 1: "},
		"gzip bomb": {hostile{rows: 1, codec: format.Gzip, pages: []page{dataPage(1, format.Plain,
			nil).packed(zipped, 1000)}}, "1001 bytes are decompressed where it claims 1000"},
		"lz4": {hostile{rows: 1, codec: format.Lz4Raw, pages: []page{dataPage(1, format.Plain,
			nil).packed(plain, 1<<20)}}, "page 1: lz4"},
		"unknown compression": {hostile{rows: 1, codec: format.LZO, pages: []page{dataPage(1, format.Plain,
			plain)}}, "LZO, which is not read"},
		"dictionary": {hostile{rows: 1, pages: []page{dictionaryPage(math.MaxInt32)}},
			"a dictionary of 2147483647 entries in 9 bytes"},
		"index": {hostile{rows: 1, pages: []page{dictionaryPage(1),
			dataPage(1, format.RLEDictionary, []byte{8, 2, 200})}}, `row group 1, column "text"`},
		"indexes": {hostile{rows: 1, pages: []page{dictionaryPage(1),
			dataPage(1, format.RLEDictionary, append([]byte{8}, binary.AppendUvarint(nil, 1<<32)...))}},
			"page 2: a run of 2147483648 values in a page of 1"},
		"indexes of many bits": {hostile{rows: 1, pages: []page{dictionaryPage(1),
			dataPage(1, format.RLEDictionary, []byte{200, 2, 0})}}, "values of 200 bits"},
		"no dictionary": {hostile{rows: 1, pages: []page{dataPage(1, format.RLEDictionary, []byte{8, 2,
			0})}}, "of a dictionary without one"},
		"levels": {hostile{rows: 1, pages: []page{dataPage(1, format.Plain,
			nil).packed([]byte("\x05\x00\x00\x00\xfe\xff\xff\xff\x0f\x00"), 10)}}, "a run of"},
		"levels behind the end": {hostile{rows: 1, pages: []page{dataPage(1, format.Plain,
			nil).packed([]byte("\xff\xff\xff\xff"), 4)}}, "levels of 4294967295 bytes"},
		"differences": {hostile{rows: 1, pages: []page{dataPage(1, format.DeltaLengthByteArray,
			[]byte("\x80\x01\x04\xff\xff\xff\xff\x07\x00"))}}, "differences of 2147483647 values"},
		"prefixes": {hostile{rows: 30000, pages: []page{dataPage(30000, format.DeltaByteArray,
			prefixes)}}, "values that repeat"},
		"length of a text": {hostile{rows: 1, pages: []page{dataPage(1, format.Plain,
			[]byte("\xff\xff\xff\x7fhello"))}}, `row group 1, column "text"`},
		"schema": {hostile{footer: func(m *format.FileMetaData) { m.Schema = deep(5000) }},
			"children, 64 deep"},
		"children": {hostile{footer: func(m *format.FileMetaData) {
			m.Schema[0].NumChildren.V = math.MaxInt32
		}}, "claims 2147483647 children"},
		"second root": {hostile{footer: func(m *format.FileMetaData) {
			m.Schema = append(m.Schema,
				m.Schema[1])
		}}, "beside the schema's root"},
		"a page without its header": {hostile{rows: 1, pages: []page{dataPage(1, format.Plain,
			plain).with(func(h *format.PageHeader) { h.Type = format.DataPageV2 })}}, "without its header"},
		"sound list": {hostile{rows: 2, pages: []page{listPage(5, 0, 1, 1, 2, 0, 1, 1, 1)},
			footer: list(5)}, ""},
		"values of a row": {hostile{rows: 1, pages: []page{listPage(5<<20, 0, 1, 1, 5<<20-1)}, footer: list(5 << 20)},
			"row 1 has more than 4194304 values"},
		"a row over pages": {hostile{rows: 1, pages: []page{listPage(3<<20, 0, 1, 1, 3<<20-1), listPage(3<<20, 1,
			3<<20)}, footer: list(6 << 20)}, "row 1 has more than 4194304 values"},
		"rows of a list": {hostile{rows: 3, pages: []page{listPage(5, 0, 1, 1, 2, 0, 1, 1, 1)},
			footer: list(5)}, "values of 2 rows in a row group of 3"},
		"within a row": {hostile{rows: 1, pages: []page{listPage(3, 1, 2, 0, 1)}, footer: list(3)},
			"begins within a row"},
		"levels of a list": {hostile{rows: 1, pages: []page{listPage(3, 0, 1)}, footer: list(3)},
			"2 values without a level"},
		"values of a list": {hostile{rows: 1, pages: []page{listPage(1, 0, 1)}, footer: list(1 << 40)},
			"1099511627776 values in 1 rows"},
		"fewer values": {hostile{rows: 2, pages: []page{listPage(1, 0, 1)}, footer: list(1)},
			"1 values in 2 rows"},
		"a run": {hostile{rows: 1, pages: []page{listPage(1, 0, 1<<40)}, footer: list(1)},
			"a run of 1099511627776 values in a page of 1"},
	} {
		t.Run(name, func(t *testing.T) {
			data := c.file.bytes(t)
			_, allocated, err := readAll(data)
			switch {
			case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want %q", err, c.want)
			case allocated > 32<<20:
				t.Errorf("%d bytes of memory for a file of %d", allocated, len(data))
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			f, err := columns.Open(bytes.NewReader(data), int64(len(data)), 1<<20)
			if err == nil {
				_, err = rowsOf(f.RowGroup(0))
				f.Close()
			}
			runtime.ReadMemStats(&after)
			if (err == nil) != (c.want == "") {
				t.Errorf("rows: %v, want %q", err, c.want)
			}
			// A row may have 4 Mi values of 24 bytes, of which a slice that doubles holds some
			// twice.
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 512<<20 {
				t.Errorf("%d bytes of memory for the rows of a file of %d", allocated, len(data))
			}
		})
	}
}

// make30k returns values that repeat as much of those before them as they can.
func make30k(each int32) (prefixes []int32) {
	for i := range int32(30000) {
		prefixes = append(prefixes, i*each)
	}
	return prefixes
}

// deep is a schema of groups within one another.
func deep(n int) (s []format.SchemaElement) {
	for range n {
		s = append(s, format.SchemaElement{Name: "g", NumChildren: thrift.New[int32](1)})
	}
	return append(s, format.SchemaElement{Name: "text", Type: thrift.New(format.ByteArray)})
}

// TestHostileFooter: a footer's own structure is walked before anything is made of it.
func TestHostileFooter(t *testing.T) {
	for name, c := range map[string]struct{ footer, want string }{
		// of 2^31 structures
		"list": {"\x15\x02\x29\xfc\xff\xff\xff\xff\x07", "does not end"},
		// of 2^31 bytes
		"string": {"\x15\x02\x19\x1c\x48\xff\xff\xff\xff\x07", "does not end"},
		// structures
		"deep": {"\x15\x02" + strings.Repeat("\x1c", 100_000), "nested more than"},
		// in one another
		"lists": {strings.Repeat("\x19", 8<<20), "nested more than"},
		"map":   {"\x1b\x00", "of type 11"}, //
		// structures without content
		"empty": {"\x15\x02\x19\xfc\x80\x80\x80\x01" + strings.Repeat("\x00", 2<<20) + "\x00", "structures in 2"},
		"none":  {"", "does not end"},
	} {
		t.Run(name, func(t *testing.T) {
			_, allocated, err := readAll(seal([]byte("PAR1"), []byte(c.footer)))
			if err == nil || !errors.Is(err, columns.ErrCorrupt) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if allocated > 16<<20 {
				t.Errorf("%d bytes of memory", allocated)
			}
		})
	}
}

// TestManyNulls: what is true, though it takes hardly any bytes, is read.
func TestManyNulls(t *testing.T) {
	const n = 1 << 20
	levels := append(binary.AppendUvarint(nil, n<<1), 0)
	body := append(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels...)
	h := hostile{rows: n, pages: []page{dataPage(n, format.Plain, nil).packed(body, int32(len(body)))}}
	if values, _, err := readAll(h.bytes(t)); err != nil || values != n {
		t.Errorf("%d values, %v", values, err)
	}
}

// wide is a file that ends as data does, and has zeros before that. It notes the longest read.
type wide struct {
	start, end []byte
	size       int64
	longest    int
}

func (w *wide) ReadAt(p []byte, at int64) (int, error) {
	w.longest = max(w.longest, len(p))
	clear(p)
	if at < int64(len(w.start)) {
		copy(p, w.start[at:])
	}
	if from := w.size - int64(len(w.end)); at+int64(len(p)) > from {
		copy(p[max(from-at, 0):], w.end[max(at-from, 0):])
	}
	return len(p), nil
}

// TestCompressedPage: a page is not read that is longer compressed than any page could become,
// however large the file is.
func TestCompressedPage(t *testing.T) {
	const size = 1 << 31
	p := dataPage(1, format.Plain, []byte("\x05\x00\x00\x00hello"))
	p.header.CompressedPageSize = 64 << 20
	start := append([]byte("PAR1"), encode(t, &p.header)...)
	h := hostile{rows: 1,
		footer: func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = size - 1<<20 }}
	w := &wide{start: start, end: h.bytes(t), size: size}
	f, err := columns.Open(w, size, 1<<20)
	must.Do(t, err)
	defer f.Close()
	if _, err := valuesOf(f, 0); err == nil || !strings.Contains(err.Error(), "page 1: 67108864 bytes compressed") {
		t.Error(err)
	}
	if w.longest > 4<<20 {
		t.Errorf("%d bytes were read at a time", w.longest)
	}
}

// FuzzRowGroup: whatever a file holds, reading its rows ends, in an error or in a panic of the
// library, which those who copy rows catch, and takes no more memory than a row may.
func FuzzRowGroup(f *testing.F) {
	f.Add(write(f, nestedRows(20), parquet.DataPageVersion(1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := columns.Open(bytes.NewReader(data), int64(len(data)), 1<<20)
		if err != nil {
			return
		}
		defer file.Close()
		for i := range min(file.Groups(), 3) {
			if file.Rows(i) < 1<<16 {
				rowsOf(file.RowGroup(i))
			}
		}
	})
}
