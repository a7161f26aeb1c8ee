package ndf

import (
	"bytes"
	"fmt"
	"strings"

	"ndd/engine/corpus/simhash"
	"ndd/engine/storage/store"
)

// Fingerprints as text are lines of what ndd fingerprint prints: 16 hexadecimal digits, 0x before them or not, and an ID behind a tab
// or not, on all lines or on none. 16 dashes stand for a document without a fingerprint. Empty lines are passed over.
//
//	0123456789abcdef	https://example.org/a
//	----------------	https://example.org/short

// unmarkedText stands where a document has no fingerprint.
const unmarkedText = "----------------"

// IsText reports whether data begins with a line of a fingerprint as text.
func IsText(data []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimLeft(data[:min(len(data), StartBytes)], "\r\n"), []byte("\n"))
	_, _, ok := printLine(strings.TrimSuffix(string(line), "\r"))
	return ok
}

// printLine takes a line apart. The digits are as they stand, without 0x.
func printLine(line string) (digits, id string, ok bool) {
	digits, id, _ = strings.Cut(line, "\t")
	digits = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(digits), "0x"), "0X")
	if digits == unmarkedText {
		return digits, id, true
	}
	_, err := simhash.Parse(digits)
	return digits, id, err == nil
}

var unescape = strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r")

// readText returns the file of fingerprints as text, which is read whole: 8 bytes a document, and the IDs.
func readText(path string, data []byte) (*File, error) {
	f := &File{path: path, unmap: func() error { return nil }}
	var c chunk
	withIDs, without := 0, 0
	at, n := 0, 0
	for len(data) > at {
		line, _, _ := bytes.Cut(data[at:], []byte("\n"))
		n++
		text := strings.TrimSuffix(string(line), "\r")
		if text != "" {
			digits, id, ok := printLine(text)
			if !ok {
				return nil, &store.CorruptError{File: path, Section: "fingerprints as text", Block: -1, Offset: int64(at),
					Why: fmt.Sprintf("line %d has no fingerprint of 16 hexadecimal digits: %.40q", n, text)}
			}
			id = unescape.Replace(id)
			if id == "" {
				without++
			} else {
				withIDs++
			}
			if digits == unmarkedText {
				f.unmarked = append(f.unmarked, id)
			} else {
				fp, _ := simhash.Parse(digits) // as printLine did
				c.fingerprints = append(c.fingerprints, uint64(fp))
				c.listed = append(c.listed, id)
			}
		}
		at += len(line) + 1
	}
	if withIDs > 0 && without > 0 {
		return nil, &store.CorruptError{File: path, Section: "fingerprints as text", Block: -1,
			Why: fmt.Sprintf("%d lines have an ID and %d have none: all must have one, or none", withIDs, without)}
	}
	f.hasIDs = withIDs > 0
	if !f.hasIDs {
		c.listed, f.unmarked = nil, nil
	}
	f.chunks, f.docs = []chunk{c}, uint64(len(c.fingerprints))
	return f, nil
}
