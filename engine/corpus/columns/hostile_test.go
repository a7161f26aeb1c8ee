package columns_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"ndd/engine/corpus/columns"
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
		DataPageHeader: thrift.New(format.DataPageHeader{NumValues: rows, Encoding: encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE})}, body}
}

// dictionaryPage is one with a single entry.
func dictionaryPage(entries int32) page {
	body := []byte("\x05\x00\x00\x00hello")
	return page{format.PageHeader{Type: format.DictionaryPage, UncompressedPageSize: int32(len(body)),
		DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: entries, Encoding: format.Plain})}, body}
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
	if err != nil {
		t.Fatal(err)
	}
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
		RowGroups: []format.RowGroup{{NumRows: h.rows, Columns: []format.ColumnChunk{{MetaData: format.ColumnMetaData{Type: format.ByteArray, Codec: h.codec,
			PathInSchema: []string{"text"}, Encoding: []format.Encoding{format.Plain}, NumValues: h.rows, DataPageOffset: 4, TotalCompressedSize: int64(len(file) - 4)}}}}}}
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

// readAll reads the first column, and returns the number of its values and how many bytes were allocated meanwhile.
func readAll(data []byte) (values int, allocated uint64, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := columns.Open(bytes.NewReader(data), int64(len(data)), 1<<20)
	if err == nil {
		var list []string
		list, err = valuesOf(f, 0)
		values = len(list)
		f.Close()
	}
	runtime.ReadMemStats(&after)
	return values, after.TotalAlloc - before.TotalAlloc, err
}

// TestHostile: small files that claim to be large are refused in words, before memory is taken for what they claim.
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
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	squeezed := e.EncodeAll(zeros, nil)
	prefixes, _ := new(delta.BinaryPackedEncoding).EncodeInt32(nil, make30k(1))
	plain := []byte("\x05\x00\x00\x00hello")
	for name, c := range map[string]struct {
		file hostile
		want string
	}{
		"sound":                     {hostile{rows: 1, pages: []page{dataPage(1, format.Plain, plain)}}, ""},
		"rows":                      {hostile{rows: 1 << 40, pages: []page{dataPage(1, format.Plain, plain)}}, "row group 1 claims 1099511627776 rows"},
		"values of the column":      {hostile{rows: 1, pages: []page{dataPage(1, format.Plain, plain)}, footer: func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.NumValues = 2 }}, "2 values in 1 rows"},
		"values of a page":          {hostile{rows: 9, pages: []page{dataPage(math.MaxInt32, format.Plain, plain)}}, "page 1: 2147483647 values"},
		"missing values":            {hostile{rows: 100, pages: []page{dataPage(1, format.Plain, plain)}}, `row group 1, column "text": 99 values are missing`},
		"negative size":             {hostile{rows: 1, pages: []page{dataPage(1, format.Plain, plain).with(func(h *format.PageHeader) { h.CompressedPageSize = -100 })}}, "page 1: -"},
		"size of a page":            {hostile{rows: 1, pages: []page{dataPage(1, format.Plain, plain).packed(plain, math.MaxInt32)}}, "page 1: 2147483647 bytes, of which 1048576 are the most"},
		"page behind the end":       {hostile{rows: 1, pages: []page{dataPage(1, format.Plain, plain).with(func(h *format.PageHeader) { h.CompressedPageSize = 1 << 20 })}}, "which end behind the column"},
		"column behind the end":     {hostile{rows: 1, pages: []page{dataPage(1, format.Plain, plain)}, footer: func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = math.MaxInt64 }}, "bytes from byte 4 on in a file of"},
		"column before the file":    {hostile{rows: 1, pages: []page{dataPage(1, format.Plain, plain)}, footer: func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.DataPageOffset = -4 }}, "bytes from byte -4 on"},
		"snappy":                    {hostile{rows: 1, codec: format.Snappy, pages: []page{dataPage(1, format.Plain, nil).packed(binary.AppendUvarint(nil, 1<<31), 1<<20)}}, "5 bytes that become"},
		"snappy of another size":    {hostile{rows: 1, codec: format.Snappy, pages: []page{dataPage(1, format.Plain, nil).packed(snappy.Encode(nil, plain), 5)}}, "that become 9"},
		"zstd bomb":                 {hostile{rows: 1, codec: format.Zstd, pages: []page{dataPage(1, format.Plain, nil).packed(squeezed, 1000)}}, "page 1: "},
		"gzip bomb":                 {hostile{rows: 1, codec: format.Gzip, pages: []page{dataPage(1, format.Plain, nil).packed(zipped, 1000)}}, "1001 bytes are decompressed where it claims 1000"},
		"lz4":                       {hostile{rows: 1, codec: format.Lz4Raw, pages: []page{dataPage(1, format.Plain, nil).packed(plain, 1<<20)}}, "9 bytes that become 1048576"},
		"unknown compression":       {hostile{rows: 1, codec: format.LZO, pages: []page{dataPage(1, format.Plain, plain)}}, "LZO, which is not read"},
		"dictionary":                {hostile{rows: 1, pages: []page{dictionaryPage(math.MaxInt32)}}, "a dictionary of 2147483647 entries in 9 bytes"},
		"index":                     {hostile{rows: 1, pages: []page{dictionaryPage(1), dataPage(1, format.RLEDictionary, []byte{8, 2, 200})}}, `row group 1, column "text"`},
		"indexes":                   {hostile{rows: 1, pages: []page{dictionaryPage(1), dataPage(1, format.RLEDictionary, append([]byte{8}, binary.AppendUvarint(nil, 1<<32)...))}}, "page 2: a run of 2147483648 values in a page of 1"},
		"indexes of many bits":      {hostile{rows: 1, pages: []page{dictionaryPage(1), dataPage(1, format.RLEDictionary, []byte{200, 2, 0})}}, "values of 200 bits"},
		"no dictionary":             {hostile{rows: 1, pages: []page{dataPage(1, format.RLEDictionary, []byte{8, 2, 0})}}, "of a dictionary without one"},
		"levels":                    {hostile{rows: 1, pages: []page{dataPage(1, format.Plain, nil).packed([]byte("\x05\x00\x00\x00\xfe\xff\xff\xff\x0f\x00"), 10)}}, "a run of"},
		"levels behind the end":     {hostile{rows: 1, pages: []page{dataPage(1, format.Plain, nil).packed([]byte("\xff\xff\xff\xff"), 4)}}, "levels of 4294967295 bytes"},
		"differences":               {hostile{rows: 1, pages: []page{dataPage(1, format.DeltaLengthByteArray, []byte("\x80\x01\x04\xff\xff\xff\xff\x07\x00"))}}, "differences of 2147483647 values"},
		"prefixes":                  {hostile{rows: 30000, pages: []page{dataPage(30000, format.DeltaByteArray, prefixes)}}, "values that repeat"},
		"length of a text":          {hostile{rows: 1, pages: []page{dataPage(1, format.Plain, []byte("\xff\xff\xff\x7fhello"))}}, `row group 1, column "text"`},
		"schema":                    {hostile{footer: func(m *format.FileMetaData) { m.Schema = deep(5000) }}, "children, 64 deep"},
		"children":                  {hostile{footer: func(m *format.FileMetaData) { m.Schema[0].NumChildren.V = math.MaxInt32 }}, "claims 2147483647 children"},
		"second root":               {hostile{footer: func(m *format.FileMetaData) { m.Schema = append(m.Schema, m.Schema[1]) }}, "beside the schema's root"},
		"a page without its header": {hostile{rows: 1, pages: []page{dataPage(1, format.Plain, plain).with(func(h *format.PageHeader) { h.Type = format.DataPageV2 })}}, "without its header"},
	} {
		t.Run(name, func(t *testing.T) {
			_, allocated, err := readAll(c.file.bytes(t))
			switch {
			case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("%v, want %q", err, c.want)
			case allocated > 16<<20:
				t.Errorf("%d bytes of memory for a file of %d", allocated, len(c.file.bytes(t)))
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
		"list":   {"\x15\x02\x29\xfc\xff\xff\xff\xff\x07", "does not end"},                                         // of 2^31 structures
		"string": {"\x15\x02\x19\x1c\x48\xff\xff\xff\xff\x07", "does not end"},                                     // of 2^31 bytes
		"deep":   {"\x15\x02" + strings.Repeat("\x1c", 100_000), "nested more than"},                               // structures
		"lists":  {strings.Repeat("\x19", 8<<20), "nested more than"},                                              // in one another
		"map":    {"\x1b\x00", "of type 11"},                                                                       //
		"empty":  {"\x15\x02\x19\xfc\x80\x80\x80\x01" + strings.Repeat("\x00", 2<<20) + "\x00", "structures in 2"}, // structures without content
		"none":   {"", "does not end"},
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

// TestCompressedPage: a page is not read that is longer compressed than any page could become, however large the file is.
func TestCompressedPage(t *testing.T) {
	const size = 1 << 31
	p := dataPage(1, format.Plain, []byte("\x05\x00\x00\x00hello"))
	p.header.CompressedPageSize = 64 << 20
	start := append([]byte("PAR1"), encode(t, &p.header)...)
	h := hostile{rows: 1, footer: func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = size - 1<<20 }}
	w := &wide{start: start, end: h.bytes(t), size: size}
	f, err := columns.Open(w, size, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := valuesOf(f, 0); err == nil || !strings.Contains(err.Error(), "page 1: 67108864 bytes compressed") {
		t.Error(err)
	}
	if w.longest > 4<<20 {
		t.Errorf("%d bytes were read at a time", w.longest)
	}
}

// TestLargePages: what a page may become is reckoned in 64 bits, on machines of 32 too.
func TestLargePages(t *testing.T) {
	noise := make([]byte, 12<<20) // of which 256 times as many, and 32 Ki times, are beyond 32 bits
	rand.NewChaCha8([32]byte{}).Read(noise)
	for codec, pack := range map[format.CompressionCodec]func([]byte) []byte{
		format.Zstd: func(b []byte) []byte {
			e, err := zstd.NewWriter(nil)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			return e.EncodeAll(b, nil)
		},
		format.Lz4Raw: func(b []byte) []byte {
			packed := make([]byte, lz4.CompressBlockBound(len(b)))
			n, err := lz4.CompressBlock(b, packed, nil)
			if err != nil {
				t.Fatal(err)
			}
			return packed[:n]
		},
	} {
		body := binary.LittleEndian.AppendUint32([]byte{2, 0, 0, 0, 2, 1}, uint32(len(noise)))
		body = append(body, noise...)
		packed := pack(body)
		h := hostile{rows: 1, codec: codec, pages: []page{dataPage(1, format.Plain, nil).packed(packed, int32(len(body)))}}
		data := h.bytes(t)
		f, err := columns.Open(bytes.NewReader(data), int64(len(data)), 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		if values, err := valuesOf(f, 0); err != nil || len(values) != 1 || values[0] != string(noise) {
			t.Errorf("%v: %d values, %v", codec, len(values), err)
		}
		f.Close()
	}
}
