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

// A table is CSV records of which the first one, which names the fields, has been read.
type table struct {
	columns recordColumns
	fields  int    // of a record; 0 if it has not been read
	mark    string // between fields
	most    int64  // bytes of a record
}

// records yields one unit a record. Quotes may span lines: a block that does not end where a record
// does is cut in order, and so are all behind it.
func (s *stream) records() error {
	if err := s.byteOrderMark(); err != nil {
		return err
	}
	t := &table{mark: separator(s.file.Path), most: s.opts.MaxDocumentBytes}
	s.line = 1
	head, err := s.r.Peek(s.r.Size())
	if err != nil && err != io.EOF {
		return s.recordsInOrder(t, s.r, 0, s.at)
	}
	r := t.reader(bytes.NewReader(head))
	header, err := r.Read()
	n := int(r.InputOffset())
	if err != nil || n == len(head) || int64(n) > t.most || bytes.Count(head[:n], []byte(t.mark)) > csvFieldsMax {
		return s.recordsInOrder(t, s.r, 0, s.at)
	}
	if err := s.name(t, header, s.at+int64(n)); err != nil {
		return err
	}
	lines := bytes.Count(head[:n], []byte("\n"))
	s.r.Discard(n)
	s.at += int64(n)
	end := s.at
	c := s.cutting(lines, recordEnd, t.cut)
	c.most = min(c.most, csvMarksMax)
	err = c.each(func(u *cutUnit) error {
		s.line, s.good = u.Line, end
		u.From, end = end, u.To // blank lines that another block ended with are before it
		return s.emitCut(u)
	})
	if err == errInOrder {
		return s.recordsInOrder(t, c.remainder(), c.line, c.at)
	}
	return err
}

// reader returns a reader of records.
func (t *table) reader(from io.Reader) *csv.Reader {
	r := csv.NewReader(from)
	r.ReuseRecord, r.FieldsPerRecord = true, t.fields
	if t.mark == "\t" {
		r.Comma, r.LazyQuotes = '\t', true
	}
	return r
}

// name sets the fields of a table, whose first record names them and ends at an offset.
func (s *stream) name(t *table, names []string, end int64) (err error) {
	if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, "\r") }) {
		return errors.New(`its lines end with CR alone: change that first, such as by tr '\r' '\n'`)
	}
	names = slices.Clone(names)
	s.header, s.headerEnd, s.tabs = names, end, t.mark == "\t"
	t.fields = len(names)
	t.columns, err = s.opts.columns(names, func(name string) int { return slices.Index(names, name) },
		func(name string) bool { return slices.Contains(names, name) })
	if err != nil {
		return s.noFields(err)
	}
	s.chosen(t.columns.Fields)
	return nil
}

// unit returns the unit of a record.
func (t *table) unit(record []string) Unit {
	return t.columns.unit([]byte(record[t.columns.text]), func(i int) string { return strings.Clone(record[i]) })
}

// recordEnd returns where the last line of b ends before which there is an even number of quotes: as a
// rule, a record ends there.
func recordEnd(b []byte) int {
	quote := []byte(`"`)
	odd := bytes.Count(b, quote)%2 == 1
	for n := len(b); ; {
		end := bytes.LastIndexByte(b[:n], '\n') + 1
		if odd = odd != (bytes.Count(b[end:n], quote)%2 == 1); end == 0 || !odd {
			return end
		}
		n = end - 1
	}
}

// afterBlock follows a block that is taken apart: if it is a record of its own, one ends before it.
const afterBlock = "x\n"

// cut takes a block apart.
func (t *table) cut(b *block) {
	in, ended := io.Reader(bytes.NewReader(b.raw)), b.last
	if !b.last {
		in = io.MultiReader(in, strings.NewReader(afterBlock))
	}
	b.lines = bytes.Count(b.raw, []byte("\n"))
	if b.inOrder = len(b.raw) > csvMarksMax && bytes.Count(b.raw, []byte(t.mark)) > csvMarksMax; b.inOrder {
		return
	}
	r := t.reader(in)
	from := int64(0)
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			b.inOrder = !ended
			return
		}
		u := cutUnit{}
		if parse, ok := errors.AsType[*csv.ParseError](err); ok {
			u.err = &Skip{Reason: Broken, Err: parse.Err}
			u.Line = parse.StartLine
		} else {
			u.Unit = t.unit(record)
			u.Line, _ = r.FieldPos(0)
		}
		if !b.last && u.Line > b.lines {
			ended = true
			continue
		}
		u.From, u.To = from, r.InputOffset()
		if from = u.To; u.To-u.From > t.most {
			b.inOrder = true
			return
		}
		b.units = append(b.units, u)
	}
}

// recordsInOrder yields one unit a record of the bytes of r, where some lines are before, and which
// begins at an offset.
func (s *stream) recordsInOrder(t *table, r io.Reader, lines int, begin int64) error {
	limited := &recordLimit{r: r, mark: []byte(t.mark), most: min(t.most, csvHeaderMax), marksMax: csvFieldsMax}
	c := t.reader(bufio.NewReader(limited))
	if t.fields == 0 {
		header, err := c.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if parse, ok := errors.AsType[*csv.ParseError](err); ok {
			return parse.Err // without the place, which the caller names
		}
		if err != nil {
			return err
		}
		if err := s.name(t, header, begin+c.InputOffset()); err != nil {
			return err
		}
	}
	limited.most, limited.marksMax = t.most, csvMarksMax
	return s.each(func() error {
		limited.seen, limited.marks = 0, 0
		from := begin + c.InputOffset()
		s.good = from
		record, err := c.Read()
		if parse, ok := errors.AsType[*csv.ParseError](err); ok {
			s.line = lines + parse.StartLine
			return &Skip{Line: s.line, Reason: Broken, Err: parse.Err}
		}
		if limited.exceeded {
			return damage{err} // it ends the file: where the next record starts is unknown
		}
		if err != nil {
			return err
		}
		s.line, _ = c.FieldPos(0)
		s.line += lines
		u := t.unit(record)
		u.Line, u.From, u.To = s.line, from, begin+c.InputOffset()
		return s.emit(u)
	})
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
