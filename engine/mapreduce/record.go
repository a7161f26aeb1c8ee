package mapreduce

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"strings"
)

// A record is one line: a key, a tab, a value. Both are printable ASCII, so that no framework, locale or
// splitter of lines changes them. Keys are compared as bytes.
type record struct{ key, value []byte }

// cut takes a line apart: at its first tab, as frameworks do. A line without one is a key.
func cut(line []byte) record {
	if i := bytes.IndexByte(line, '\t'); i >= 0 {
		return record{line[:i], line[i+1:]}
	}
	return record{line, nil}
}

// check returns an error for what is no record.
func (r record) check() error {
	for _, part := range [][]byte{r.key, r.value} {
		for i, c := range part {
			if c < ' ' || c > '~' {
				return fmt.Errorf("byte 0x%02x at %d of %.40q: records are printable ASCII, other bytes are escaped", c, i, part)
			}
		}
	}
	return nil
}

// appendEscaped appends a text as a field: printable ASCII, without space, so that fields can be separated by
// spaces, and never empty. IDs may hold any bytes.
//
//	a b\c  ->  a\sb\\c        naïve  ->  na\xc3\xafve        (empty)  ->  \e
func appendEscaped(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, `\e`...)
	}
	for i := range len(s) {
		c := s[i]
		if at := strings.IndexByte(escapedBytes, c); at >= 0 {
			dst = append(dst, '\\', escapeLetters[at])
		} else if c <= ' ' || c > '~' || c == '~' && i == 0 { // so begins the key of an end record
			dst = append(dst, '\\', 'x', hexDigits[c>>4], hexDigits[c&15])
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

const (
	escapedBytes  = "\\ \t\n\r"
	escapeLetters = `\stnr`
	hexDigits     = "0123456789abcdef"
)

var errEscape = errors.New("not an escaped field")

// unescape returns the text of a field that appendEscaped wrote, and an error for any other.
func unescape(field []byte) (string, error) {
	if string(field) == `\e` {
		return "", nil
	}
	if len(field) == 0 {
		return "", fmt.Errorf("%w: empty", errEscape)
	}
	if bytes.IndexByte(field, '\\') < 0 {
		return string(field), nil
	}
	out := make([]byte, 0, len(field))
	for i := 0; i < len(field); i++ {
		if field[i] != '\\' {
			out = append(out, field[i])
			continue
		}
		if i++; i == len(field) {
			return "", fmt.Errorf("%w: %.40q", errEscape, field)
		}
		if at := strings.IndexByte(escapeLetters, field[i]); at >= 0 {
			out = append(out, escapedBytes[at])
			continue
		}
		if field[i] != 'x' || i+2 >= len(field) {
			return "", fmt.Errorf("%w: %.40q", errEscape, field)
		}
		high, low := strings.IndexByte(hexDigits, field[i+1]), strings.IndexByte(hexDigits, field[i+2])
		if high < 0 || low < 0 {
			return "", fmt.Errorf("%w: %.40q", errEscape, field)
		}
		out = append(out, byte(high<<4|low))
		i += 2
	}
	return string(out), nil
}

// digits write numbers in base 64. They ascend as bytes do, so numbers of one width sort as texts.
const digits = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"

// digitOf has the value of a digit, and 0xff for other bytes.
var digitOf = func() (values [256]byte) {
	for i := range values {
		values[i] = 0xff
	}
	for i := range len(digits) {
		values[digits[i]] = byte(i)
	}
	return values
}()

// Widths of numbers in digits.
const (
	printDigits = 11 // 64 bits
	rowDigits   = 6  // of a file of queries: 2^36
	partDigits  = 2  // of a partition's number
)

// appendNumber appends the lowest width digits of v.
func appendNumber(dst []byte, v uint64, width int) []byte {
	for i := width - 1; i >= 0; i-- {
		dst = append(dst, digits[v>>(6*i)&63])
	}
	return dst
}

// number returns the number that digits write, and false where they are none, or more than 64 bits.
func number(text []byte) (v uint64, ok bool) {
	for _, c := range text {
		d := digitOf[c]
		if d == 0xff || bits.LeadingZeros64(v) < 6 {
			return 0, false
		}
		v = v<<6 | uint64(d)
	}
	return v, len(text) > 0
}
