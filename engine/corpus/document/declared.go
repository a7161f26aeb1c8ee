package document

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// unknownCharset returns the name of the encoding that a text or, where html is set, a page declares, by its Content-Type or else by a meta
// element, if it makes a difference and is no encoding that this package reads; else "". Bytes that are valid UTF-8 are UTF-8 whatever is declared.
func unknownCharset(raw []byte, contentType string, html bool) string {
	if utf8.Valid(raw) {
		return ""
	}
	declared := charsetOf(contentType)
	if declared == "" && html {
		declared = metaCharset(raw)
	}
	if declared == "" || KnownCharset(declared) {
		return ""
	}
	return declared
}

// KnownCharset reports whether texts in the encoding of this name can be read.
func KnownCharset(name string) bool {
	enc, _ := charset.Lookup(name)
	return enc != nil
}

const (
	metaBytes        = 1024 // of a page in which the HTML standard looks for a declaration
	charsetNameBytes = 40   // of a longer name the beginning is said
)

// metaCharset returns what stands behind "charset=" in a meta element at the beginning of a page, "" where none is.
func metaCharset(page []byte) string {
	head := bytes.ToLower(page[:min(len(page), metaBytes)])
	for {
		_, element, found := bytes.Cut(head, []byte("<meta"))
		if !found {
			return ""
		}
		element, head, _ = bytes.Cut(element, []byte(">"))
		_, value, found := bytes.Cut(element, []byte("charset"))
		if value = bytes.TrimLeft(value, " \t\r\n"); !found || !bytes.HasPrefix(value, []byte("=")) {
			continue
		}
		value = bytes.TrimLeft(value[1:], " \t\r\n\"'")
		if end := bytes.IndexAny(value, " \t\r\n\"';/"); end >= 0 {
			value = value[:end]
		}
		return string(value[:min(len(value), charsetNameBytes)])
	}
}
