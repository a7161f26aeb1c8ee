package format

import (
	"errors"
	"fmt"
	"io"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/unpack"
)

// jsonSplitter finds the JSON objects of a file. They are in an array, or follow each other on any lines. The file is
// damaged from the first byte that is not JSON, because the beginning of the next object is unknown. The Line of a unit
// is the number of its value, from 1, because several values may be on one line.
type jsonSplitter struct {
	c       *Content
	n       int  // number of the last value, from 1
	isBegun bool // the beginning has been read
	isArray bool
}

// next returns the unit of the next object.
func (j *jsonSplitter) next() (Unit, error) {
	// Read the beginning of the file, which may open an array.
	if !j.isBegun {
		j.isBegun = true
		j.c.skipMark()
		if c, err := j.peek(); err == nil && c == '[' {
			j.isArray = true
			j.c.r.Discard(1)
		}
	}
	// Pass over the comma between two values.
	place := Unit{Line: j.n, From: j.c.r.Offset()}
	c, err := j.peek()
	isNext := err == nil && j.isArray && j.n > 0
	comma := isNext && c == ','
	switch {
	case comma:
		j.c.r.Discard(1)
		c, err = j.peek()
	case isNext && c != ']':
		return place, unpack.Damage(fmt.Errorf("%q where a comma was expected", c))
	}
	// Stop at the end of the array or of the file.
	j.n++
	switch {
	case errors.Is(err, io.EOF) && j.isArray:
		return place, unpack.Damage(errors.New("the array does not end: is the file cut short?"))
	case err != nil:
		return place, err
	case j.isArray && c == ']' && !comma:
		j.c.r.Discard(1)
		if _, err := j.peek(); err == nil {
			return place, unpack.Damage(errors.New("something else follows the array"))
		}
		return place, io.EOF
	}
	return j.value(c, place)
}

// peek returns the next byte that is not white space, without taking it.
func (j *jsonSplitter) peek() (byte, error) {
	for {
		head, err := j.c.r.Peek(1)
		if len(head) == 0 {
			return 0, err
		}
		if c := head[0]; c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c, nil
		}
		j.c.r.Discard(1)
	}
}

// value returns the unit of the value that begins with c. The white space before the value begins at place.
func (j *jsonSplitter) value(c byte, place Unit) (Unit, error) {
	from := j.c.r.Offset()
	raw, err := j.take()
	if err == nil && c != '{' {
		err = &input.Skip{Line: j.n, Reason: input.Broken, Err: errors.New("no JSON object")}
	}
	u := Unit{Line: j.n, From: from, To: j.c.r.Offset(), format: JSONL, raw: raw, rawOffset: from}
	if skip, ok := errors.AsType[*input.Skip](err); ok {
		skip.Offset, skip.End = from, u.To
	} else if err != nil {
		u.From = place.From
	}
	return u, err
}

// take takes one value. It ends after an object, array or string, or before a byte that cannot be part of a number or
// word.
func (j *jsonSplitter) take() ([]byte, error) {
	var value []byte
	tooLong, depth, inString, escaped := false, 0, false, false
	for {
		// Look at the bytes that are buffered.
		buffered, err := j.c.r.Peek(max(1, j.c.r.Buffered()))
		if len(buffered) == 0 {
			if errors.Is(err, io.EOF) {
				return nil, unpack.Damage(errors.New("a JSON value does not end: is the file cut short?"))
			}
			return nil, err
		}
		// Find the end of the value among them.
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
		// Keep them, unless the value is too long.
		if int64(len(value)+end) > j.c.opts.MaxDocumentBytes {
			tooLong, value = true, nil
		}
		if done {
			return j.end(value, buffered[:end], tooLong)
		}
		if !tooLong {
			value = append(value, buffered[:end]...)
		}
		j.c.r.Discard(end)
	}
}

// end takes the last bytes of a value.
func (j *jsonSplitter) end(value, rest []byte, tooLong bool) ([]byte, error) {
	if !tooLong {
		value = append(value, rest...)
	}
	j.c.r.Discard(len(rest))
	if tooLong || int64(len(value)) > j.c.opts.MaxDocumentBytes {
		return nil, j.c.tooLarge(j.n)
	}
	if len(value) == 0 {
		return nil, unpack.Damage(errors.New("no JSON value where one was expected"))
	}
	return value, nil
}
