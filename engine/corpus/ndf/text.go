package ndf

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"ndd/engine/corpus/simhash"
	"ndd/engine/storage/store"
)

// Fingerprints as text are lines of what ndd fingerprint prints: 16 hexadecimal digits, 0x before them or not, and an ID behind a tab
// or not, on all lines or on none. Where documents have two fingerprints, all lines have two, with a comma between them. 16
// dashes stand for a document without a fingerprint. Empty lines are passed over.
//
//	0123456789abcdef	https://example.org/a
//	----------------	https://example.org/short

// unmarkedText stands where a document has no fingerprint.
const unmarkedText = "----------------"

// IsText reports whether data begins with a line of a fingerprint as text.
func IsText(data []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimLeft(data[:min(len(data), StartBytes)], "\r\n"), []byte("\n"))
	_, _, ok := printLine(strings.TrimSuffix(string(line), "\r"), nil)
	return ok
}

// printLine takes a line apart and appends its fingerprints to dst: one or two, none where the document has none.
func printLine(line string, dst []uint64) (prints []uint64, id string, ok bool) {
	digits, id, _ := strings.Cut(line, "\t")
	if strings.TrimSpace(digits) == unmarkedText {
		return dst, id, true
	}
	first, second, two := strings.Cut(digits, ",")
	if dst, ok = appendPrint(dst, first); ok && two {
		dst, ok = appendPrint(dst, second)
	}
	return dst, id, ok
}

// appendPrint appends a fingerprint by its digits.
func appendPrint(dst []uint64, digits string) ([]uint64, bool) {
	digits = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(digits), "0x"), "0X")
	fp, err := simhash.Parse(digits)
	if err != nil {
		return dst, false
	}
	return append(dst, uint64(fp)), true
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
			corrupt := func(format string, args ...any) error {
				return &store.CorruptError{File: path, Section: "fingerprints as text", Block: -1, Offset: int64(at), Why: fmt.Sprintf("line %d ", n) + fmt.Sprintf(format, args...)}
			}
			prints, id, ok := printLine(text, c.fingerprints)
			if !ok {
				return nil, corrupt("has no fingerprint of 16 hexadecimal digits: %.40q", text)
			}
			each := len(prints) - len(c.fingerprints)
			if f.each = cmp.Or(f.each, each); each != 0 && each != f.each {
				return nil, corrupt("has %d of the fingerprints of which others have %d", each, f.each)
			}
			id = unescape.Replace(id)
			if id == "" {
				without++
			} else {
				withIDs++
			}
			if each == 0 {
				f.unmarked = append(f.unmarked, id)
			} else {
				c.fingerprints = prints
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
	f.chunks, f.docs = []chunk{c}, uint64(len(c.fingerprints)/f.PrintsEach())
	return f, nil
}
