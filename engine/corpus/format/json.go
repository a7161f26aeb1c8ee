package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"example.org/ndd/engine/corpus/input"
	"example.org/ndd/engine/corpus/unpack"
)

// jsonObjects yields one unit for each JSON object. The objects are in an array, or follow each other on any lines. The
// file is damaged from the first byte that is not JSON, because the beginning of the next object is unknown.
func jsonObjects(c *Content) iter.Seq2[Unit, error] {
	return objectChoice(c).units(each((&jsonSplitter{c: c, line: 1}).next))
}

// jsonSplitter finds where values begin and end.
type jsonSplitter struct {
	c       *Content
	line    int  // line of the next byte
	begin   int  // line where the last value begins
	n       int  // values so far
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
			j.discard(1)
		}
	}
	// Pass over the comma between two values.
	place := Unit{Line: j.begin, From: j.c.r.Offset()}
	c, err := j.peek()
	isNext := err == nil && j.isArray && j.n > 0
	comma := isNext && c == ','
	switch {
	case comma:
		j.discard(1)
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
		j.discard(1)
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
		j.discard(1)
	}
}

// discard takes bytes that have been seen.
func (j *jsonSplitter) discard(n int) {
	head, _ := j.c.r.Peek(n)
	j.line += bytes.Count(head, []byte("\n"))
	j.c.r.Discard(n)
}

// value returns the unit of the value that begins with c. The white space before the value begins at place.
func (j *jsonSplitter) value(c byte, place Unit) (Unit, error) {
	j.begin = j.line
	from := j.c.r.Offset()
	raw, err := j.take()
	if err == nil && c != '{' {
		err = &input.Skip{Line: j.begin, Reason: input.Broken, Err: errors.New("no JSON object")}
	}
	u := Unit{Line: j.begin, From: from, To: j.c.r.Offset(), format: JSONL, raw: raw, rawOffset: from}
	if skip, ok := errors.AsType[*input.Skip](err); ok {
		skip.At, skip.To = from, u.To
	} else if err != nil {
		u.From = place.From
	}
	return u, err
}

// take takes one value: to the end of an object, array or string, or to what cannot be part of a
// number or word.
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
		j.discard(end)
	}
}

// end takes the last bytes of a value.
func (j *jsonSplitter) end(value, rest []byte, tooLong bool) ([]byte, error) {
	if !tooLong {
		value = append(value, rest...)
	}
	j.discard(len(rest))
	if tooLong || int64(len(value)) > j.c.opts.MaxDocumentBytes {
		return nil, j.c.tooLarge(j.begin)
	}
	if len(value) == 0 {
		return nil, unpack.Damage(errors.New("no JSON value where one was expected"))
	}
	return value, nil
}
