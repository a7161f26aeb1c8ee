package document

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/valyala/fastjson"
)

// jsonLines yields one unit a line: of a JSON object, or of text. White space alone is no line.
func (s *stream) jsonLines() error {
	for {
		from := s.at
		s.good = from
		line, err := s.readLine()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if skip := (*Skip)(nil); errors.As(err, &skip) {
			if err = s.skip(skip); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		if s.line == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if s.format == Lines {
			err = s.emit(Unit{Line: s.line, From: from, To: s.at, format: Text, raw: line})
		} else {
			err = s.object(line, from)
		}
		if err != nil {
			return err
		}
	}
}

// object yields a JSON object that begins at from and ends here. The first one that is an object tells which fields are taken of all.
func (s *stream) object(raw []byte, from int64) error {
	fields := s.fields
	if fields == nil {
		f, ok, err := s.objectFields(raw)
		if err != nil {
			return err
		}
		if fields = &f; ok {
			s.chosen(f)
			s.fields = fields
		}
	}
	return s.emit(Unit{Line: s.line, From: from, To: s.at, format: JSONL, raw: raw, fields: fields})
}

// readLine returns the next line in memory that no other line has, io.EOF at the end, or a skip for a line beyond the
// limit, which it leaves behind.
func (s *stream) readLine() ([]byte, error) {
	s.line++
	var line []byte
	tooLong := false
	for {
		part, err := s.r.ReadSlice('\n')
		s.at += int64(len(part))
		if int64(len(line)+len(part)) > s.opts.MaxDocumentBytes {
			tooLong, line = true, nil
		}
		switch {
		case err == nil && len(line) == 0 && !tooLong:
			return s.keep(part), nil
		case !tooLong:
			line = append(line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && (tooLong || len(line) > 0):
		case err != nil:
			return nil, err
		}
		if tooLong {
			return nil, s.tooLarge(s.line)
		}
		return line, nil
	}
}

// lineBlockBytes is how much memory is taken at a time for lines: much less than a batch of units has, since the last unit
// that lies in a block keeps all of it.
const lineBlockBytes = 32 << 10

// keep copies a line into memory that it shares with its neighbours, unless it is long.
func (s *stream) keep(line []byte) []byte {
	if len(line) > lineBlockBytes/4 {
		return bytes.Clone(line)
	}
	if len(line) > cap(s.lines)-len(s.lines) {
		s.lines = make([]byte, 0, lineBlockBytes)
	}
	from := len(s.lines)
	s.lines = append(s.lines, line...)
	return s.lines[from:len(s.lines):len(s.lines)]
}

// jsonFields parses a line and gives its id ("" if there is none), text and value.
func (e *Extractor) jsonFields(line []byte, names *Fields) (id string, text []byte, value Value, reason Reason, err error) {
	v, err := e.json.ParseBytes(line)
	if err != nil {
		// The parser's errors go on to quote the rest of the line, which may be long.
		cause, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "cannot parse JSON: "), "; unparsed tail")
		return "", nil, Value{}, Broken, fmt.Errorf("%.160s", cause)
	}
	if v.Type() != fastjson.TypeObject {
		return "", nil, Value{}, Broken, fmt.Errorf("a JSON %s where an object was expected", v.Type())
	}
	field := jsonField(v, names.Text)
	if field == nil {
		return "", nil, Value{}, NoText, fmt.Errorf("no field %q among %.200q", names.Text, fieldNames(v))
	}
	if field.Type() != fastjson.TypeString {
		return "", nil, Value{}, NoText, fmt.Errorf("field %q is a JSON %s, not a string", names.Text, field.Type())
	}
	text, err = field.StringBytes()
	if err != nil {
		return "", nil, Value{}, Broken, err
	}
	id, _ = jsonScalar(jsonField(v, names.ID))
	for _, name := range e.opts.ValueFields {
		if s, ok := jsonScalar(jsonField(v, name)); ok {
			value = Value{Text: s, Found: true}
			break
		}
	}
	return id, text, value, "", nil
}

// fieldNames returns the names of an object's fields, in order.
func fieldNames(object *fastjson.Value) (names []string) {
	object.GetObject().Visit(func(key []byte, _ *fastjson.Value) { names = append(names, string(key)) })
	return names
}

// jsonScalar returns the content of a string, or a number as it is written.
func jsonScalar(field *fastjson.Value) (s string, ok bool) {
	if field == nil {
		return "", false
	}
	switch field.Type() {
	case fastjson.TypeString:
		b, err := field.StringBytes()
		return string(b), err == nil
	case fastjson.TypeNumber:
		return field.String(), true
	}
	return "", false
}

// jsonField finds a field by its name, or else by the path that its dots describe.
func jsonField(v *fastjson.Value, name string) *fastjson.Value {
	if name == "" {
		return nil
	}
	if field := v.Get(name); field != nil {
		return field
	}
	if strings.Contains(name, ".") {
		return v.Get(strings.Split(name, ".")...)
	}
	return nil
}
