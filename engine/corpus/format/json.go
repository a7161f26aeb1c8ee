package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"ndd/engine/corpus/input"
	"ndd/engine/corpus/unpack"
)

// jsonObjects yields one unit a JSON object: of an array of them, or of objects one behind the
// other, whatever lines they stand on. Where the file is no JSON any more it is damaged, as nothing
// tells where the next object begins.
func (s *stream) jsonObjects() error {
	if err := s.byteOrderMark(); err != nil {
		return err
	}
	j := &jsonSplitter{s: s, line: 1}
	c, err := j.next()
	array := err == nil && c == '['
	if array {
		j.discard(1)
	}
	n := 0
	err = s.each(func() error {
		s.good = s.r.Offset()
		c, err := j.next()
		comma := err == nil && array && n > 0 && c == ','
		if comma {
			j.discard(1)
			c, err = j.next()
		} else if err == nil && array && n > 0 && c != ']' {
			return unpack.Damage(fmt.Errorf("%q where a comma was expected", c))
		}
		n++
		switch {
		case errors.Is(err, io.EOF) && array:
			return unpack.Damage(errors.New("the array does not end: is the file cut short?"))
		case err != nil:
			return err
		case array && c == ']' && !comma:
			j.discard(1)
			if _, err := j.next(); err == nil {
				return unpack.Damage(errors.New("something else follows the array"))
			}
			return io.EOF
		}
		return j.value(c)
	})
	if err != nil {
		return err
	}
	return s.decide()
}

// jsonSplitter finds where values begin and end.
type jsonSplitter struct {
	s    *stream
	line int // of the next byte
}

// next returns the next byte that is not white space, without taking it.
func (j *jsonSplitter) next() (byte, error) {
	for {
		head, err := j.s.r.Peek(1)
		if len(head) == 0 {
			return 0, err
		}
		if c := head[0]; c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c, nil
		}
		j.discard(1)
	}
}

// discard takes bytes that have been seen.
func (j *jsonSplitter) discard(n int) {
	head, _ := j.s.r.Peek(n)
	j.line += bytes.Count(head, []byte("\n"))
	j.s.r.Discard(n)
}

// value yields the value that begins with c.
func (j *jsonSplitter) value(c byte) error {
	s := j.s
	s.line = j.line
	from := s.r.Offset()
	raw, err := j.take()
	if err == nil && c != '{' {
		err = &input.Skip{Line: s.line, Reason: input.Broken, Err: errors.New("no JSON object")}
	}
	if skip, ok := errors.AsType[*input.Skip](err); ok {
		skip.At, skip.To = from, s.r.Offset()
	}
	if err != nil {
		return err
	}
	return s.object(raw, from, from)
}

// take takes one value: to the end of an object, array or string, or to what cannot be part of a
// number or word.
func (j *jsonSplitter) take() ([]byte, error) {
	var value []byte
	tooLong, depth, inString, escaped := false, 0, false, false
	for {
		buffered, err := j.s.r.Peek(max(1, j.s.r.Buffered()))
		if len(buffered) == 0 {
			if errors.Is(err, io.EOF) {
				return nil, unpack.Damage(errors.New("a JSON value does not end: is the file cut short?"))
			}
			return nil, err
		}
		end, done := 0, false
		for end < len(buffered) && !done {
			c := buffered[end]
			switch {
			case inString:
				inString = escaped || c != '"'
				escaped = !escaped && c == '\\'
				done = !inString && depth == 0
			case c == '"':
				inString = true
			case c == '{' || c == '[':
				depth++
			case c == '}' || c == ']':
				if depth == 0 { // the end of the array that the value is in
					return j.end(value, buffered[:end], tooLong)
				}
				depth--
				done = depth == 0
			case depth == 0 && (c == ',' || c == ' ' || c == '\t' || c == '\r' || c == '\n'):
				return j.end(value, buffered[:end], tooLong)
			}
			end++
		}
		if int64(len(value)+end) > j.s.opts.MaxDocumentBytes {
			tooLong, value = true, nil
		}
		if done {
			return j.end(value, buffered[:end], tooLong)
		}
		if !tooLong {
			value = append(value, buffered[:end]...)
		}
		j.discard(end)
	}
}

// end takes the last bytes of a value.
func (j *jsonSplitter) end(value, rest []byte, tooLong bool) ([]byte, error) {
	if !tooLong {
		value = append(value, rest...)
	}
	j.discard(len(rest))
	if tooLong || int64(len(value)) > j.s.opts.MaxDocumentBytes {
		return nil, j.s.tooLarge(j.s.line)
	}
	if len(value) == 0 {
		return nil, unpack.Damage(errors.New("no JSON value where one was expected"))
	}
	return value, nil
}
