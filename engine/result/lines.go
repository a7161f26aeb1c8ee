package result

import (
	"io"
	"math"
	"strconv"
)

// realPlaces are the decimal places of a [Real].
const realPlaces = 4

// tsvEncoder writes a line a row, below a header.
type tsvEncoder struct {
	to   io.Writer
	line []byte
}

func newTSVEncoder(w io.Writer, columns []Column) *tsvEncoder {
	e := &tsvEncoder{to: w}
	for i, c := range columns {
		e.text(i, c.Name)
	}
	e.line = append(e.line, '\n') // to be written with the first row, or by close
	return e
}

// begin appends what comes before a cell.
func (e *tsvEncoder) begin(column int) {
	if column > 0 {
		e.line = append(e.line, '\t')
	}
}

func (e *tsvEncoder) text(column int, s string) {
	e.begin(column)
	e.line = append(e.line, Escape(s)...)
}

func (e *tsvEncoder) integer(column int, v int64) {
	e.begin(column)
	e.line = strconv.AppendInt(e.line, v, 10)
}

func (e *tsvEncoder) real(column int, v float64) {
	e.begin(column)
	e.line = strconv.AppendFloat(e.line, rounded(v), 'f', realPlaces, 64)
}

func (e *tsvEncoder) flag(column int, v bool) {
	e.begin(column)
	if v {
		e.line = append(e.line, '1')
	} else {
		e.line = append(e.line, '0')
	}
}

func (e *tsvEncoder) null(column int) { e.begin(column) }

func (e *tsvEncoder) end() error {
	e.line = append(e.line, '\n')
	return e.close()
}

func (e *tsvEncoder) close() error {
	_, err := e.to.Write(e.line)
	e.line = e.line[:0]
	return err
}

// jsonEncoder writes an object a line.
type jsonEncoder struct {
	to   io.Writer
	keys []string // with what stands before and behind them
	html bool     // escape what a browser could take for markup
	line []byte
}

func newJSONEncoder(w io.Writer, columns []Column, html bool) *jsonEncoder {
	e := &jsonEncoder{to: w, html: html}
	for i, c := range columns {
		before := byte(',')
		if i == 0 {
			before = '{'
		}
		e.keys = append(e.keys, string(append(appendString([]byte{before}, c.Name, html), ':')))
	}
	return e
}

func (e *jsonEncoder) text(column int, s string) {
	e.line = appendString(append(e.line, e.keys[column]...), s, e.html)
}

func (e *jsonEncoder) integer(column int, v int64) {
	e.line = strconv.AppendInt(append(e.line, e.keys[column]...), v, 10)
}

func (e *jsonEncoder) real(column int, v float64) {
	e.line = strconv.AppendFloat(append(e.line, e.keys[column]...), rounded(v), 'g', -1, 64)
}

func (e *jsonEncoder) flag(column int, v bool) {
	e.line = strconv.AppendBool(append(e.line, e.keys[column]...), v)
}

func (e *jsonEncoder) null(column int) {
	e.line = append(append(e.line, e.keys[column]...), "null"...)
}

func (e *jsonEncoder) end() error {
	_, err := e.to.Write(append(e.line, "}\n"...))
	e.line = e.line[:0]
	return err
}

func (e *jsonEncoder) close() error { return nil }

// rounded returns v with the places that a [Real] is written with.
func rounded(v float64) float64 {
	scale := math.Pow10(realPlaces)
	return math.Round(v*scale) / scale
}
