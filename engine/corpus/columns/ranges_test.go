package columns_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"ndd/engine/corpus/columns"
	"ndd/engine/oracle/must"
)

// opened opens a file of one row group.
func opened(t *testing.T, data []byte) *columns.File {
	t.Helper()
	f, err := columns.Open(bytes.NewReader(data), int64(len(data)), 1<<20)
	must.Do(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

// TestRanges: ranges are one behind the other, and each has the rows and values of the row group from there
// on, with nulls and dictionaries, in pages of both versions and several sizes.
func TestRanges(t *testing.T) {
	type record struct {
		Text   *string `parquet:"text,optional,zstd"`
		Dict   string  `parquet:"dict,dict"`
		Number int64   `parquet:"number"`
		Flag   bool    `parquet:"flag,optional"`
	}
	var rows []record
	for _, r := range flatRows(2000) {
		rows = append(rows, record{r.Maybe, r.Dict, r.Number, r.Flag})
	}
	all := []int{0, 1, 2, 3}
	for version := 1; version <= 2; version++ {
		for _, page := range []int{100, 1500, 90_000} {
			f := opened(t, write(t, rows, parquet.DataPageVersion(version), parquet.MaxRowsPerRowGroup(2000),
				parquet.PageBufferSize(page)))
			want, err := rowsOf(f.RowGroup(f.Range(0)))
			if err != nil || len(want) != 2000 {
				t.Fatal(len(want), err)
			}
			for _, r := range f.Ranges(0, []int{0, 3}, 1) {
				if r.To <= r.From {
					t.Errorf("rows %d to %d", r.From, r.To)
				}
			}
			for _, each := range []int64{1, 3000, 10_000} {
				ranges, at := f.Ranges(0, all, each), int64(0)
				if len(ranges) < 2 && page < 90_000 {
					t.Errorf("version %d, pages of %d: not divided", version, page)
				}
				for _, r := range ranges {
					if r.From != at || r.To <= at || r.Bytes < each && r.To < 2000 {
						t.Fatalf("%d to %d, %d bytes, after %d rows", r.From, r.To, r.Bytes, at)
					}
					at = r.To
					got, err := rowsOf(f.RowGroup(r))
					if err != nil || !slices.Equal(got, want[r.From:]) {
						t.Fatalf("version %d, pages of %d, from row %d on: %v, %q", version, page, r.From, err, got)
					}
					for column := range all {
						values, first := f.Values(r, column), make([]parquet.Value, 1)
						if n, err := values.ReadValues(first); n != 1 || !strings.Contains(want[r.From], fmt.Sprintf("%+v", first[0])) {
							t.Fatalf("column %d from row %d on: %v, %+v", column, r.From, err, first[0])
						}
						values.Close()
					}
				}
				if at != 2000 {
					t.Errorf("ranges of %d rows", at)
				}
			}
		}
	}
}

// TestUndivided: a row group is one range where lists are read, where pages of other columns or a dictionary
// would be read again for each few bytes, where a page has no row, so that no range would have it checked, and
// where it is small.
func TestUndivided(t *testing.T) {
	type wide struct {
		Text   string `parquet:"text,zstd"`
		Number int64  `parquet:"number"`
		Same   string `parquet:"same,dict"`
	}
	var rows []wide
	for i := range 200 {
		rows = append(rows, wide{strings.Repeat("text ", 20), int64(i), strings.Repeat(fmt.Sprint(i), 300)})
	}
	flat := opened(t, write(t, rows, parquet.PageBufferSize(2000), parquet.MaxRowsPerRowGroup(200)))
	nested := opened(t, write(t, nestedRows(70)))
	size := func(m *format.FileMetaData) { m.RowGroups[0].TotalByteSize = 100 }
	hello := dataPage(1, format.Plain, []byte("\x05\x00\x00\x00hello"))
	two := opened(t, (&hostile{rows: 2, pages: []page{hello, hello}, footer: size}).bytes(t))
	empty := opened(t, (&hostile{rows: 2, pages: []page{hello, dataPage(0, format.Plain, nil), hello}, footer: size}).bytes(t))
	for _, c := range []struct {
		f       *columns.File
		of      []int
		bytes   int64
		divided bool
	}{
		{flat, []int{0}, 1, true},
		{flat, []int{0, 1}, 1, true},
		{flat, []int{0, 2}, 1, false}, // a dictionary of 160,000 bytes
		{flat, []int{0}, 1 << 20, false},
		{flat, nil, 1, false},
		{nested, []int{0}, 1, true},
		{nested, []int{0, 1}, 1, false},
		{two, []int{0}, 1, true},
		{empty, []int{0}, 1, false},
	} {
		if ranges := c.f.Ranges(0, c.of, c.bytes); len(ranges) > 1 != c.divided {
			t.Errorf("columns %d, %d bytes: %d ranges", c.of, c.bytes, len(ranges))
		}
	}
}
