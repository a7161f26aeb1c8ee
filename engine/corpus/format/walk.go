package format

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A jsonWalker walks JSON text without building a tree, so a record takes no more memory than its bytes and the
// requested fields. It is lenient, because many writers are: NaN and Infinity are numbers, strings may hold control
// characters, and unknown escapes keep their backslash.
type jsonWalker struct {
	b      []byte
	offset int
}

// jsonDepthMax is the maximum nesting depth of lists and objects.
const jsonDepthMax = 300

func (w *jsonWalker) errorf(format string, args ...any) error {
	return fmt.Errorf("byte %d: %s", w.offset, fmt.Sprintf(format, args...))
}

// next passes over white space and returns the byte after it, 0 at the end.
func (w *jsonWalker) next() byte {
	for ; w.offset < len(w.b); w.offset++ {
		if c := w.b[w.offset]; c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c
		}
	}
	return 0
}

// document walks one value that nothing follows.
func (w *jsonWalker) document(walk func() error) error {
	if err := walk(); err != nil {
		return err
	}
	if w.next() != 0 || w.offset < len(w.b) {
		return w.errorf("something follows the value")
	}
	return nil
}

// skip passes over a value.
func (w *jsonWalker) skip(depth int) error {
	if depth > jsonDepthMax {
		return w.errorf("lists and objects nested more than %d deep", jsonDepthMax)
	}
	switch w.next() {
	case '{':
		return w.object(func([]byte) error { return w.skip(depth + 1) })
	case '[':
		return w.list(']', func() error { return w.skip(depth + 1) })
	case '"':
		_, err := w.text()
		return err
	}
	return w.word()
}

// object calls member with each name of an object. member walks the value.
func (w *jsonWalker) object(member func(name []byte) error) error {
	return w.list('}', func() error {
		if w.next() != '"' {
			return w.errorf("no name in quotes where one was expected")
		}
		name, err := w.text()
		if err != nil {
			return err
		}
		if w.next() != ':' {
			return w.errorf("no colon after a name")
		}
		w.offset++
		return member(name)
	})
}

// list calls item to walk each item between two brackets. The first bracket is the next byte.
func (w *jsonWalker) list(end byte, item func() error) error {
	w.offset++
	if w.next() == end {
		w.offset++
		return nil
	}
	for {
		if err := item(); err != nil {
			return err
		}
		switch w.next() {
		case ',':
			w.offset++
		case end:
			w.offset++
			return nil
		case 0:
			return w.errorf("the text ends within a list or an object")
		default:
			return w.errorf("%q where a comma or %q was expected", w.b[w.offset], end)
		}
	}
}

// text passes over a string and returns the bytes between its quotes.
func (w *jsonWalker) text() ([]byte, error) {
	from := w.offset + 1
	for i := from; ; i++ {
		n := bytes.IndexByte(w.b[i:], '"')
		if n < 0 {
			return nil, w.errorf("a string without an end")
		}
		i += n
		escapes := 0
		for i-escapes > from && w.b[i-escapes-1] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			w.offset = i + 1
			return w.b[from:i], nil
		}
	}
}

// word passes over a number or one of a few words.
func (w *jsonWalker) word() error {
	from := w.offset
	for w.offset < len(w.b) && strings.IndexByte(",]}: \t\r\n", w.b[w.offset]) < 0 {
		w.offset++
	}
	word := w.b[from:w.offset]
	if jsonKind(word) == "" {
		w.offset = from
		if len(word) == 0 {
			return w.errorf("no value where one was expected")
		}
		return w.errorf("%.20q is no JSON value", word)
	}
	return nil
}

// jsonKind returns the type of a value, or "" if it is not a value.
func jsonKind(value []byte) string {
	if len(value) == 0 {
		return ""
	}
	switch value[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	}
	switch string(value) {
	case "true", "false", "null":
		return string(value)
	}
	if c := value[0]; (c == '-' || c >= '0' && c <= '9') && len(bytes.Trim(value, "+-.0123456789eE")) == 0 {
		return "number"
	}
	switch strings.ToLower(strings.TrimLeft(string(value[:min(len(value), 10)]), "+-")) {
	case "nan", "inf", "infinity":
		return "number"
	}
	return ""
}

// errTwice is the error for a record that has a required field twice.
var errTwice = errors.New("occurs twice")

// find walks a value and calls visit with the values at a path.
func (w *jsonWalker) find(path []string, depth int, visit func(value []byte) error) error {
	// At the end of the path is the value.
	if len(path) == 0 {
		w.next()
		from := w.offset
		if err := w.skip(depth); err != nil {
			return err
		}
		return visit(w.b[from:w.offset])
	}
	if depth > jsonDepthMax {
		return w.skip(depth)
	}
	switch w.next() {
	// In an object, follow the member with the name of the step.
	case '{':
		seen := false
		return w.object(func(name []byte) error {
			if !isName(name, path[0]) {
				return w.skip(depth + 1)
			}
			if seen {
				return fmt.Errorf("field %q %w", path[0], errTwice)
			}
			seen = true
			return w.find(path[1:], depth+1, visit)
		})
	// In a list, follow all elements or one of them.
	case '[':
		steps, index := path, -1
		if path[0] == everyElement {
			steps = path[1:]
		} else if strings.Trim(path[0], "0123456789") == "" {
			steps, index = path[1:], atoi(path[0])
		}
		i := -1
		return w.list(']', func() error {
			if i++; index >= 0 && i != index {
				return w.skip(depth + 1)
			}
			return w.find(steps, depth+1, visit)
		})
	}
	return w.skip(depth)
}

// atoi returns the value of digits. If it is too large, atoi returns a number that exceeds the length of any list.
func atoi(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return math.MaxInt
	}
	return n
}

// isName reports whether the bytes of a string are a name.
func isName(raw []byte, name string) bool {
	if bytes.IndexByte(raw, '\\') >= 0 {
		raw, _ = unquote(nil, raw)
	}
	return string(raw) == name
}

// everyElement is the step of a path that leads to all elements of a list.
const everyElement = "[]"

// fieldPath returns the steps of a name such as meta.text or messages[].content.
func fieldPath(name string) (path []string) {
	for step := range strings.SplitSeq(name, ".") {
		lists := 0
		for strings.HasSuffix(step, everyElement) {
			step = strings.TrimSuffix(step, everyElement)
			lists++
		}
		path = append(append(path, step), slices.Repeat([]string{everyElement}, lists)...)
	}
	return path
}

// jsonEach calls visit with each value of a field of a record. The field has the whole name; if there is none, the
// steps of the name lead to the values, also through lists. jsonEach checks the whole record and returns the number
// of values.
func jsonEach(record []byte, field string, visit func(value []byte) error) (n int, err error) {
	find := func(path []string) error {
		w := jsonWalker{b: record}
		return w.document(func() error {
			return w.find(path, 0, func(value []byte) error {
				n++
				return visit(value)
			})
		})
	}
	if err = find([]string{field}); err == nil && n == 0 && strings.ContainsAny(field, ".[") {
		err = find(fieldPath(field))
	}
	return n, err
}

// jsonMembers calls member with each name of a record, and the bytes from its value on. It reports whether the record
// is an object.
func jsonMembers(record []byte, member func(name, value []byte)) (isObject bool, err error) {
	w := jsonWalker{b: record}
	if w.next() != '{' {
		return false, w.document(func() error { return w.skip(0) })
	}
	return true, w.document(func() error {
		return w.object(func(name []byte) error {
			w.next()
			member(name, w.b[w.offset:])
			return w.skip(1)
		})
	})
}

// fieldNames returns the names of the first fields of a record.
func fieldNames(record []byte) (names []string) {
	const prefixMax = 30
	jsonMembers(record, func(name, _ []byte) {
		switch {
		case len(names) < prefixMax:
			names = append(names, fmt.Sprintf("%.60s", name))
		case len(names) == prefixMax:
			names = append(names, "...")
		}
	})
	return names
}

// unquote appends the content of a string to dst. It returns an error if the content is not valid UTF-8 or has half a
// surrogate pair.
func unquote(dst, s []byte) ([]byte, error) {
	for i := 0; !utf8.Valid(s[i:]); {
		r, size := utf8.DecodeRune(s[i:])
		if r == utf8.RuneError && size == 1 {
			return dst, fmt.Errorf("is invalid UTF-8: byte %#x at offset %d", s[i], i)
		}
		i += size
	}
	dst = slices.Grow(dst, len(s))
	for {
		n := bytes.IndexByte(s, '\\')
		if n < 0 {
			return append(dst, s...), nil
		}
		content, size, err := unescape(s[n:])
		if err != nil {
			return dst, err
		}
		dst = append(dst, s[:n]...)
		if content < utf8.RuneSelf {
			dst = append(dst, byte(content))
		} else {
			dst = utf8.AppendRune(dst, content)
		}
		s = s[n+size:]
	}
}

// escapes are the contents of the escapes that have one byte after the backslash.
var escapes = [256]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape returns the content and the length of the escape that s begins with. A backslash that begins no escape is
// its own content. An error reports half a surrogate pair.
func unescape(s []byte) (content rune, size int, err error) {
	if len(s) < 2 {
		return '\\', 1, nil
	}
	if content = escapes[s[1]]; content != 0 {
		return content, 2, nil
	}
	content, ok := hexRune(s[2:])
	switch {
	case s[1] != 'u' || !ok:
		return '\\', 1, nil
	case !utf16.IsSurrogate(content):
		return content, 6, nil
	}
	if bytes.HasPrefix(s[6:], []byte(`\u`)) {
		low, _ := hexRune(s[8:])
		if pair := utf16.DecodeRune(content, low); pair != utf8.RuneError {
			return pair, 12, nil
		}
	}
	return content, 6, fmt.Errorf("has half a surrogate pair, \\u%04x, which is no character", content)
}

// hexRune returns the number of four hexadecimal digits.
func hexRune(s []byte) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s[:4]), 16, 32)
	return rune(n), err == nil
}
