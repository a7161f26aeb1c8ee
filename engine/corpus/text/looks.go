package text

import (
	"bytes"
	"regexp"

	"golang.org/x/net/html/atom"

	"example.org/ndd/engine/corpus/magic"
)

// ByteOrderMark begins some texts in UTF-8.
const ByteOrderMark = "\xef\xbb\xbf"

// LooksBytes is the number of bytes that the functions of this file need.
const LooksBytes = 8 << 10

// IsBinary reports whether bytes are no text in any supported encoding: they have a zero byte without a byte order mark
// that explains it, or begin like a format that is not text.
func IsBinary(head []byte) bool {
	return !IsUTF16(head) && (bytes.IndexByte(head, 0) >= 0 || magic.Format(head) != "")
}

// IsUTF16 reports whether a text begins with a byte order mark of UTF-16.
func IsUTF16(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff"))
}

// IsPage reports whether a text begins like an HTML page, or like a part of one.
func IsPage(head []byte) bool {
	tag := firstTag.FindSubmatch(TrimHead(head))
	return tag != nil && pageTag.Match(tag[1])
}

// IsMarkup reports whether a text begins with a tag of HTML.
func IsMarkup(head []byte) bool {
	tag := firstTag.FindSubmatch(TrimHead(head))
	return tag != nil && (pageTag.Match(tag[1]) || atom.Lookup(bytes.ToLower(tag[1])) != 0)
}

// TrimHead returns a text without a byte order mark and white space before it.
func TrimHead(head []byte) []byte {
	return bytes.TrimLeft(bytes.TrimPrefix(head, []byte(ByteOrderMark)), " \t\r\n\f")
}

// firstTag matches the first tag of markup, with comments before it. pageTag matches a tag that a page, or a part of a
// page, begins with.
var (
	firstTag = regexp.MustCompile(`(?is)^(?:\s|<\?xml[^>]*>|<!--.*?-->)*<(!doctype\s+[a-z]+|[a-z][a-z0-9]*)[\s/>]`)
	pageTag  = regexp.MustCompile(`(?i)^(?:!doctype\s+html|html|head|body|title|meta|frameset|` +
		`div|p|span|h[1-6]|table|section|article|main|nav|ul|ol|dl|blockquote|center|br|hr|img|form)$`)
)
