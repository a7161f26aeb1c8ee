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
	case known(data) != "":
		corrupt.Why = "this is " + known(data) + ", not an array of uint64"
		return corrupt
	case filepath.Ext(path) == ".bin": // at its word
	case bytes.HasPrefix(data, gzipMagic) && filepath.Ext(path) == ".gz", bytes.HasPrefix(data, zstdMagic):
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

// StartBytes of a file say whether it is an array: see [IsArray].
const StartBytes = 4096

// IsArray reports whether a file of this name that begins so, [StartBytes] or all of it, can only be a raw array of fingerprints, so
// that [Read] would take it as it is: it may be taken as it comes then. Where this is false, it may be one all the same.
func IsArray(name string, start []byte) bool {
	if filepath.Ext(name) == ".ndf" || store.IsOurs(start) || isNpy(start) || isText(start) || IsText(start) || known(start) != "" {
		return false
	}
	return !bytes.HasPrefix(start, parquetMagic) && !bytes.HasPrefix(start, gzipMagic) && !bytes.HasPrefix(start, zstdMagic)
}

var (
	parquetMagic = []byte("PAR1")
	gzipMagic    = []byte("\x1f\x8b\x08")
	zstdMagic    = []byte("\x28\xb5\x2f\xfd")
)

// known returns which other format a file is of by its first bytes, and its last where they are few: of fingerprints one file in 2^40 would
// look like one at most. It returns "" for all others.
func known(data []byte) string {
	for magic, what := range map[string]string{"\xfd7zXZ\x00": "compressed by xz", "7z\xbc\xaf\x27\x1c": "a 7z archive", "\x89PNG\r\n\x1a\n": "a PNG image",
		"SQLite format 3\x00": "an SQLite database", "ARROW1\x00\x00": "an Arrow file"} {
		if bytes.HasPrefix(data, []byte(magic)) {
			return what
		}
	}
	if bytes.HasPrefix(data, parquetMagic) && bytes.HasSuffix(data, parquetMagic) {
		return "a Parquet file"
	}
	return ""
}

// isText reports whether the first bytes are text. Of as many random bytes, one in 10^12 at most is.
func isText(data []byte) bool {
	const (
		least = 32 // what is shorter may be fingerprints
		most  = StartBytes
	)
	if len(data) < least {
		return false
	}
	if len(data) >= most {
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
