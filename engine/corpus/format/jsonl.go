package format

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"unicode"

	"example.org/ndd/engine/corpus/text"
)

// lineReader reads a content line by line.
type lineReader struct {
	c      *Content
	format Format // the format of the units
	number int    // number of the last line
	block  []byte // memory of the last lines
}

// next returns the unit of the next line that is more than white space.
func (l *lineReader) next() (Unit, error) {
	for {
		l.number++
		u := Unit{Line: l.number, From: l.c.r.Offset(), format: l.format}
		line, err := l.read()
		if err != nil {
			return u, err
		}
		if u.From == 0 {
			line = bytes.TrimPrefix(line, []byte(text.ByteOrderMark))
		}
		line = bytes.TrimLeftFunc(line, unicode.IsSpace)
		u.To = l.c.r.Offset()
		u.rawOffset = u.To - int64(len(line))
		if u.raw = bytes.TrimSpace(line); len(u.raw) > 0 {
			return u, nil
		}
	}
}

// read returns the next line with its end. The line is never overwritten. The error is io.EOF at the end of the file,
// or the skip of a line beyond the limit.
func (l *lineReader) read() (line []byte, err error) {
	tooLong := false
	for {
		part, err := l.c.r.ReadSlice('\n')
		if tooLong = tooLong || int64(len(line)+len(part)) > l.c.opts.MaxDocumentBytes; tooLong {
			line = nil
		} else {
			line = l.extend(line, part)
		}
		switch {
		case err == bufio.ErrBufferFull:
		case err == nil, err == io.EOF && (tooLong || len(line) > 0):
			if tooLong {
				return nil, l.c.tooLarge(l.number)
			}
			return line, nil
		default:
			return nil, err
		}
	}
}

// linesBytes is the size of an allocation that several lines share. A unit keeps the whole allocation of its line, so
// the size is much less than a batch of units.
const linesBytes = 32 << 10

// extend returns a line with one more part. A short line shares memory with its neighbours.
func (l *lineReader) extend(line, part []byte) []byte {
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

// objectChoice returns the choice of the fields of JSON objects. If no record of a file has a text, the whole file is
// refused, instead of skipping its records one by one. Records that are not objects are skipped and do not decide.
func objectChoice(c *Content) *choice {
	o, texts, ids := &c.opts, fieldCount{}, fieldCount{}
	var fields *Fields
	return &choice{
		count: func(u *Unit) bool {
			o.countObject(u.raw, texts, ids)
			return len(texts) > 0 && (o.TextField != "" || texts[o.textFields()[0]] > heldMax) &&
				(o.IDField != "" || ids[IDFields[0]] > heldMax)
		},
		decide: func(held []rowUnit) (bool, error) {
			f := o.choose(texts, ids)
			fields = &f
			if len(texts) > 0 {
				c.chosen(f)
				return true, nil
			}
			f.Text = cmp.Or(f.Text, TextFields[0])
			if err := o.fieldError(held); err != nil {
				return false, c.noFields(err)
			}
			return false, nil
		},
		fill: func(u *Unit) { u.fields = fields },
	}
}
