package mapreduce

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"example.org/ndd/engine/corpus/simhash"
)

// A record is one line: a key, a tab, a value. Both are printable ASCII, so that no framework,
// locale or splitter of lines changes them. Keys are compared as bytes.
type record struct{ key, value []byte }

// cut splits a line at its first tab, as frameworks do. A line without one is a key.
func cut(line []byte) record {
	if i := bytes.IndexByte(line, '\t'); i >= 0 {
		return record{line[:i], line[i+1:]}
	}
	return record{line, nil}
}

// check returns an error for a record with bytes that are not printable ASCII.
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

// appendEscaped appends a text as a field: printable ASCII without spaces and exclamation marks, which separate parts
// of a name, and never empty. IDs may hold any bytes.
//
//	a b\c  ->  a\x20b\x5cc        naïve  ->  na\xc3\xafve        (empty)  ->  \e
func appendEscaped(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, `\e`...)
	}
	for i := range len(s) {
		if c := s[i]; c <= '!' || c > '~' || c == '\\' || c == '~' && i == 0 { // the key of an end record begins with ~
			dst = fmt.Appendf(dst, `\x%02x`, c)
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

var errEscape = errors.New("not an escaped field")

// unescape returns the text of a field that appendEscaped wrote, and an error for any other.
func unescape(field []byte) (string, error) {
	if string(field) == `\e` {
		return "", nil
	}
	if len(field) == 0 {
		return "", fmt.Errorf("%w: it is empty", errEscape)
	}
	parts := bytes.Split(field, []byte{'\\'})
	text := slices.Clone(parts[0])
	for _, part := range parts[1:] {
		code, ok := bytes.CutPrefix(part[:min(3, len(part))], []byte{'x'})
		decoded, err := hex.AppendDecode(text, code)
		if !ok || err != nil || len(decoded) != len(text)+1 {
			return "", fmt.Errorf("%w: %.40q", errEscape, field)
		}
		text = append(decoded, part[3:]...)
	}
	return string(text), nil
}

// digits are the digits of numbers in base 64. They are in order of their bytes, so numbers of one
// width sort as texts.
const digits = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"

// digitOf is the value of each digit, and 0xff for other bytes.
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
	rowDigits   = 6  // row of a file of queries, below 2^36
	partDigits  = 2  // number of a partition
)

// appendNumber appends the lowest width digits of v.
func appendNumber(dst []byte, v uint64, width int) []byte {
	for i := width - 1; i >= 0; i-- {
		dst = append(dst, digits[v>>(6*i)&63])
	}
	return dst
}

// number returns the value of digits. It returns false if text has other characters or the value exceeds 64 bits.
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

// appendPrint appends a fingerprint in the form of results, 16 hexadecimal digits.
func appendPrint(dst []byte, fingerprint uint64) []byte {
	return simhash.Fingerprint(fingerprint).Append(dst)
}

// A keyReader takes the numbers of a key, one after the other.
type keyReader struct {
	key    []byte
	unread []byte
	bad    bool
}

func readKey(key []byte) *keyReader { return &keyReader{key: key, unread: key} }

func (k *keyReader) number(digits int) (v uint64) {
	if len(k.unread) < digits {
		k.bad = true
		return 0
	}
	v, ok := number(k.unread[:digits])
	k.bad, k.unread = k.bad || !ok, k.unread[digits:]
	return v
}

// err returns an error if a number is missing or malformed, or fewer than restMin bytes remain. If restMin is 0, no
// bytes may remain.
func (k *keyReader) err(what string, restMin int) error {
	if k.bad || len(k.unread) < restMin || restMin == 0 && len(k.unread) > 0 {
		return fmt.Errorf("%.80q is no %s", k.key, what)
	}
	return nil
}
