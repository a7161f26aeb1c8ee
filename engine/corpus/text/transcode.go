package text

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/text/encoding"
)

// decode converts from another encoding. Bytes that are invalid in it become U+FFFD.
func decode(enc encoding.Encoding, raw []byte) (text []byte, repaired int) {
	text, err := enc.NewDecoder().Bytes(raw)
	if err != nil {
		return repair(raw)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	return text, bytes.Count(text, []byte("\ufffd"))
}

// repair replaces every run of invalid bytes by U+FFFD and counts the runs. Valid UTF-8 is returned unchanged.
func repair(raw []byte) (text []byte, repaired int) {
	if utf8.Valid(raw) {
		return raw, 0
	}
	mark := []byte("\ufffd")
	text = bytes.ToValidUTF8(raw, mark)
	return text, bytes.Count(text, mark) - bytes.Count(raw, mark)
}
