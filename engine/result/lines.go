package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"ndd/engine/corpus/simhash"
)

// realPlaces are the decimal places of a [Real].
const realPlaces = 4

// tsvEncoder writes a line a row, below a header.
type tsvEncoder struct {
	to   io.Writer
	line []byte
}

// newTSVEncoder returns an encoder that writes the header with the first row, or at the end.
func newTSVEncoder(w io.Writer, columns []Column) *tsvEncoder {
	e := &tsvEncoder{to: w}
	for i, c := range columns {
		e.text(i, c.Name)
	}
	e.line = append(e.line, '\n')
	return e
}

// begin appends the separator before a cell.
func (e *tsvEncoder) begin(column int) {
	if column > 0 {
		e.line = append(e.line, '\t')
	}
}

func (e *tsvEncoder) text(column int, s string) {
	e.begin(column)
	e.line = append(e.line, Escape(s)...)
}

func (e *tsvEncoder) print(column int, f simhash.Fingerprint) {
	e.begin(column)
	e.line = f.Append(e.line)
}

func (e *tsvEncoder) integer(column int, v int64) {
	e.begin(column)
	e.line = strconv.AppendInt(e.line, v, 10)
}

func (e *tsvEncoder) real(column int, v float64) {
	e.begin(column)
	e.line = AppendReal(e.line, v)
}

// AppendReal appends a number as tables in text write it.
func AppendReal(dst []byte, v float64) []byte {
	return strconv.AppendFloat(dst, Rounded(v), 'f', realPlaces, 64)
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

func (e *jsonEncoder) print(column int, f simhash.Fingerprint) {
	e.line = append(f.Append(append(append(e.line, e.keys[column]...), '"')), '"')
}

func (e *jsonEncoder) integer(column int, v int64) {
	e.line = strconv.AppendInt(append(e.line, e.keys[column]...), v, 10)
}

func (e *jsonEncoder) real(column int, v float64) {
	e.line = strconv.AppendFloat(append(e.line, e.keys[column]...), Rounded(v), 'g', -1, 64)
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

// Rounded returns v with the places that a [Real] is written with.
func Rounded(v float64) float64 {
	scale := math.Pow10(realPlaces)
	return math.Round(v*scale) / scale
}

// escapes replaces the characters that would break a line of tab-separated fields.
var escapes = strings.NewReplacer("\t", `\t`, "\n", `\n`, "\r", `\r`, `\`, `\\`)

// Escape returns s with tabs, line ends and backslashes written as \t, \n, \r and \\, so that it
// can be a field of a tab-separated line. It returns s itself, without allocation, where it has
// none of them.
func Escape(s string) string {
	for i := range len(s) {
		switch s[i] {
		case '\t', '\n', '\r', '\\':
			return escapes.Replace(s)
		}
	}
	return s
}

// appendString appends what encoding/json makes of a string; nearly all have nothing to escape.
func appendString(dst []byte, s string, html bool) []byte {
	if isPlain(s, html) {
		dst = append(dst, '"')
		dst = append(dst, s...)
		return append(dst, '"')
	}
	out := bytes.NewBuffer(dst)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(html)
	if err := enc.Encode(s); err != nil {
		panic(fmt.Sprintf("result: a string without JSON: %v", err)) // there is none
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// isPlain reports whether JSON has the string as it is between quotation marks.
func isPlain(s string, html bool) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' || c >= 0x7f || c == '"' || c == '\\':
			return false
		case html && (c == '<' || c == '>' || c == '&'):
			return false
		}
	}
	return true
}
