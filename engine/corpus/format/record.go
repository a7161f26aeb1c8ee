package format

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"example.org/ndd/engine/corpus/input"
)

// isHTML reports whether a field holds pages, given its name.
func isHTML(field string) bool { return field == "html" || field == "raw_html" }

// recordField returns the first of the fields that is a text in a record and not empty. If there is none, it returns
// the first that is a text, or else the last one. Commas separate the fields.
func recordField(record []byte, fields string) (field string) {
	if !strings.Contains(fields, ",") {
		return fields
	}
	empty := ""
	for field = range strings.SplitSeq(fields, ",") {
		longest := 0
		jsonEach(record, field, func(v []byte) error {
			if jsonKind(v) == "string" {
				longest = max(longest, len(v))
			}
			return nil
		})
		if longest > len(`""`) {
			return field
		}
		if longest > 0 {
			empty = cmp.Or(empty, field)
		}
	}
	return cmp.Or(empty, field)
}

// jsonText returns the text of a field: one string, or the strings of a list, separated by line ends. The text is a
// part of the record, or is in buffer.
func jsonText(record []byte, field string, buffer *[]byte) (text []byte, reason input.Reason, err error) {
	// Refuse a value that is no object.
	if begins := bytes.TrimLeft(record, " \t\r\n"); !bytes.HasPrefix(begins, []byte("{")) {
		w := jsonWalker{b: record}
		if err := w.document(func() error { return w.skip(0) }); err != nil {
			return nil, input.Broken, err
		}
		return nil, input.Broken, fmt.Errorf("a JSON %s where an object was expected", jsonKind(begins))
	}
	// Join the strings of the field.
	texts, kind := 0, ""
	n, err := jsonEach(record, field, func(v []byte) (err error) {
		if kind = jsonKind(v); kind != "string" {
			return nil
		}
		if texts++; texts == 1 {
			text = v[1 : len(v)-1] // no copy: text is a part of the record
			if bytes.IndexByte(text, '\\') >= 0 || !utf8.Valid(text) {
				*buffer, err = unquote((*buffer)[:0], text)
				text = *buffer
			}
		} else {
			if texts == 2 {
				*buffer = append((*buffer)[:0], text...)
			}
			*buffer, err = unquote(append(*buffer, '\n'), v[1:len(v)-1])
			text = *buffer
		}
		if err != nil {
			return fmt.Errorf("field %q %w", field, err)
		}
		return nil
	})
	// Say why there is no text.
	switch {
	case err != nil:
		return nil, input.Broken, err
	case n == 0:
		return nil, input.NoText, fmt.Errorf("no field %q among %.200q", field, fieldNames(record))
	case texts == 0:
		advice := innerText(record, field)
		if advice == "" && kind == "array" {
			advice = field + "[]"
		}
		if advice != "" {
			advice = "; --text " + advice + " names the texts in it"
		}
		return nil, input.NoText, fmt.Errorf("field %q is a JSON %s, not a string%s", field, kind, advice)
	}
	return text, "", nil
}

// jsonScalar returns the content of a string field, or the digits of a number. ok is false if the field is missing or
// has another type, or if it has several values and first is false.
func jsonScalar(record []byte, field string, first bool) (s string, ok bool, err error) {
	if field == "" {
		return "", false, nil
	}
	var v []byte
	n, err := jsonEach(record, field, func(value []byte) error {
		if v == nil {
			v = value
		}
		return nil
	})
	if err != nil || n == 0 || n > 1 && !first {
		return "", false, err
	}
	switch jsonKind(v) {
	case "string":
		content, err := unquote(nil, v[1:len(v)-1])
		if err != nil {
			return "", false, fmt.Errorf("field %q %w", field, err)
		}
		return string(content), true, nil
	case "number":
		return string(v), true, nil
	}
	return "", false, nil
}
