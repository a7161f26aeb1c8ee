package format

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"ndd/engine/corpus/input"
	"ndd/engine/corpus/text"
)

// jsonLines yields one unit a line: of a JSON object, or of text. White space alone is no line.
func (s *stream) jsonLines() error {
	l := lines{s: s}
	if err := s.each(l.next); err != nil {
		return err
	}
	return s.decide()
}

// lines reads a stream line by line.
type lines struct {
	s     *stream
	block []byte // memory of the last lines
}

// next yields the next line, if it is more than white space.
func (l *lines) next() error {
	s := l.s
	from := s.r.Offset()
	s.line, s.good = s.line+1, from
	line, err := l.read()
	if err != nil {
		return err
	}
	if from == 0 {
		line = bytes.TrimPrefix(line, []byte(text.ByteOrderMark))
	}
	line = bytes.TrimLeftFunc(line, unicode.IsSpace)
	at := s.r.Offset() - int64(len(line))
	switch line = bytes.TrimSpace(line); {
	case len(line) == 0:
		return nil
	case s.head.Format == Lines:
		return s.emit(Unit{Line: s.line, From: from, To: s.r.Offset(), at: at, format: Text, raw: line})
	}
	return s.object(line, from, at)
}

// read returns the next line with its end, which nobody writes to any more, io.EOF at the end of the file,
// or the skip of a line beyond the limit, which it leaves behind.
func (l *lines) read() (line []byte, err error) {
	tooLong := false
	for {
		part, err := l.s.r.ReadSlice('\n')
		if tooLong = tooLong || int64(len(line)+len(part)) > l.s.opts.MaxDocumentBytes; tooLong {
			line = nil
		} else {
			line = l.extend(line, part)
		}
		switch {
		case err == bufio.ErrBufferFull:
		case err == nil, err == io.EOF && (tooLong || len(line) > 0):
			if tooLong {
				return nil, l.s.tooLarge(l.s.line)
			}
			return line, nil
		default:
			return nil, err
		}
	}
}

// linesBytes is how much memory is taken at a time for lines: much less than a batch of units has, since
// the last unit that lies in a block keeps all of it.
const linesBytes = 32 << 10

// extend returns a line with one more part. A short line shares memory with those beside it.
func (l *lines) extend(line, part []byte) []byte {
	if len(line) > 0 || len(part) > linesBytes/4 {
		return append(line, part...)
	}
	if len(part) > cap(l.block)-len(l.block) {
		l.block = make([]byte, 0, linesBytes)
	}
	from := len(l.block)
	l.block = append(l.block, part...)
	return l.block[from:len(l.block):len(l.block)]
}

// objects is the state of reading the JSON objects of a file.
type objects struct {
	fields     *Fields      // nil until the first records have decided
	held       []heldRecord // the first ones
	heldBytes  int          // of them
	texts, ids fieldCount   // of them
}

// A heldRecord is a unit, or a skip in its place.
type heldRecord struct {
	unit Unit
	skip *input.Skip
}

const (
	heldMax      = 1000    // records that decide which fields are taken of all
	heldBytesMax = 4 << 20 // of them
)

// object yields a JSON object that begins at at, behind white space from from on, and ends here. The first
// records are held back until they have decided which fields are taken of all.
func (s *stream) object(raw []byte, from, at int64) error {
	o := &s.objects
	u := Unit{Line: s.line, From: from, To: s.r.Offset(), format: JSONL, raw: raw, at: at, fields: o.fields}
	if o.fields != nil {
		return s.emit(u)
	}
	if o.texts == nil {
		o.texts, o.ids = fieldCount{}, fieldCount{}
	}
	o.held, o.heldBytes = append(o.held, heldRecord{unit: u}), o.heldBytes+len(raw)
	s.opts.countObject(raw, o.texts, o.ids)
	known := len(o.texts) > 0 && (s.opts.TextField != "" || o.texts[s.opts.textFields()[0]] > heldMax)
	if known && (s.opts.IDField != "" || o.ids[IDFields[0]] > heldMax) || len(o.held) == heldMax || o.heldBytes > heldBytesMax {
		return s.decide()
	}
	return nil
}

// decide yields the records that were held back, with the fields that most of them have. If none has a text, the file is
// refused before its records are skipped one by one; those that are no objects are skipped, and the next ones decide.
func (s *stream) decide() error {
	o := &s.objects
	held, f := o.held, s.opts.choose(o.texts, o.ids)
	o.held, o.heldBytes = nil, 0
	if len(held) == 0 {
		return nil
	}
	if len(o.texts) == 0 {
		if err := s.opts.fieldError(held); err != nil {
			s.line = 0
			return s.noFields(err)
		}
		f.Text = cmp.Or(f.Text, TextFields[0])
	} else {
		s.chosen(f)
		o.fields = &f
	}
	for _, r := range held {
		var err error
		if r.skip != nil {
			err = s.yieldSkip(r.skip)
		} else {
			r.unit.fields = &f
			err = s.emit(r.unit)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// recordField returns the first of the fields, with commas between them, that a record has as a text that is not empty,
// else the first that is a text, else the last one.
func recordField(record []byte, fields string) (field string) {
	if !strings.Contains(fields, ",") {
		return fields
	}
	empty := ""
	for field = range strings.SplitSeq(fields, ",") {
		longest := 0
		jsonEach(record, field, func(v []byte) error {
			if jsonKind(v) == "string" {
				longest = max(longest, len(v))
			}
			return nil
		})
		if longest > len(`""`) {
			return field
		}
		if longest > 0 {
			empty = cmp.Or(empty, field)
		}
	}
	return cmp.Or(empty, field)
}

// jsonText returns the text that a field's values make: one string, or the strings of a list with a
// line end between. It may be a part of the record, and is gone with the next call.
func (e *Extractor) jsonText(record []byte, field string) (text []byte, reason input.Reason, err error) {
	if begins := bytes.TrimLeft(record, " \t\r\n"); !bytes.HasPrefix(begins, []byte("{")) {
		w := jsonWalker{b: record}
		if err := w.whole(func() error { return w.skip(0) }); err != nil {
			return nil, input.Broken, err
		}
		return nil, input.Broken, fmt.Errorf("a JSON %s where an object was expected", jsonKind(begins))
	}
	texts, kind := 0, ""
	n, err := jsonEach(record, field, func(v []byte) (err error) {
		if kind = jsonKind(v); kind != "string" {
			return nil
		}
		if texts++; texts == 1 {
			text = v[1 : len(v)-1] // a part of the record will do
			if bytes.IndexByte(text, '\\') >= 0 || !utf8.Valid(text) {
				e.text, err = unquote(e.text[:0], text)
				text = e.text
			}
		} else {
			if texts == 2 {
				e.text = append(e.text[:0], text...)
			}
			e.text, err = unquote(append(e.text, '\n'), v[1:len(v)-1])
			text = e.text
		}
		if err != nil {
			return fmt.Errorf("field %q %w", field, err)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, input.Broken, err
	case n == 0:
		return nil, input.NoText, fmt.Errorf("no field %q among %.200q", field, fieldNames(record))
	case texts == 0:
		advice := innerText(record, field)
		if advice != "" {
			advice = "; --text " + advice + " names the texts in it"
		}
		return nil, input.NoText, fmt.Errorf("field %q is a JSON %s, not a string%s", field, kind, advice)
	}
	return text, "", nil
}

// jsonScalar returns the content of a string, or a number as it is written. A field that is
// missing has none, nor has one with several values, unless the first is wanted.
func jsonScalar(record []byte, field string, first bool) (s string, ok bool, err error) {
	if field == "" {
		return "", false, nil
	}
	var v []byte
	n, err := jsonEach(record, field, func(value []byte) error {
		if v == nil {
			v = value
		}
		return nil
	})
	if err != nil || n == 0 || n > 1 && !first {
		return "", false, err
	}
	switch jsonKind(v) {
	case "string":
		content, err := unquote(nil, v[1:len(v)-1])
		if err != nil {
			return "", false, fmt.Errorf("field %q %w", field, err)
		}
		return string(content), true, nil
	case "number":
		return string(v), true, nil
	}
	return "", false, nil
}
