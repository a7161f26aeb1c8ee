package columns_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"example.org/ndd/engine/corpus/columns"
	"example.org/ndd/engine/oracle"
	"example.org/ndd/engine/oracle/must"
)

func TestMain(m *testing.M) { oracle.NoLeaks(m) }

// row has a column of every encoding that holds texts, and numbers.
type row struct {
	Plain  string  `parquet:"plain,plain"`
	Dict   string  `parquet:"dict,dict"`
	Maybe  *string `parquet:"maybe,optional,dict"`
	Delta  string  `parquet:"delta,delta"`
	Length string  `parquet:"length,optional,delta"`
	Number int64   `parquet:"number,delta"`
	Split  float64 `parquet:"split,split"`
	Flag   bool    `parquet:"flag,optional"`
}

// nestedRow has lists within lists, a map and optional groups.
type nestedRow struct {
	Text  string           `parquet:"text"`
	Tags  []string         `parquet:"tags,list"`
	Spans [][]int64        `parquet:"spans,list"`
	Marks map[string]int32 `parquet:"marks"`
	Maybe *struct {
		Scores []float64 `parquet:"scores"`
	} `parquet:"maybe,optional"`
}

func nestedRows(n int) (rows []nestedRow) {
	for i := range n {
		r := nestedRow{Text: fmt.Sprint("text ", i), Tags: strings.Fields(strings.Repeat("tag ", i%40)),
			Marks: map[string]int32{fmt.Sprint(i): int32(i)}}
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

func flatRows(n int) (rows []row) {
	for i := range n {
		text := fmt.Sprintf("%s text %d", strings.Repeat("the same ", i%4), i)
		r := row{Plain: text, Dict: fmt.Sprint("entry ", i%7), Delta: text, Number: int64(i * i),
			Split: float64(i) / 3, Flag: i%2 == 0}
		if i%3 > 0 {
			r.Maybe, r.Length = &text, text
		}
		rows = append(rows, r)
	}
	return rows
}

// write writes rows in row groups of 70, in small pages, unless options say otherwise.
func write[T any](t testing.TB, rows []T, options ...parquet.WriterOption) []byte {
	t.Helper()
	var b bytes.Buffer
	options = append([]parquet.WriterOption{parquet.PageBufferSize(500), parquet.MaxRowsPerRowGroup(70)}, options...)
	w := parquet.NewGenericWriter[T](&b, options...)
	_, err := w.Write(rows)
	must.Do(t, errors.Join(err, w.Close()))
	return b.Bytes()
}

// eachValue calls visit with the values of a column of all row groups.
func eachValue(f *columns.File, column int, visit func(parquet.Value)) error {
	for group := range f.Groups() {
		from := f.Values(group, column)
		for range f.Rows(group) {
			if err := from.Row(visit); err != nil {
				return err
			}
		}
	}
	return nil
}

func valuesOf(f *columns.File, column int) (values []string, err error) {
	err = eachValue(f, column, func(v parquet.Value) { values = append(values, fmt.Sprint(v)) })
	return values, err
}

// dropFirst drops the first row of a file from a column.
func dropFirst(f *columns.File, column int) error {
	for p, err := range f.Pages(0, column, []int64{0}) {
		if err == nil {
			err = p.Edit(f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// rowsOf reads all rows of a row group.
func rowsOf(group parquet.RowGroup) (all []parquet.Row, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	rows := group.Rows()
	defer rows.Close()
	buffer := make([]parquet.Row, 7)
	for {
		n, err := rows.ReadRows(buffer)
		for _, r := range buffer[:n] {
			all = append(all, r.Clone())
		}
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
	}
}

var codecs = map[string]compress.Codec{"none": &parquet.Uncompressed, "snappy": &parquet.Snappy,
	"gzip": &parquet.Gzip, "brotli": &parquet.Brotli, "zstd": &parquet.Zstd, "lz4": &parquet.Lz4Raw}

// TestColumns reads columns and rows of all encodings, compressions and page versions, with lists and maps and without.
// It compares them with the values that the library alone reads.
func TestColumns(t *testing.T) {
	for name, codec := range codecs {
		for version := 1; version <= 2; version++ {
			t.Run(fmt.Sprintf("%s %d", name, version), func(t *testing.T) {
				o := []parquet.WriterOption{parquet.DataPageVersion(version), parquet.Compression(codec)}
				sameAsLibrary(t, write(t, flatRows(200), o...))
				sameAsLibrary(t, write(t, nestedRows(200), o...))
			})
		}
	}
}

func sameAsLibrary(t *testing.T, data []byte) {
	t.Helper()
	alone, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	must.Do(t, err)
	f, err := columns.Open(bytes.NewReader(data), int64(len(data)), columns.Limits{PageBytes: 1 << 20})
	must.Do(t, err)
	defer f.Close()
	values := make([][]string, len(f.Schema().Columns()))
	for _, group := range alone.RowGroups() {
		want, err := rowsOf(group)
		must.Do(t, err)
		for _, v := range slices.Concat(want...) {
			values[v.Column()] = append(values[v.Column()], fmt.Sprint(v))
		}
	}
	for i, want := range values {
		if got, err := valuesOf(f, i); err != nil || !slices.Equal(got, want) {
			t.Errorf("column %d: %v: %q, want %q", i, err, got, want)
		}
	}
}
