package document

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// records yields one unit a record. The first record names the fields. Quotes may span lines, so records
// are taken apart here, in order.
func (s *stream) records() error {
	var begin int64 // of the first record
	if mark, err := s.r.Peek(3); err == nil && string(mark) == "\xef\xbb\xbf" {
		begin = 3
		if _, err := s.r.Discard(3); err != nil {
			return err
		}
	}
	mark := separator(s.file.Path)
	limited := &recordLimit{r: s.r, mark: []byte(mark), most: min(s.opts.MaxDocumentBytes, csvHeaderMax), marksMax: csvFieldsMax}
	c := csv.NewReader(bufio.NewReader(limited))
	c.ReuseRecord = true
	if mark == "\t" {
		c.Comma, c.LazyQuotes = '\t', true
	}
	s.line = 1
	header, err := c.Read()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return csvCause(err)
	}
	limited.most, limited.marksMax = s.opts.MaxDocumentBytes, csvMarksMax
	columns, err := s.opts.columns(slices.Clone(header))
	if err != nil {
		return s.noFields(err)
	}
	s.chosen(columns.Fields)
	for {
		limited.seen, limited.marks = 0, 0
		from := begin + c.InputOffset()
		s.good = from
		record, err := c.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if parse, ok := errors.AsType[*csv.ParseError](err); ok {
			s.line = parse.StartLine
			if err := s.skip(&Skip{Source: s.file.Path, Line: s.line, Reason: Broken, Err: csvCause(err)}); err != nil {
				return err
			}
			continue
		}
		if limited.exceeded {
			return damage{err} // it ends the file: where the next record starts is unknown
		}
		if err != nil {
			return err
		}
		s.line, _ = c.FieldPos(0)
		u := columns.unit(record)
		u.Line, u.From, u.To = s.line, from, begin+c.InputOffset()
		if err := s.emit(u); err != nil {
			return err
		}
	}
}

// csvColumns are where the fields of a record are; -1: nowhere.
type csvColumns struct {
	Fields
	text, id int
	values   []int
}

func (o *Options) columns(header []string) (c csvColumns, err error) {
	f, _ := o.choose(func(name string) bool { return slices.Contains(header, name) })
	c.Fields, c.text, c.id = f, slices.Index(header, f.Text), slices.Index(header, f.ID)
	for _, name := range o.ValueFields {
		if i := slices.Index(header, name); i >= 0 {
			c.values = append(c.values, i)
		}
	}
	switch {
	case c.text < 0 && o.TextField == "":
		return c, &FieldError{header}
	case c.text < 0:
		return c, fmt.Errorf("no field %q among the first record's: %.200q", o.TextField, header)
	}
	return c, nil
}

// unit takes what it needs of a record, which is gone when another is read.
func (c *csvColumns) unit(record []string) Unit {
	u := Unit{format: CSV, raw: []byte(record[c.text])}
	if isHTML(c.Text) {
		u.format = HTML
	}
	if c.id >= 0 {
		u.id = strings.Clone(record[c.id])
	}
	for _, i := range c.values {
		if record[i] != "" {
			u.value = Value{Text: strings.Clone(record[i]), Found: true}
			break
		}
	}
	return u
}

// separator returns a tab for .tsv, whatever compression's extension follows, and a comma otherwise.
func separator(path string) string {
	if strings.Contains(strings.ToLower(filepath.Base(path)), ".tsv") {
		return "\t"
	}
	return ","
}

// csvCause drops the place that a ParseError repeats.
func csvCause(err error) error {
	if parse, ok := errors.AsType[*csv.ParseError](err); ok {
		return parse.Err
	}
	return err
}

const (
	csvHeaderMax = 1 << 20 // bytes of the record that names the fields
	csvFieldsMax = 1 << 16 // separators in it
	csvMarksMax  = 1 << 21 // separators in a record: the parser remembers each
)

// recordLimit fails when one record takes more than most bytes, or has more than marksMax separators. An open quote would otherwise
// swallow the file.
type recordLimit struct {
	r     io.Reader
	mark  []byte // a separator
	seen  int64
	most  int64
	marks int

	marksMax int
	exceeded bool // one of them
}

func (l *recordLimit) Read(p []byte) (int, error) {
	switch l.exceeded = l.seen > l.most || l.marks > l.marksMax; {
	case l.seen > l.most:
		return 0, fmt.Errorf("a record of more than %d bytes; is a quote left open?", l.most)
	case l.exceeded:
		return 0, fmt.Errorf("a record with more than %d separators; is a quote left open?", l.marksMax)
	}
	n, err := l.r.Read(p)
	l.seen += int64(n)
	l.marks += bytes.Count(p[:n], l.mark)
	return n, err
}
