package columns

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
)

// Values are the values of a column. They turn the library's panics into errors.
type Values struct {
	chunk      *columnChunk
	stream     *stream            // nil before the first page
	dictionary parquet.Dictionary // nil if the column has none
	page       pageContent
	next       int                 // the first value of the page that is not in the buffer
	values     parquet.ValueReader // reads the values of the page that are not null
	buffer     [128]parquet.Value
	buffered   []parquet.Value // part of the buffer that is not returned yet
}

// Values returns the values of a column in a row group. column is its number in the schema.
func (f *File) Values(group, column int) *Values { return &Values{chunk: f.chunk(group, column)} }

// Row calls add with the values of the next row: at least one, since a null is a value. They are valid during the
// call.
func (v *Values) Row(add func(parquet.Value)) error {
	for n := 0; n == 0 || v.chunk.repeats > 0; n++ {
		if len(v.buffered) == 0 {
			k, err := v.read()
			if v.buffered = v.buffer[:k]; k == 0 {
				switch {
				case errors.Is(err, io.EOF) && n > 0:
					return nil
				case errors.Is(err, io.EOF):
					return io.ErrUnexpectedEOF
				}
				return err
			}
		}
		if n > 0 && v.buffered[0].RepetitionLevel() == 0 {
			return nil
		}
		add(v.buffered[0])
		v.buffered = v.buffered[1:]
	}
	return nil
}

// read fills the buffer.
func (v *Values) read() (n int, err error) {
	place := v.chunk.place()
	defer recovered(place, &err)
	for v.next == v.page.count {
		if err := v.nextPage(); err == io.EOF {
			return 0, err
		} else if err != nil {
			return 0, fmt.Errorf("%s: %w", place, err)
		}
	}
	// Read the values that are not null, and move each behind the nulls before it.
	p, full := &v.page, byte(v.chunk.leaf.MaxDefinitionLevel())
	n = min(len(v.buffer), p.count-v.next)
	present, definitions := n, p.definitions
	if definitions != nil {
		definitions = definitions[v.next:][:n]
		present = bytes.Count(definitions, []byte{full})
	}
	if k, err := v.values.ReadValues(v.buffer[:present]); k < present {
		return 0, corrupt("%d values, want %d: %v", k, present, err)
	}
	for i := len(definitions) - 1; i >= 0; i-- {
		var value parquet.Value // null
		if definitions[i] == full {
			present--
			value = v.buffer[present]
		}
		if p.repetitions != nil {
			value = value.Level(int(p.repetitions[v.next+i]), 0, 0)
		}
		v.buffer[i] = value
	}
	v.next += n
	return n, nil
}

// nextPage reads the next page of values. The error is io.EOF at the end of the column.
func (v *Values) nextPage() (err error) {
	if v.stream == nil {
		if v.stream, err = v.chunk.stream(); err != nil {
			return err
		}
	}
	s := v.stream
	if s.offset >= s.end {
		return s.checkEnd()
	}
	h, _, err := s.fetch()
	if err != nil {
		return err
	}
	p := packedPage{s.columnChunk, h, s.packed, &s.memory}
	switch {
	case isData(h):
		err = v.begin(&p)
	case h.Type == format.DictionaryPage:
		var values encoding.Values
		if values, err = p.dictionary(); err == nil {
			v.dictionary = p.leaf.Type().NewDictionary(p.number, int(h.DictionaryPageHeader.V.NumValues), values)
		}
	}
	return s.withPlace(err)
}

// begin decodes a page of values.
func (v *Values) begin(p *packedPage) (err error) {
	t, entries := p.leaf.Type(), 0
	if isDictionary(encodingOf(p.header)) {
		if v.dictionary == nil {
			return corrupt("entries of a dictionary without one")
		}
		t, entries = v.dictionary.Type(), v.dictionary.Len()
	}
	if v.page, err = p.decode(int32(entries)); err != nil {
		return err
	}
	v.next, v.values = 0, t.NewPage(p.number, v.page.present, v.page.values).Values()
	return v.stream.count(v.page.count, v.page.repetitions)
}
