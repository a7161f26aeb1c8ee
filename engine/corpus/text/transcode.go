package text

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"
)

// measuredFrom is the minimum length of a text that is decoded twice. The first time measures the result, which may be
// three times as long, so that its memory need not grow.
const measuredFrom = 1 << 20

// byteCount counts the bytes that are written to it.
type byteCount int

// Write implements [io.Writer].
func (n *byteCount) Write(p []byte) (int, error) {
	*n += byteCount(len(p))
	return len(p), nil
}

// decode converts from another encoding. Bytes that are invalid in it become U+FFFD.
func decode(enc encoding.Encoding, raw []byte) (text []byte, repaired int) {
	var err error
	if len(raw) < measuredFrom {
		text, err = enc.NewDecoder().Bytes(raw)
	} else {
		var size byteCount
		w := transform.NewWriter(&size, enc.NewDecoder())
		_, err = w.Write(raw)
		if err = errors.Join(err, w.Close()); err == nil {
			text = make([]byte, size)
			_, _, err = enc.NewDecoder().Transform(text, raw, true)
		}
	}
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
