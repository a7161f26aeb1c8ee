package columns

import (
	"cmp"
	"slices"

	"github.com/parquet-go/parquet-go/format"
)

// A Range is some rows of a row group, which can be read without those before: pages are found by the
// headers of those before them.
type Range struct {
	Group    int
	From, To int64 // rows, the first one of the group being 0
	Bytes    int64 // of the pages that reading them takes, uncompressed, as the file claims

	tables [][]start // the pages of each column; nil: it is read from its beginning
}

// A start is a page where a column can be read from.
type start struct {
	at   int64 // in the file, of a page
	page int   // its number, from 0
	row  int64 // the first one of it
	cost int64 // of the page: its bytes, uncompressed, or values if they are more

	dictionary bool // the column begins with one
}

const (
	// rangeWaste is the share of what reading a range takes, one in rangeWaste, that may be pages that
	// others read too.
	rangeWaste = 4
	pagesMax   = 1 << 19 // of a row group that is divided
)

// Range returns all rows of a row group.
func (f *File) Range(group int) Range {
	return Range{Group: group, To: f.Rows(group), Bytes: f.Bytes(group)}
}

// Ranges divides a row group into ranges of about as many bytes, in order, for readers of some columns.
// They end where pages of the largest column do. A row group is not divided if a column of them is
// repeated, since the first version of pages does not say how many rows begin in them, if its pages are
// too large for it, or if their headers contradict the footer, which those see who read them all.
func (f *File) Ranges(group int, of []int, bytes int64) []Range {
	whole := []Range{f.Range(group)}
	if f.Bytes(group) <= bytes || len(of) == 0 || slices.ContainsFunc(of, f.IsRepeated) {
		return whole
	}
	var pages []start
	tables := make([][]start, len(f.Schema().Columns()))
	widest, most, shared := 0, int64(0), int64(0)
	for _, column := range of {
		table, dictionary := f.starts(group, column)
		if table == nil {
			return whole
		}
		sum, largest := int64(0), int64(0)
		for _, p := range table {
			sum, largest = sum+p.cost, max(largest, p.cost)
		}
		if shared += dictionary + largest; sum > most {
			widest, most = column, sum
		}
		tables[column] = table
		if pages = append(pages, table...); len(pages) > pagesMax {
			return whole
		}
	}
	// At each end, all columns but the widest have a page that two ranges read.
	shared -= slices.MaxFunc(tables[widest], func(a, b start) int { return cmp.Compare(a.cost, b.cost) }).cost
	slices.SortFunc(pages, func(a, b start) int { return cmp.Compare(a.row, b.row) })
	var ranges []Range
	next := Range{Group: group, Bytes: shared}
	for _, p := range pages {
		full := next.Bytes-shared >= max(bytes, rangeWaste*shared) && p.row > next.From
		if full && tables[widest][pageOf(tables[widest], p.row)].row == p.row {
			next.To = p.row
			ranges = append(ranges, next)
			next = Range{Group: group, From: p.row, Bytes: shared}
		}
		next.Bytes += p.cost
	}
	next.To = f.Rows(group)
	ranges = append(ranges, next)
	if len(ranges) == 1 {
		return whole
	}
	for i := range ranges {
		ranges[i].tables = tables
	}
	return ranges
}

// start returns where a column is read from.
func (r Range) start(column int) start {
	if r.From == 0 || r.tables == nil {
		return start{}
	}
	return r.tables[column][pageOf(r.tables[column], r.From)]
}

// pageOf returns which page of a column has a row.
func pageOf(table []start, row int64) int {
	i, found := slices.BinarySearchFunc(table, row, func(p start, row int64) int { return cmp.Compare(p.row, row) })
	if !found {
		i--
	}
	return i
}

// starts returns where the pages of a column with values begin, and the cost of its dictionary; nil if
// headers contradict the footer or one another.
func (f *File) starts(group, column int) (table []start, dictionary int64) {
	s, err := (&columnChunk{group: &rowGroup{file: f, rows: f.Range(group)}, number: column}).stream()
	if err != nil {
		return nil, 0
	}
	row := int64(0)
	for ; s.at < s.end && row < s.groupRows; s.number++ {
		h, n, err := s.header()
		if err != nil || h.CompressedPageSize < 0 || h.UncompressedPageSize < 0 ||
			int64(h.CompressedPageSize) > s.end-s.at-int64(n) {
			return nil, 0
		}
		values := int64(0)
		switch {
		case h.Type == format.DictionaryPage && s.number == 0:
			dictionary = max(1, int64(h.UncompressedPageSize))
		case h.Type == format.DataPage:
			values = int64(h.DataPageHeader.V.NumValues)
		case h.Type == format.DataPageV2:
			values = int64(h.DataPageHeaderV2.V.NumValues)
		}
		if values > 0 {
			table = append(table, start{s.at, s.number, row, max(int64(h.UncompressedPageSize), values), dictionary > 0})
		} else if dictionary == 0 || s.number > 0 {
			return nil, 0 // a page that only those see who read them all
		}
		s.at += int64(n) + int64(h.CompressedPageSize)
		row += values
	}
	if row != s.groupRows {
		return nil, 0
	}
	return table, dictionary
}
