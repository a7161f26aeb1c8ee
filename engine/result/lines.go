package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"example.org/ndd/engine/corpus/simhash"
)

// realPlaces is the number of decimal places of a [Real].
const realPlaces = 4

// A lineEncoder writes a row as a line of TSV with a header, or as a JSON object.
type lineEncoder struct {
	writer   io.Writer
	isJSON   bool
	prefixes []string // for each cell: its separator, and in JSON its key
	line     []byte
}

// newTSVEncoder returns an encoder that writes the header with the first row, or at the end if there is no row.
func newTSVEncoder(w io.Writer, columns []Column) *lineEncoder {
	e := &lineEncoder{writer: w}
	for i, c := range columns {
		e.prefixes = append(e.prefixes, "\t"[:min(i, 1)])
		e.text(i, c.Name)
	}
	e.line = append(e.line, '\n')
	return e
}

func newJSONEncoder(w io.Writer, columns []Column) *lineEncoder {
	e := &lineEncoder{writer: w, isJSON: true}
	for i, c := range columns {
		separator := byte(',')
		if i == 0 {
			separator = '{'
		}
		e.prefixes = append(e.prefixes, string(append(appendString([]byte{separator}, c.Name), ':')))
	}
	return e
}

func (e *lineEncoder) text(column int, s string) {
	e.line = append(e.line, e.prefixes[column]...)
	if e.isJSON {
		e.line = appendString(e.line, s)
	} else {
		e.line = append(e.line, Escape(s)...)
	}
}

func (e *lineEncoder) fingerprint(column int, f simhash.Fingerprint) {
	e.line = append(e.line, e.prefixes[column]...)
	if e.isJSON {
		e.line = append(f.Append(append(e.line, '"')), '"')
	} else {
		e.line = f.Append(e.line)
	}
}

func (e *lineEncoder) integer(column int, v int64) {
	e.line = strconv.AppendInt(append(e.line, e.prefixes[column]...), v, 10)
}

func (e *lineEncoder) real(column int, v float64) {
	e.line = append(e.line, e.prefixes[column]...)
	if e.isJSON {
		e.line = strconv.AppendFloat(e.line, Rounded(v), 'g', -1, 64)
	} else {
		e.line = AppendReal(e.line, v)
	}
}

// AppendReal appends a number in the form of text tables.
func AppendReal(dst []byte, v float64) []byte {
	return strconv.AppendFloat(dst, Rounded(v), 'f', realPlaces, 64)
}

func (e *lineEncoder) flag(column int, v bool) {
	e.line = append(e.line, e.prefixes[column]...)
	switch {
	case e.isJSON:
		e.line = strconv.AppendBool(e.line, v)
	case v:
		e.line = append(e.line, '1')
	default:
		e.line = append(e.line, '0')
	}
}

func (e *lineEncoder) null(column int) {
	e.line = append(e.line, e.prefixes[column]...)
	if e.isJSON {
		e.line = append(e.line, "null"...)
	}
}

func (e *lineEncoder) end() error {
	if e.isJSON {
		e.line = append(e.line, '}')
	}
	e.line = append(e.line, '\n')
	return e.close()
}

func (e *lineEncoder) close() error {
	if len(e.line) == 0 {
		return nil
	}
	_, err := e.writer.Write(e.line)
	e.line = e.line[:0]
	return err
}

// Rounded returns v rounded to the decimal places of a [Real].
func Rounded(v float64) float64 {
	scale := math.Pow10(realPlaces)
	return math.Round(v*scale) / scale
}

// escapes replaces the characters that would break a line of tab-separated fields.
var escapes = strings.NewReplacer("\t", `\t`, "\n", `\n`, "\r", `\r`, `\`, `\\`)

// Escape returns s with tabs, line ends and backslashes written as \t, \n, \r and \\, for a field of a tab-separated
// line. If s has none of them, it returns s without an allocation.
func Escape(s string) string {
	for i := range len(s) {
		switch s[i] {
		case '\t', '\n', '\r', '\\':
			return escapes.Replace(s)
		}
	}
	return s
}

// appendString appends a string in the form of encoding/json. Nearly all strings need no escapes.
func appendString(dst []byte, s string) []byte {
	if isPlain(s) {
		dst = append(dst, '"')
		dst = append(dst, s...)
		return append(dst, '"')
	}
	out := bytes.NewBuffer(dst)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(fmt.Sprintf("result: a string without JSON: %v", err)) // encoding a string does not fail
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// isPlain reports whether JSON contains the string unchanged between quotation marks.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
