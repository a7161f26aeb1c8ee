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
	c := s.cutting(0, func(b []byte) int { return bytes.LastIndexByte(b, '\n') + 1 }, s.cutLines)
	c.long = c.longLine
	if err := c.each(func(u *cutUnit) error {
		s.line, s.good, s.at = u.Line, u.From, u.To
		if u.err != nil || s.format == Lines {
			u.format = Text
			return s.emitCut(u)
		}
		return s.object(u.raw, u.From, u.at)
	}); err != nil {
		return err
	}
	return s.noText()
}

// cutLines cuts a block into lines.
func (s *stream) cutLines(b *block) {
	b.units = make([]cutUnit, 0, bytes.Count(b.raw, []byte("\n"))+1)
	for at, end := 0, 0; at < len(b.raw); at = end {
		end = len(b.raw)
		if n := bytes.IndexByte(b.raw[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		b.lines++
		u := cutUnit{Unit: Unit{Line: b.lines, From: int64(at), To: int64(end)}}
		line := b.raw[at:end:end]
		if b.from == 0 && at == 0 {
			line = bytes.TrimPrefix(line, []byte(utf8Mark))
		}
		line = bytes.TrimLeftFunc(line, unicode.IsSpace)
		u.at = int64(end - len(line))
		u.raw = bytes.TrimSpace(line)
		switch {
		case int64(end-at) > s.opts.MaxDocumentBytes:
			u.err = s.tooLarge(0)
		case len(u.raw) == 0:
			continue
		}
		b.units = append(b.units, u)
	}
}

// longLine makes a block of a line beyond the limit, which it leaves behind, or nil if reading fails.
func (c *cutting) longLine(b *block) *block {
	b.raw, b.size, c.rest = nil, int64(len(c.rest)), nil
	for {
		part, err := c.s.r.ReadSlice('\n')
		b.size += int64(len(part))
		if err == bufio.ErrBufferFull {
			continue
		}
		if c.err = err; err != nil && err != io.EOF {
			return nil
		}
		b.lines, b.units = 1, []cutUnit{{Unit{Line: 1, To: b.size}, c.s.tooLarge(0)}}
		return b
	}
}

// object yields a JSON object that begins at at, behind white space from from on, and ends here. The
// first record that is an object decides which fields are taken of all.
func (s *stream) object(raw []byte, from, at int64) error {
	u := Unit{Line: s.line, From: from, To: s.at, format: JSONL, raw: raw, at: at, fields: s.fields}
	if s.fields == nil {
		f, ok, err := s.objectFields(raw)
		if err != nil {
			return err
		}
		if u.fields = &f; ok {
			s.chosen(f)
			s.fields = &f
		}
	}
	if s.opts.TextField != "" && !s.found {
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
	s.held = append(s.held, u)
	s.heldBytes += len(u.raw)
	if n, err := jsonEach(u.raw, s.opts.TextField, func([]byte) error { return nil }); err == nil && n > 0 {
		return s.release()
	}
	if len(s.held) == heldMax || s.heldBytes > heldBytesMax {
		return s.noText()
	}
	return nil
}

// release yields the records that were held back.
func (s *stream) release() error {
	held := s.held
	s.held, s.found = nil, true
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
	for _, u := range s.held {
		if names := fieldNames(u.raw); len(names) > 0 {
			s.held, s.line = nil, 0
			return s.noFields(&FieldError{s.opts.TextField, names})
		}
	}
	return s.release()
}

// jsonFields returns the ID ("" if there is none), text and values of a record. The text may be a
// part of the record, and is gone with the next call.
func (e *Extractor) jsonFields(record []byte, names *Fields) (id string, text []byte, values []Value,
	reason Reason, err error) {
	text, reason, err = e.jsonText(record, names.Text)
	if err != nil {
		return "", nil, nil, reason, err
	}
	if id, _, err = jsonScalar(record, names.ID, false); err != nil {
		return "", nil, nil, Broken, err
	}
	values = e.opts.values(func(field string) (v Value) {
		v.Text, v.Found, _ = jsonScalar(record, field, e.opts.FirstValue)
		return v
	})
	return id, text, values, "", nil
}

// jsonText returns the text that a field's values make: one string, or the strings of a list with a
// line end between.
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
