package ndf

import (
	"bytes"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// otherThanRaw says what a file is that is no array of fingerprints, "" for all that may be one. One file in
// eight has a length that would do, and its fingerprints would be nonsense.
func otherThanRaw(path string, data []byte) string {
	switch {
	case filepath.Ext(path) == ".bin":
		return "" // at its word
	case bytes.HasPrefix(data, []byte("\x1f\x8b\x08")) && filepath.Ext(path) == ".gz", bytes.HasPrefix(data, []byte("\x28\xb5\x2f\xfd")):
		return "this is compressed, and fingerprint files are mapped as they are: unpack it first"
	case isText(data):
		return "this is text, not an array of uint64: 'ndd fingerprint -o FILE.ndf' makes fingerprints of documents"
	}
	return ""
}

// isText says whether the first bytes are text. Of as many random bytes, one in 10^12 at most is.
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
