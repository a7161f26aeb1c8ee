package text

import (
	"bytes"
	"errors"
	"iter"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"
)

// measuredFrom is the length of a text from which on it is decoded twice, so that its memory is known
// when it is taken: it may become three times as long, and growing memory takes as much again.
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

// repair replaces every run of invalid bytes by U+FFFD and counts the runs. Valid UTF-8 is returned
// unchanged.
func repair(raw []byte) (text []byte, repaired int) {
	if utf8.Valid(raw) {
		return raw, 0
	}
	size := len(raw)
	for part, isValid := range utf8Parts(raw) {
		if !isValid {
			repaired++
			size += utf8.UTFMax - 1 - len(part)
		}
	}
	text = make([]byte, 0, size)
	for part, isValid := range utf8Parts(raw) {
		if isValid {
			text = append(text, part...)
		} else {
			text = utf8.AppendRune(text, utf8.RuneError)
		}
	}
	return text, repaired
}

// utf8Parts yields the longest parts that are valid and those that are not, in turn.
func utf8Parts(raw []byte) iter.Seq2[[]byte, bool] {
	return func(yield func([]byte, bool) bool) {
		for from, i := 0, 0; from < len(raw); from = i {
			isValid := true
			for i < len(raw) {
				r, size := utf8.DecodeRune(raw[i:])
				if ok := r != utf8.RuneError || size > 1; i == from {
					isValid = ok
				} else if ok != isValid {
					break
				}
				i += size
			}
			if !yield(raw[from:i], isValid) {
				return
			}
		}
	}
}
