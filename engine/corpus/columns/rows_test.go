package columns_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"ndd/engine/corpus/columns"
)

// nested has lists within lists, a map and optional groups.
type nested struct {
	Text  string           `parquet:"text"`
	Tags  []string         `parquet:"tags,list"`
	Spans [][]int64        `parquet:"spans,list"`
	Marks map[string]int32 `parquet:"marks"`
	Maybe *struct {
		Scores []float64 `parquet:"scores"`
	} `parquet:"maybe,optional"`
}

func nestedRows(n int) (rows []nested) {
	for i := range n {
		r := nested{Text: fmt.Sprint("text ", i), Tags: strings.Fields(strings.Repeat("tag ", i%40)), Marks: map[string]int32{fmt.Sprint(i): int32(i)}}
		for k := range i % 5 {
			r.Spans = append(r.Spans, make([]int64, (i*k)%7))
		}
		if i%3 == 0 {
			r.Maybe = &struct {
				Scores []float64 `parquet:"scores"`
			}{make([]float64, i%11)}
		}
		rows = append(rows, r)
	}
	return rows
}

// rowsOf reads all rows of a row group.
func rowsOf(group parquet.RowGroup) (all []string, err error) {
	rows := group.Rows()
	defer rows.Close()
	buffer := make([]parquet.Row, 7)
	for {
		n, err := rows.ReadRows(buffer)
		for _, r := range buffer[:n] {
			all = append(all, fmt.Sprintf("%+v", r))
		}
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
	}
}

// TestRowGroup: whole rows, with lists and maps, are those that the library alone reads, whatever compression and version.
func TestRowGroup(t *testing.T) {
	for name, codec := range codecs {
		for version := 1; version <= 2; version++ {
			var b bytes.Buffer
			w := parquet.NewGenericWriter[nested](&b, parquet.PageBufferSize(500), parquet.MaxRowsPerRowGroup(70), parquet.DataPageVersion(version), parquet.Compression(codec))
			if _, err := w.Write(nestedRows(200)); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			alone, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
			if err != nil {
				t.Fatal(err)
			}
			f, err := columns.Open(bytes.NewReader(b.Bytes()), int64(b.Len()), 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if !f.Repeats() {
				t.Error("no lists")
			}
			for i, group := range alone.RowGroups() {
				want, err := rowsOf(group)
				if err != nil {
					t.Fatal(err)
				}
				got, err := rowsOf(f.RowGroup(i))
				if err != nil || len(got) == 0 || strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Errorf("%s %d, row group %d: %v: %d rows, want %d", name, version, i, err, len(got), len(want))
				}
			}
			f.Close()
		}
	}
}

// listPage is a page of a list: so many values of no content, of which those of the levels' runs begin a row.
func listPage(values int32, runs ...uint64) page {
	var levels []byte
	for i := 0; i < len(runs); i += 2 { // a level, how often it stands
		levels = append(binary.AppendUvarint(levels, runs[i+1]<<1), byte(runs[i]))
	}
	body := append(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels...)
	definitions := append(binary.AppendUvarint(nil, uint64(values)<<1), 0)
	body = append(binary.LittleEndian.AppendUint32(body, uint32(len(definitions))), definitions...)
	return page{format.PageHeader{Type: format.DataPage, UncompressedPageSize: int32(len(body)),
		DataPageHeader: thrift.New(format.DataPageHeader{NumValues: values, Encoding: format.Plain, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE})}, body}
}

// TestHostileRows: lists that claim more than there is, or that memory could not hold, are refused in words and little memory.
func TestHostileRows(t *testing.T) {
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
		"sound":             {hostile{rows: 2, pages: []page{listPage(5, 0, 1, 1, 2, 0, 1, 1, 1)}, footer: list(5)}, ""},
		"values of a row":   {hostile{rows: 1, pages: []page{listPage(5<<20, 0, 1, 1, 5<<20-1)}, footer: list(5 << 20)}, "row 1 has more than 4194304 values"},
		"a row over pages":  {hostile{rows: 1, pages: []page{listPage(3<<20, 0, 1, 1, 3<<20-1), listPage(3<<20, 1, 3<<20)}, footer: list(6 << 20)}, "row 1 has more than 4194304 values"},
		"rows":              {hostile{rows: 3, pages: []page{listPage(5, 0, 1, 1, 2, 0, 1, 1, 1)}, footer: list(5)}, "values of 2 rows in a row group of 3"},
		"within a row":      {hostile{rows: 1, pages: []page{listPage(3, 1, 2, 0, 1)}, footer: list(3)}, "begins within a row"},
		"levels":            {hostile{rows: 1, pages: []page{listPage(3, 0, 1)}, footer: list(3)}, "2 values without a level"},
		"values":            {hostile{rows: 1, pages: []page{listPage(1, 0, 1)}, footer: list(1 << 40)}, "1099511627776 values in 1 rows"},
		"fewer values":      {hostile{rows: 2, pages: []page{listPage(1, 0, 1)}, footer: list(1)}, "1 values in 2 rows"},
		"a run":             {hostile{rows: 1, pages: []page{listPage(1, 0, 1<<40)}, footer: list(1)}, "a run of 1099511627776 values in a page of 1"},
		"size of a page":    {hostile{rows: 1, pages: []page{dataPage(1, format.Plain, nil).packed(nil, 1<<30)}}, "page 1: 1073741824 bytes, of which 1048576 are the most"},
		"length of a value": {hostile{rows: 1, pages: []page{dataPage(1, format.Plain, []byte("\xff\xff\xff\x7fhello"))}}, `row group 1, column "text"`},
	} {
		t.Run(name, func(t *testing.T) {
			data := c.file.bytes(t)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			f, err := columns.Open(bytes.NewReader(data), int64(len(data)), 1<<20)
			if err == nil {
				_, err = rowsOf(f.RowGroup(0))
				f.Close()
			}
			runtime.ReadMemStats(&after)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			// A row may have 4 Mi values of 24 bytes, of which a slice that doubles holds some twice.
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 512<<20 {
				t.Errorf("%d bytes of memory for a file of %d", allocated, len(data))
			}
		})
	}
}

// FuzzRowGroup: whatever a file holds, reading its rows ends, in an error or in a panic of the library, which those who copy rows
// catch, and takes no more memory than a row may.
func FuzzRowGroup(f *testing.F) {
	var b bytes.Buffer
	w := parquet.NewGenericWriter[nested](&b, parquet.DataPageVersion(1))
	w.Write(nestedRows(20))
	w.Close()
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := columns.Open(bytes.NewReader(data), int64(len(data)), 1<<20)
		if err != nil {
			return
		}
		defer file.Close()
		defer func() { _ = recover() }()
		for i := range min(file.Groups(), 3) {
			if file.Rows(i) < 1<<16 {
				rowsOf(file.RowGroup(i))
			}
		}
	})
}
