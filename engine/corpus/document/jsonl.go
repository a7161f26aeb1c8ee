package document

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// jsonLines yields one unit a line: of a JSON object, or of text. White space alone is no line.
func (s *stream) jsonLines() error {
	l := lines{s: s}
	if err := s.each(l.next); err != nil {
		return err
	}
	return s.noText()
}

// lines reads a stream line by line.
type lines struct {
	s     *stream
	block []byte // memory of the last lines
}

// next yields the next line, if it is more than white space.
func (l *lines) next() error {
	s := l.s
	from := s.at
	s.line, s.good = s.line+1, from
	line, err := l.read()
	if err != nil {
		return err
	}
	if from == 0 {
		line = bytes.TrimPrefix(line, []byte(utf8Mark))
	}
	line = bytes.TrimLeftFunc(line, unicode.IsSpace)
	at := s.at - int64(len(line))
	switch line = bytes.TrimSpace(line); {
	case len(line) == 0:
		return nil
	case s.head.Format == Lines:
		return s.emit(Unit{Line: s.line, From: from, To: s.at, at: at, format: Text, raw: line})
	}
	return s.object(line, from, at)
}

// read returns the next line with its end, which nobody writes to any more, io.EOF at the end of the file,
// or the skip of a line beyond the limit, which it leaves behind.
func (l *lines) read() (line []byte, err error) {
	tooLong := false
	for {
		part, err := l.s.r.ReadSlice('\n')
		l.s.at += int64(len(part))
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
	fields    *Fields // from the first one on
	held      []Unit  // the first ones, until one has the text field that the options name
	heldBytes int     // of them
	found     bool    // one has it
}

// object yields a JSON object that begins at at, behind white space from from on, and ends here. The
// first record that is an object decides which fields are taken of all.
func (s *stream) object(raw []byte, from, at int64) error {
	u := Unit{Line: s.line, From: from, To: s.at, format: JSONL, raw: raw, at: at, fields: s.objects.fields}
	if s.objects.fields == nil {
		f, ok, err := s.objectFields(raw)
		if err != nil {
			return err
		}
		if u.fields = &f; ok {
			s.chosen(f)
			s.objects.fields = &f
		}
	}
	if s.opts.TextField != "" && !s.objects.found {
		return s.hold(u)
	}
	return s.emit(u)
}

const (
	heldMax      = 1000    // records that are held back until one has the text field
	heldBytesMax = 4 << 20 // of them
)

// hold holds back the first records of a file until one has the text field that the options name.
// If none has it, the name is wrong, and the file is refused before its records are skipped one by
// one.
func (s *stream) hold(u Unit) error {
	s.objects.held = append(s.objects.held, u)
	s.objects.heldBytes += len(u.raw)
	if n, err := jsonEach(u.raw, s.opts.TextField, func([]byte) error { return nil }); err == nil && n > 0 {
		return s.release()
	}
	if len(s.objects.held) == heldMax || s.objects.heldBytes > heldBytesMax {
		return s.noText()
	}
	return nil
}

// release yields the records that were held back.
func (s *stream) release() error {
	held := s.objects.held
	s.objects.held, s.objects.found = nil, true
	for _, u := range held {
		if err := s.emit(u); err != nil {
			return err
		}
	}
	return nil
}

// noText is the error of a file without the text field, with the fields that it has. If no record
// can be read, each is skipped.
func (s *stream) noText() error {
	for _, u := range s.objects.held {
		if names := fieldNames(u.raw); len(names) > 0 {
			s.objects.held, s.line = nil, 0
			return s.noFields(&FieldError{s.opts.TextField, names})
		}
	}
	return s.release()
}

// jsonText returns the text that a field's values make: one string, or the strings of a list with a
// line end between. It may be a part of the record, and is gone with the next call.
func (e *Extractor) jsonText(record []byte, field string) (text []byte, reason Reason, err error) {
	if begins := bytes.TrimLeft(record, " \t\r\n"); !bytes.HasPrefix(begins, []byte("{")) {
		w := jsonWalker{b: record}
		if err := w.whole(func() error { return w.skip(0) }); err != nil {
			return nil, Broken, err
		}
		return nil, Broken, fmt.Errorf("a JSON %s where an object was expected", jsonKind(begins))
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
		return nil, Broken, err
	case n == 0:
		return nil, NoText, fmt.Errorf("no field %q among %.200q", field, fieldNames(record))
	case texts == 0:
		return nil, NoText, fmt.Errorf("field %q is a JSON %s, not a string", field, kind)
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
