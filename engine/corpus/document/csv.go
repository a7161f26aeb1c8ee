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

// records yields one unit a record. The first one names the fields.
func (s *stream) records() error {
	if err := s.byteOrderMark(); err != nil {
		return err
	}
	begin := s.at
	mark := separator(s.file.Path)
	limited := &recordLimit{r: s.r, mark: []byte(mark), most: min(s.opts.MaxDocumentBytes, csvHeaderMax),
		marksMax: csvFieldsMax}
	c := csv.NewReader(bufio.NewReader(limited))
	c.ReuseRecord = true
	if mark == "\t" {
		c.Comma, c.LazyQuotes = '\t', true
	}
	s.line = 1
	names, err := c.Read()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if parse, ok := errors.AsType[*csv.ParseError](err); ok {
		return parse.Err // without the place, which the caller names
	}
	if err != nil {
		return err
	}
	s.head = Head{s.head.Format, slices.Clone(names), mark == "\t", begin + c.InputOffset()}
	columns, err := s.tableColumns(s.head.Names)
	if err != nil {
		return err
	}
	limited.most, limited.marksMax = s.opts.MaxDocumentBytes, csvMarksMax
	return s.each(func() error {
		limited.seen, limited.marks = 0, 0
		from := begin + c.InputOffset()
		s.good = from
		record, err := c.Read()
		if parse, ok := errors.AsType[*csv.ParseError](err); ok {
			s.line = parse.StartLine
			return &Skip{Line: s.line, Reason: Broken, Err: parse.Err}
		}
		if limited.exceeded {
			return damage{err} // it ends the file: where the next record starts is unknown
		}
		if err != nil {
			return err
		}
		s.line, _ = c.FieldPos(0)
		u := columns.unit([]byte(record[columns.text]), func(i int) string { return strings.Clone(record[i]) })
		u.Line, u.From, u.To = s.line, from, begin+c.InputOffset()
		return s.emit(u)
	})
}

// tableColumns returns the columns to read of a table whose first record names them.
func (s *stream) tableColumns(names []string) (c recordColumns, err error) {
	if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, "\r") }) {
		return c, errors.New(`its lines end with CR alone: change that first, such as by tr '\r' '\n'`)
	}
	c, err = s.opts.columns(names, func(name string) int { return slices.Index(names, name) },
		func(name string) bool { return slices.Contains(names, name) })
	if err != nil {
		return c, s.noFields(err)
	}
	s.chosen(c.Fields)
	return c, nil
}

// separator returns a tab for .tsv, whatever compression's extension follows, and a comma
// otherwise.
func separator(path string) string {
	if strings.Contains(strings.ToLower(filepath.Base(path)), ".tsv") {
		return "\t"
	}
	return ","
}

const (
	csvHeaderMax = 1 << 20 // bytes of the record that names the fields
	csvFieldsMax = 1 << 16 // separators in it
	csvMarksMax  = 1 << 21 // separators in a record: the parser remembers each
)

// recordLimit fails when one record takes more than most bytes, or has more than marksMax
// separators. An open quote would otherwise swallow the file.
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
	n := 0
	var err error
	for m := 1; n < len(p) && m > 0 && err == nil; n += m { // as much as there is room for, whatever r has at a time
		m, err = l.r.Read(p[n:])
	}
	l.seen += int64(n)
	l.marks += bytes.Count(p[:n], l.mark)
	return n, err
}
