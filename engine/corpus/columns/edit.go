package columns

import (
	"fmt"
	"io"
	"iter"

	"github.com/parquet-go/parquet-go/format"
)

// Metadata returns the footer as the file has it. Nobody writes to it.
func (f *File) Metadata() *format.FileMetaData { return f.footer }

// Place returns the bytes of a column of a row group in the file, which are checked to be in it.
func (f *File) Place(group, column int) (from, to int64, err error) {
	s, err := f.chunk(group, column).stream()
	if err != nil {
		return 0, 0, err
	}
	return s.offset, s.end, nil
}

// A Page is a page of a column. [Page.Edit] drops rows from it.
//
//	page ──► levels, values ──► without the rows ──► encoded and compressed as they were ──► page
//
// A dictionary loses the entries that no other row has, and the indexes in the pages follow.
type Page struct {
	Header        *format.PageHeader
	Head, Body    []byte // the header and the rest as in the file; after Edit empty if no row remains
	Values, Nulls int    // dropped values and nulls, after Edit

	chunk   *columnChunk
	row     int64   // rows of the row group that began before the page
	drop    []int64 // the rows of the row group that are dropped, from 0
	size    int32   // entries of the dictionary before the page
	entries []int32 // new number of each entry of the dictionary, -1 if it is dropped; nil if the dictionary stays
}

// Pages yields the pages of a column of a row group, to drop some rows, which ascend from 0. Their Edit may be called
// by another goroutine.
func (f *File) Pages(group, column int, drop []int64) iter.Seq2[*Page, error] {
	return func(yield func(*Page, error) bool) {
		chunk := f.chunk(group, column)
		var entries []int32
		for p, err := range chunk.pages(drop, 0) {
			if err == nil && p.Header.Type == format.DictionaryPage {
				entries, err = p.usedEntries()
			}
			if err != nil {
				yield(nil, fmt.Errorf("%s: %w", chunk.place(), err))
				return
			}
			if p.entries = entries; !yield(p, nil) {
				return
			}
		}
	}
}

// pages yields the pages of the column. If size, the number of entries of the dictionary, is known already, only pages
// of indexes have a body, which is valid until the next one.
func (c *columnChunk) pages(drop []int64, size int32) iter.Seq2[*Page, error] {
	return func(yield func(*Page, error) bool) {
		s, err := c.stream()
		if err == nil {
			s.onlyIndexes = size > 0
		}
		for row := int64(0); err == nil && s.offset < s.end; row = s.rowCount {
			if !s.onlyIndexes {
				s.packed = nil // a page keeps its bytes
			}
			h, head, failed := s.fetch()
			if err = failed; err == nil {
				err = s.withPlace(s.advance(h))
			}
			if err == nil && h.Type == format.DictionaryPage {
				size = h.DictionaryPageHeader.V.NumValues
			}
			if err == nil && !yield(&Page{Header: h, Head: head, Body: s.packed, chunk: c, row: row, drop: drop, size: size}, nil) {
				return
			}
		}
		if err == nil {
			err = s.checkEnd()
		}
		if err != io.EOF {
			yield(nil, err)
		}
	}
}

// advance checks a dictionary, or counts the values of a page and the rows that begin in it.
func (s *stream) advance(h *format.PageHeader) (err error) {
	defer recovered("page", &err)
	p := packedPage{s.columnChunk, h, s.packed, &s.memory}
	switch {
	case h.Type == format.DictionaryPage && !s.onlyIndexes:
		_, err = p.open()
		return err
	case !isData(h):
		return nil
	case s.repeats == 0:
		return s.count(valuesOf(h), nil)
	}
	b, err := p.open()
	if err != nil {
		return err
	}
	levels, err := levelsOf(b.repetitions, s.repeats, valuesOf(h))
	if err != nil {
		return err
	}
	return s.count(valuesOf(h), levels)
}

// usedEntries returns the new number of each entry of a dictionary, -1 if only dropped rows have it. It is nil if all
// entries are in use.
func (p *Page) usedEntries() (entries []int32, err error) {
	defer recovered("dictionary", &err)
	entries = make([]int32, p.size)
	used := 0
	// Mark the entries that the remaining rows have.
	for q, err := range p.chunk.pages(p.drop, p.size) {
		if err != nil {
			return nil, err
		}
		if !isData(q.Header) || !isDictionary(encodingOf(q.Header)) {
			continue
		}
		c, err := q.packed(q.chunk.file).decode(q.size)
		if err != nil {
			return nil, err
		}
		_, stays := q.keep(&c)
		for i, n := range c.values.Int32() {
			if stays[i] {
				used += 1 - int(entries[n])
				entries[n] = 1
			}
		}
	}
	if used == len(entries) {
		return nil, nil
	}
	// Number the marked entries anew.
	number := int32(0)
	for i, isUsed := range entries {
		if entries[i] = -1; isUsed == 1 {
			entries[i] = number
			number++
		}
	}
	return entries, nil
}
