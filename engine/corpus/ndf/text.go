package ndf

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.org/ndd/engine/corpus/magic"
	"example.org/ndd/engine/corpus/simhash"
	"example.org/ndd/engine/storage/store"
)

// Fingerprints as text are lines as ndd fingerprint prints them: 16 hexadecimal digits, optionally with 0x before
// them, and optionally a tab and an ID after them. Either all lines have an ID or none. 16 dashes mark a document
// without a fingerprint. Empty lines are ignored.
//
//	0123456789abcdef	https://example.org/a
//	----------------	https://example.org/short

// NoPrint is printed instead of a fingerprint for a document that is too short to have one. It is as wide as a
// fingerprint, and is not a hexadecimal number.
const NoPrint = "----------------"

// IsText reports whether data begins with a line of a fingerprint as text.
func IsText(data []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimLeft(data[:min(len(data), startBytes)], "\r\n"), []byte("\n"))
	text := strings.TrimSuffix(string(line), "\r")
	_, _, ok := printLine(text, nil)
	return ok
}

// printLine appends the fingerprint of a line to dst, or nothing if the document has none.
func printLine(line string, dst []uint64) (fingerprints []uint64, id string, ok bool) {
	digits, id, _ := strings.Cut(line, "\t")
	if digits = strings.TrimSpace(digits); digits == NoPrint {
		return dst, id, true
	}
	fp, err := simhash.Parse(strings.TrimPrefix(strings.TrimPrefix(digits, "0x"), "0X"))
	if err != nil {
		return dst, id, false
	}
	return append(dst, uint64(fp)), id, true
}

var unescape = strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r")

// readText returns the file for fingerprints as text. It reads all of data into memory: 8 bytes for each document,
// and the IDs.
func readText(path string, data []byte) (*File, error) {
	f := &File{path: path, unmap: noUnmap}
	var c chunk
	// Parse each line that is not empty.
	withIDs, withoutIDs := 0, 0
	offset, n := 0, 0
	for len(data) > offset {
		line, _, _ := bytes.Cut(data[offset:], []byte("\n"))
		n++
		text := strings.TrimSuffix(string(line), "\r")
		if text != "" {
			// corrupt is the error for this line.
			corrupt := func(format string, args ...any) error {
				return &store.CorruptError{File: path, Section: "fingerprints as text", Block: -1, Offset: int64(offset),
					Reason: fmt.Sprintf("line %d ", n) + fmt.Sprintf(format, args...)}
			}
			// The line is a fingerprint or the mark of a document without one, and perhaps an ID.
			fingerprints, id, ok := printLine(text, c.fingerprints)
			if !ok {
				return nil, corrupt("is no fingerprint, which is 16 hexadecimal digits, tab, ID: %.40q", text)
			}
			id = unescape.Replace(id)
			if id == "" {
				withoutIDs++
			} else {
				withIDs++
			}
			// Documents without a fingerprint have a list of their own.
			if len(fingerprints) == len(c.fingerprints) {
				f.unmarked = append(f.unmarked, id)
			} else {
				c.fingerprints = fingerprints
				c.textIDs = append(c.textIDs, id)
			}
		}
		offset += len(line) + 1
	}
	// A file in which only some lines have IDs was probably damaged.
	if withIDs > 0 && withoutIDs > 0 {
		return nil, &store.CorruptError{File: path, Section: "fingerprints as text", Block: -1,
			Reason: fmt.Sprintf("%d lines have an ID and %d have none: all must have one, or none", withIDs, withoutIDs)}
	}
	f.hasIDs = withIDs > 0
	if !f.hasIDs {
		c.textIDs, f.unmarked = nil, nil
	}
	f.chunks, f.docs = []chunk{c}, uint64(len(c.fingerprints))
	return f, nil
}

// startBytes is the number of bytes at the start of a file that [checkArray] needs.
const startBytes = 4096

// checkArray returns an error if a file is text or has another known format instead of being an array of uint64.
// start is the first [startBytes] of the file, or all of it. Without this check, one file in eight would have a valid
// length, and its fingerprints would be nonsense.
func checkArray(path string, start []byte) error {
	format, hint := magic.Format(start), ""
	if format == "" && isText(start) {
		format, hint = "text", "; a line of fingerprints is 16 hexadecimal digits, tab, ID; 'ndd fingerprint -o FILE.ndf' makes "+
			"fingerprints of documents"
	}
	if format == "" {
		return nil
	}
	return &store.CorruptError{File: path, Section: "raw fingerprints", Block: -1,
		Reason: "this is " + format + ", not an array of uint64" + hint + "; --raw reads it anyway"}
}

// checkLength returns an error if the length of an array is not a multiple of 8 bytes.
func checkLength(path string, n int) error {
	if n%8 == 0 {
		return nil
	}
	return &store.CorruptError{File: path, Section: "raw fingerprints", Block: -1, Offset: int64(n / 8 * 8),
		Reason: fmt.Sprintf("%d bytes are no multiple of 8: not an array of uint64, or cut short by %d of 8 bytes; --raw "+
			"reads the first %d fingerprints", n, 8-n%8, n/8)}
}

// isText reports whether data begins with text. Among arrays of 2 random numbers, one in 10^6 looks like text. Among
// longer arrays far fewer do.
func isText(data []byte) bool {
	const leastBytes = 16
	if len(data) < leastBytes {
		trimmed := bytes.TrimSpace(data)
		return len(trimmed) > 1 && strings.IndexByte(`{["`, trimmed[0]) >= 0 && json.Valid(trimmed)
	}
	if len(data) >= startBytes {
		data = data[:startBytes]
		for range utf8.UTFMax - 1 { // the last character may be cut
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
