package ndf

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"ndd/engine/storage/store"
)

// A TextError is the error of a file of text where an array of fingerprints was expected. It wraps
// [store.ErrCorrupt].
type TextError struct{ *store.CorruptError }

// Unwrap returns the error about the file.
func (e *TextError) Unwrap() error { return e.CorruptError }

// checkRaw returns the error of a file that is no array of fingerprints, nil for all that may be one. One file in
// eight has a length that would do, and its fingerprints would be nonsense.
func checkRaw(path string, data []byte) error {
	corrupt := &store.CorruptError{File: path, Section: "raw fingerprints", Block: -1}
	n := len(data)
	switch {
	case filepath.Ext(path) == ".bin": // at its word
	case bytes.HasPrefix(data, []byte("\x1f\x8b\x08")) && filepath.Ext(path) == ".gz", bytes.HasPrefix(data, []byte("\x28\xb5\x2f\xfd")):
		corrupt.Why = "this is compressed, and fingerprint files are mapped as they are: unpack it first"
		return corrupt
	case isText(data):
		corrupt.Why = "this is text, not an array of uint64"
		return &TextError{corrupt}
	}
	if n%8 != 0 {
		corrupt.Offset = int64(n / 8 * 8)
		corrupt.Why = fmt.Sprintf("%d bytes are no multiple of 8: not an array of uint64, or cut short by %d of 8 bytes", n, 8-n%8)
		return corrupt
	}
	return nil
}

// isText reports whether the first bytes are text. Of as many random bytes, one in 10^12 at most is.
func isText(data []byte) bool {
	const (
		least = 32 // what is shorter may be fingerprints
		most  = 4096
	)
	if len(data) < least {
		return false
	}
	if len(data) > most {
		data = data[:most]
		for range utf8.UTFMax - 1 { // the last character may have been cut
			if r, _ := utf8.DecodeLastRune(data); r != utf8.RuneError {
				break
			}
			data = data[:len(data)-1]
		}
	}
	return utf8.Valid(data) && !bytes.ContainsFunc(data, func(r rune) bool {
		return unicode.IsControl(r) && !strings.ContainsRune("\n\r\t\f", r)
	})
}
