package columns_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"ndd/engine/corpus/columns"
	"ndd/engine/oracle"
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

// table writes n rows in row groups of 70, in small pages.
func table(t testing.TB, n, version int, codec compress.Codec) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, parquet.PageBufferSize(500), parquet.MaxRowsPerRowGroup(70), parquet.DataPageVersion(version), parquet.Compression(codec))
	for i := range n {
		text := fmt.Sprintf("%s text %d", strings.Repeat("the same ", i%4), i)
		r := row{Plain: text, Dict: fmt.Sprint("entry ", i%7), Delta: text, Number: int64(i * i), Split: float64(i) / 3, Flag: i%2 == 0}
		if i%3 > 0 {
			r.Maybe, r.Length = &text, text
		}
		if _, err := w.Write([]row{r}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// valuesOf reads a column of all row groups.
func valuesOf(f *columns.File, column int) (values []string, err error) {
	for group := range f.Groups() {
		pages, err := f.Pages(group, column)
		if err != nil {
			return values, err
		}
		defer pages.Close()
		for {
			page, err := pages.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return values, err
			}
			from := page.Values()
			buffer := make([]parquet.Value, 50)
			for {
				n, err := pages.Read(from, buffer)
				for _, v := range buffer[:n] {
					values = append(values, fmt.Sprint(v))
				}
				if err == io.EOF || n == 0 && err == nil {
					break
				}
				if err != nil {
					return values, err
				}
			}
			parquet.Release(page)
		}
	}
	return values, nil
}

var codecs = map[string]compress.Codec{"none": &parquet.Uncompressed, "snappy": &parquet.Snappy, "gzip": &parquet.Gzip, "brotli": &parquet.Brotli, "zstd": &parquet.Zstd, "lz4": &parquet.Lz4Raw}

// TestColumns reads columns of all encodings, compressions and versions of pages, and compares them with what the library alone reads.
func TestColumns(t *testing.T) {
	for name, codec := range codecs {
		for version := 1; version <= 2; version++ {
			t.Run(fmt.Sprintf("%s %d", name, version), func(t *testing.T) {
				data := table(t, 200, version, codec)
				alone, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
				if err != nil {
					t.Fatal(err)
				}
				f, err := columns.Open(bytes.NewReader(data), int64(len(data)), 1<<20)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				for i := range f.Schema().Columns() {
					got, err := valuesOf(f, i)
					if want := librarys(t, alone, i); err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
						t.Errorf("column %d: %v: %q, want %q", i, err, got, want)
					}
				}
			})
		}
	}
}

// librarys reads a column with the library alone.
func librarys(t *testing.T, f *parquet.File, column int) (values []string) {
	t.Helper()
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		buffer := make([]parquet.Row, 10)
		for {
			n, err := rows.ReadRows(buffer)
			for _, r := range buffer[:n] {
				values = append(values, fmt.Sprint(r[column]))
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		rows.Close()
	}
	return values
}
